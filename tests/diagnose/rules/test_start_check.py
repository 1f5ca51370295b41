"""One sentence, six causes: a start that is refused is told apart by its figures."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.refused_start import refused
from oomph.diagnose.hearing.case_of import case_of
from oomph.engines.vllm.lines import spoken
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.settings import Flags
from oomph.units import GIB


def refusal(free: float, total: float, share: float, release: str = "0.19.1") -> str:
    (sentence,) = (each for each in spoken("too little free", HISTORY.release(release)) if "node" not in each.template)
    figures = {"free": free * GIB, "total": total * GIB, "share": share, "budget": share * total * GIB}
    return "ValueError: " + sentence.write(device="cuda:0", **figures)


def case(
    *lines: str, platform: Iterable[Platform] = (), flags: Flags | None = None, release: str | None = None
) -> Case:
    known = None if release is None else HISTORY.release(release)
    return case_of(enumerate(lines, 1), platform=platform, flags=flags, release=known)


def first(*lines: str, platform: Iterable[Platform] = ()) -> Finding:
    return explain(case(*lines, platform=platform))[0]


@pytest.mark.parametrize(
    ("free", "total", "share", "cause"),
    [
        (22.4, 23.52, 0.96, "util_exceeds_free_at_start"),  # 1.12 held: a context
        (9.7, 23.52, 0.9, "other_process_on_gpu"),  # 13.8 held: nobody's share
        (38.5, 79.19, 0.5, "other_process_on_gpu"),  # 40.7 held: two that each want half
        (1.9, 23.52, 0.9, "orphan_engine_process"),  # 21.6 held = 0.9 × 23.52 + 0.4
        (5.8, 79.19, 0.7, "orphan_engine_process"),  # 73.4 held = 0.92 × 79.19 + 0.5
        (97.3, 121.63, 0.9, "unified_memory_pool_shared_with_host"),  # no card has 121.63
        (60.0, 124.0, 0.9, "unified_memory_pool_shared_with_host"),  # half of it is set aside
        (20.0, 121.63, 0.75, "orphan_engine_process"),  # 101.6 held = 0.75 × 121.63 + 10.4 of the system
        (9.0, 121.63, 0.85, "orphan_engine_process"),  # 112.6 held = 0.85 × 121.63 + 9.2 of the system
    ],
)
def test_what_is_held_tells_whose_it_is(free: float, total: float, share: float, cause: str) -> None:
    assert first(refusal(free, total, share)).cause == cause


def test_the_sentence_of_older_releases_is_told_apart_alike() -> None:
    assert first(refusal(22.4, 23.52, 0.96, "0.9.2")).cause == "util_exceeds_free_at_start"


def test_the_share_that_is_advised_is_worked_out_by_hand() -> None:
    finding = first(refusal(22.4, 23.52, 0.96))

    # (22.395 − 0.098) / 23.525 = 0.9478
    assert finding.remedies[0].change == {"gpu_memory_utilization": 0.94}
    held, asked = finding.arithmetic[0].split("; ")
    assert held == "23.52 GiB in all − 22.40 GiB free = 1.12 GiB held"
    assert asked == "0.96 × 23.52 GiB = 22.58 GiB asked for: 184.32 MiB too much"


@given(st.integers(30, 9_000), st.integers(6, 190), st.integers(40, 99))
def test_a_share_that_is_advised_passes_the_check_that_failed(free: int, total: int, share: int) -> None:
    left = total * free / 10_000
    start = refused(case(refusal(left, total, share / 100)))

    assert start is not None
    assert -(-start.passing * start.total.high // 1) <= max(start.free.low, 0)


@given(st.integers(1, 9_999), st.integers(600, 19_000), st.integers(5, 100))
def test_every_refusal_is_explained(free: int, total: int, share: int) -> None:
    line = refusal(total * free / 1_000_000, total / 100, share / 100)

    assert first(line).code.startswith(("SC", "PL003"))


def test_nobody_advises_a_share_where_an_engine_was_left_behind() -> None:
    finding = first(refusal(1.1, 79.19, 0.92))

    assert finding.cause == "orphan_engine_process"
    assert all("gpu_memory_utilization" not in remedy.change for remedy in finding.remedies)
    assert "--gpu-memory-utilization" in (finding.unhelpful or {})


def test_a_list_of_processes_makes_it_sure() -> None:
    listed = "|    0   N/A  N/A     81234      C   VLLM::EngineCore                40960MiB |"

    assert first(refusal(38.5, 79.19, 0.9)).code == "SC003"
    assert first(listed, refusal(38.5, 79.19, 0.9)).code == "SC002"


def test_several_ranks_hold_more_before_the_look_than_one() -> None:
    line = refusal(76.4, 79.19, 0.97)
    alone = explain(case(line))
    together = explain(case(line, flags=Flags({"tensor_parallel_size": 8})))

    assert alone[0].code == "SC003"
    assert together[0].code == "SC001"


def test_windows_holds_more_than_a_context() -> None:
    line = refusal(20.6, 24.0, 0.87)

    assert first(line).code == "SC003"
    assert first(line, platform=[Platform.WSL2]).code == "SC001"


def test_on_a_cpu_the_host_is_the_device() -> None:
    line = (
        "ValueError: Available memory on node 0 (12.4/31.1 GiB) on startup is less than desired CPU memory utilization "
        "(0.92, 28.61 GiB). Decrease --gpu-memory-utilization or reduce CPU memory used by other processes."
    )

    assert first(line).code == "SC001"
    assert first(line).remedies[0].change == {"gpu_memory_utilization": 0.39}


def test_a_refusal_whose_figures_are_cut_off_is_not_guessed_at() -> None:
    assert (
        refused(case("ValueError: Free memory on device cuda:0 (22.4/23.52 GiB) on startup is less than des")) is None
    )


ITSELF = "Including non-PyTorch memory, this process has {:.2f} GiB memory in use. "
TORCH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.48 GiB. GPU 0 has a total capacity of 79.15 GiB "
    "of which 210.06 MiB is free. {}Of the allocated memory 34.20 GiB is allocated by PyTorch, and 24.73 MiB is "
    "reserved by PyTorch but unallocated."
)


@pytest.mark.parametrize(
    ("processes", "others"),
    [
        (
            "Process 1 has 44.02 GiB memory in use. " + ITSELF.format(34.9),
            True,
        ),
        ("Process 1 has 44.02 GiB memory in use. Process 2 has 34.90 GiB memory in use. ", True),
        (
            "Process 1 has 0 bytes memory in use. " + ITSELF.format(78.9),
            False,
        ),
        ("Process 1 has 78.90 GiB memory in use. ", False),
        ("", False),
    ],
)
def test_only_another_process_counts_as_another(processes: str, others: bool) -> None:  # noqa: FBT001 - a column of the table
    found = {finding.code for finding in explain(case(TORCH.format(processes)))}

    assert ("SC003" in found) is others


def test_each_rank_of_a_container_lists_only_itself() -> None:
    ranks = [
        f"(Worker_TP{rank} pid=9{rank}) ERROR 05-11 09:14:02 [multiproc_executor.py:870] "
        + TORCH.format(f"Process {rank + 7} has 78.90 GiB memory in use. ")
        for rank in range(2)
    ]

    assert "SC003" not in {finding.code for finding in explain(case(*ranks))}


def test_a_driver_that_refuses_the_first_call_is_not_taken_for_an_engine_that_serves() -> None:
    bare = "torch.AcceleratorError: CUDA error: out of memory"

    assert first(bare).cause == "previous_process_memory_not_yet_reclaimed"
    assert first(bare).confidence < 0.6
    assert "SC004" not in {each.code for each in explain(case("INFO:     Application startup complete.", bare))}
