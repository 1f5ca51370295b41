"""What becomes more over time, and memory that is there but in pieces."""

from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import SURE, explain
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.rules import gr001_more_held_after_each_sleep as growth

UP = "(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1142] "
SLEPT = (
    "(Worker pid=7) INFO 05-01 10:00:00 [gpu_worker.py:179] Sleep mode freed 43.82 GiB memory, "
    "{:.2f} GiB memory is still in use."
)
ENDED = (
    UP
    + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of 178.35 GiB of "
    "which 2.91 GiB is free. Including non-PyTorch memory, this process has 175.41 GiB memory in use. Of the allocated "
    "memory 160.86 GiB is allocated by PyTorch, and {} is reserved by PyTorch but unallocated."
)


def slept(*held: float) -> Case:
    return case_of(enumerate((SLEPT.format(size) for size in held), 1))


def ended(tried: str, held: str, *platform: Platform) -> Case:
    return case_of([(1, ENDED.format(tried, held))], platform=platform)


def test_more_after_each_sleep_is_told_with_its_figures() -> None:
    finding = growth.check(slept(4.11, 7.90, 11.57))

    assert finding is not None
    assert finding.arithmetic == ("4.11 GiB → 7.90 GiB → 11.57 GiB",)
    assert finding.remedies[0].lever == "restart_periodically"


@given(st.lists(st.floats(1, 60), min_size=1, max_size=12))
def test_what_never_ends_half_a_gib_higher_does_not_grow(held: list[float]) -> None:
    if held[-1] - held[0] < 0.5:
        assert growth.check(slept(*held)) is None


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12))
def test_what_rises_by_a_gib_each_time_always_grows(steps: list[int]) -> None:
    held = [sum(steps[: number + 1]) for number in range(len(steps))]

    assert growth.check(slept(*held)) is not None


def test_what_is_held_in_pieces_is_to_blame_only_if_it_would_have_been_enough() -> None:
    enough, little = explain(ended("3.95 GiB", "4.91 GiB"))[0], explain(ended("3.95 GiB", "121.00 MiB"))

    assert enough.cause == "allocator_fragmentation"
    assert enough.remedies[0].lever == "alloc_conf"
    assert "GR002" not in {finding.code for finding in little}
    assert any("expandable_segments" in flag for flag in little[0].unhelpful or {})


def test_a_few_pieces_of_a_full_device_are_a_candidate_at_most() -> None:
    found = {finding.code: finding.confidence for finding in explain(ended("136.00 MiB", "391.42 MiB"))}

    assert found["GR002"] < SURE


def test_the_hint_is_never_given_where_it_breaks_what_works() -> None:
    findings = explain(ended("3.95 GiB", "4.91 GiB", Platform.WSL2))

    assert not [
        remedy
        for finding in findings
        if finding.code == "GR002"
        for remedy in finding.remedies
        if remedy.lever == "alloc_conf"
    ]
