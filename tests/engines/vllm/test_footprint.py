"""The parts that are not known to the byte: what the formulas give, what a release counts, how doubts add up."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vllm.models import hybrid, llama
from oomph.engines.history import release
from oomph.engines.vllm.counting import counted
from oomph.engines.vllm.facts import Sampler
from oomph.engines.vllm.footprint import FIRST_GRAPH, Footprint, footprint, per_word
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.formulas import activations
from oomph.engines.vllm.measured.calibrate import Sample, calibrate
from oomph.engines.vllm.measured.prior import PRIOR
from oomph.engines.vllm.measured.shipped import SHIPPED
from oomph.engines.vllm.pictures import pictures_of_a_request
from oomph.engines.vllm.resolve import resolve
from oomph.engines.vllm.shapes import Shapes, Start, shapes
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.catalogue import devices
from oomph.ledger.gate import Step
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, MIB, Bounds, Bytes

DEVICE = devices("rtx-4090")[0]


def shaped(text: str = "0.19.1", *, second: bool = False, ranks: Ranks | None = None, **flags: Value) -> Shapes:
    given_flags = Flags({"max_model_len": 8192, **flags})
    return shapes(
        Start(
            geometry=llama().geometry,
            device=DEVICE,
            flags=given_flags,
            settings=resolve(given_flags, device=DEVICE, release=release(text), context_tokens=8192),
            ranks=ranks or Ranks(),
            release=release(text),
            second_runner=second,
        )
    )


def test_a_layer_of_llama_8b_holds_232_mib_for_2048_tokens() -> None:
    # Four streams of 4,096 and, in the MLP, 2 × 14,336 outputs of the first matrix and 14,336 inputs of the second.
    assert activations.forward(llama().geometry, Ranks(), tokens=2048) == 2 * 2048 * (4 * 4096 + 3 * 14_336)


def test_ranks_divide_what_is_between_matrices_but_not_the_streams() -> None:
    assert activations.forward(llama().geometry, Ranks(tensor=8), tokens=2048) == (
        2 * 2048 * (4 * 4096 + 3 * 14_336 // 8)
    )


def test_the_tower_of_a_model_that_sees_holds_its_largest_picture() -> None:
    seeing = hybrid().geometry

    assert seeing.sight is not None
    assert (seeing.sight.tokens, seeing.sight.patches) == (16_384, 65_536)
    assert activations.picture(seeing, Ranks(), pictures=2) == 2 * activations.picture(seeing, Ranks(), pictures=1) > 0


def test_choosing_tokens_goes_through_every_word_for_every_sequence() -> None:
    assert shaped().words == 256 * 128_256
    assert shaped(max_num_seqs=16).words == 16 * 128_256
    assert shaped(ranks=Ranks(pipeline=2, stage=0)).words == 0


def test_which_sampler_runs_follows_the_release_and_the_environment() -> None:
    assert shaped("0.10.2").sampler is Sampler.DEPENDS
    assert shaped("0.10.2", VLLM_USE_FLASHINFER_SAMPLER="1").sampler is Sampler.SELECTS
    assert shaped("0.12.0").sampler is Sampler.SORTS
    assert shaped("0.19.1").sampler is Sampler.SELECTS
    assert per_word(shaped("0.12.0"), PRIOR) == PRIOR.sorted
    assert per_word(shaped("0.32.0", second=True), PRIOR) == PRIOR.second


def test_graphs_are_counted_by_sizes_and_layers() -> None:
    assert shaped().captured == 51 * 32
    assert footprint(shaped(), PRIOR).graphs.likely == 51 * 32 * 310 * 1024 + FIRST_GRAPH
    assert footprint(shaped(enforce_eager=True), PRIOR).graphs == Bounds(0)


def test_the_estimate_is_charged_from_0_20_0_on_unless_the_environment_says_not() -> None:
    assert (shaped("0.17.1").estimated, shaped("0.19.1").estimated) == (False, True)
    assert (shaped("0.19.1").charged, shaped("0.20.0").charged) == (False, True)
    assert not shaped("0.20.0", VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS="0").charged
    assert not shaped("0.25.1", second=True).estimated  # the second runner estimates nothing before 0.29.0


PARTS = Footprint(
    before=Bounds(GIB // 2),
    buffers=Bounds(100 * MIB),
    sampling=Bounds(0),
    peak=Bounds(2 * GIB),
    outside=Bounds(300 * MIB),
    fragments=Bounds(200 * MIB),
    graphs=Bounds(0),
    estimate=None,
    charged=False,
    unforeseen=Bounds(0),
    workspaces=Bounds(0),
    serving=Bounds(0),
)


def test_what_a_release_misses_is_what_it_does_not_count() -> None:
    free = Bounds(DEVICE.total - GIB // 2)
    older, newer = (
        counted(PARTS, Bounds(15 * GIB), device=DEVICE, free=free, release=release(text))
        for text in ("0.19.1", "0.32.0")
    )

    assert older.taken == Bounds(17 * GIB + 300 * MIB)
    assert older.missed == Bounds(300 * MIB)  # buffers and fragments
    assert newer.taken == Bounds(17 * GIB + 600 * MIB)
    assert newer.missed == Bounds(0)


def test_the_doubt_of_a_part_is_the_doubt_of_the_count() -> None:
    free = Bounds(DEVICE.total - GIB // 2)
    open_peak = replace(PARTS, peak=Bounds(GIB, 4 * GIB, 2 * GIB))
    found = counted(open_peak, Bounds(15 * GIB), device=DEVICE, free=free, release=release("0.19.1"))

    assert found.taken == Bounds(16 * GIB + 300 * MIB, 19 * GIB + 300 * MIB, 17 * GIB + 300 * MIB)
    assert found.missed.exact


def test_a_calibration_without_records_is_what_was_believed() -> None:
    assert calibrate(()) == PRIOR


def test_a_record_whose_peak_is_the_sampler_speaks_of_the_sampler_alone() -> None:
    found = shaped("0.12.0")
    peak = 39 * found.words + found.hidden
    told = calibrate([Sample(shapes=found, peak=peak)] * 40)

    assert told.sorted.likely == 39
    assert told.forward == PRIOR.forward


def test_a_record_that_is_only_a_rest_speaks_after_the_other_parts_are_off() -> None:
    found = shaped("0.12.0")
    rest = round(39 * found.words + found.hidden + PRIOR.outside.likely)

    assert abs(calibrate([Sample(shapes=found, rest=rest)] * 40).sorted.likely - 39) < 0.01


def test_graphs_of_records_speak_of_one_size_in_one_layer() -> None:
    found = shaped()

    assert calibrate([Sample(shapes=found, graphs=500_000 * found.captured + FIRST_GRAPH)] * 40).graph.likely == 500_000


@given(st.lists(st.integers(1, 60), min_size=1, max_size=60))
def test_points_of_a_calibration_are_in_order_and_within_what_was_said(words: list[int]) -> None:
    found = shaped("0.12.0")
    told = calibrate(Sample(shapes=found, peak=each * found.words + found.hidden) for each in words).sorted

    assert min(*words, PRIOR.sorted.low) <= told.low <= told.likely <= told.high <= max(*words, PRIOR.sorted.high)


def test_the_shipped_calibration_says_something_of_everything() -> None:
    found = footprint(shaped(), SHIPPED)

    assert Bytes(0) < found.peak.low < found.peak.likely < found.peak.high < GIB


@pytest.mark.parametrize(
    ("given_limit", "pictures"),
    [
        (None, None),
        ('{"image": 0, "video": 0}', 0),
        ('{"image": {"count": 3, "width": 512}}', 3),
        ("image=2,video=1", 3),
        ("nonsense", None),
        ('{"audio": 4}', None),
    ],
)
def test_pictures_of_a_request_are_read_as_they_are_written(given_limit: str | None, pictures: int | None) -> None:
    assert pictures_of_a_request(given_limit) == pictures


def test_a_model_that_may_see_nothing_profiles_no_picture() -> None:
    def peak(**flags: Value) -> int:
        asked = Flags({"max_model_len": 8192, "max_num_seqs": 4, **flags})
        model = hybrid()
        found = forecast(asked, model=model, devices=devices("rtx-5090"), release=release("0.19.1"))
        return int(next(gate for gate in found.gates if gate.step is Step.PROFILE).needs.likely)

    assert peak(limit_mm_per_prompt='{"image": 0, "video": 0}') == peak(skip_mm_profiling=True) < peak()
