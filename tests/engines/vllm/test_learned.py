"""For which other start-ups a measured one speaks, figure by figure."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import release
from oomph.engines.vllm.alike import KEPT, differing, plain
from oomph.engines.vllm.learned import apply, measured
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import resolve
from oomph.engines.vllm.transcript import transcript
from oomph.ledger.catalogue import devices
from oomph.ledger.measurement import Measurement
from oomph.ledger.observation import Quantity
from oomph.ledger.observed import Observed
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bounds

(CARD,) = devices("rtx-5090")
MTP = '{"method": "mtp", "num_speculative_tokens": 2}'
FLAGS = Flags({"max_num_seqs": 64, "gpu_memory_utilization": 0.8, "max_model_len": 16384, "speculative_config": MTP})
SIZES = {
    quantity: {"EngineCore": Bounds(index * GIB, (index + 1) * GIB)}
    for index, quantity in enumerate(
        (
            *(Quantity.WEIGHTS, Quantity.NON_TORCH, Quantity.CONSUMED, Quantity.OUTSIDE),
            *(Quantity.ACTIVATIONS, Quantity.GRAPH_ESTIMATE, Quantity.GRAPHS, Quantity.POOL),
        ),
        start=1,
    )
}
RUN = Measurement(
    engine="vLLM",
    model="a/b",
    release="0.19.1",
    device=CARD,
    flags=FLAGS,
    settings={"max_num_batched_tokens": 2048},
    config={"dtype": "torch.bfloat16", "quantization": "compressed-tensors"},
    figures=SIZES,
)
LOADED = {"weights"}
KERNELS = {*LOADED, "non_torch", "consumed", "outside"}
STEP = {*KERNELS, "activations"}
GRAPHS = {*STEP, "graph_estimate", "graphs"}
ALL = {*GRAPHS, "pool"}


def asked(
    *runs: Measurement,
    model: str = "a/b",
    gpu: str = "rtx-5090",
    named: str = "0.19.1",
    change: Mapping[str, Value] | None = None,
) -> Observed:
    (device,) = devices(gpu)
    flags = Flags({name: value for name, value in {**FLAGS, **(change or {})}.items() if value is not None})
    settings = resolve(flags, device=device, release=release(named), context_tokens=262_144)
    return apply(runs, model=model, flags=flags, settings=settings, device=device, release=release(named))


def known(observed: Observed) -> set[str]:
    return {name for name in Observed.__slots__ if getattr(observed, name) is not None}


def test_the_same_start_up_again_is_known_in_every_figure() -> None:
    observed = asked(RUN)

    assert known(observed) == ALL
    assert observed.weights is not None
    assert observed.weights.size == SIZES[Quantity.WEIGHTS]["EngineCore"]
    assert observed.weights.because == "learned from a start-up on NVIDIA GeForce RTX 5090 with vLLM 0.19.1"


@pytest.mark.parametrize(
    ("change", "still"),
    [
        ({"gpu_memory_utilization": 0.9}, ALL),
        ({"max_model_len": 8192}, GRAPHS),
        ({"kv_cache_memory_bytes": 1 << 30}, GRAPHS),
        ({"max_cudagraph_capture_size": 16}, STEP),
        ({"cudagraph_capture_sizes": (1, 2)}, STEP),
        ({"max_num_seqs": 32}, KERNELS),
        ({"max_num_batched_tokens": 8192}, KERNELS),
        ({"speculative_config": MTP.replace("2", "3")}, KERNELS),
        ({"enforce_eager": True}, LOADED),
        ({"kv_cache_dtype": "fp8"}, LOADED),
        ({"VLLM_ATTENTION_BACKEND": "FLASHINFER"}, LOADED),
        ({"speculative_config": None}, set()),
        ({"tensor_parallel_size": 2}, set()),
        ({"pipeline_parallel_size": 2}, set()),
        ({"enable_expert_parallel": True}, set()),
        ({"quantization": "fp8"}, set()),
        ({"dtype": "float16"}, set()),
        ({"language_model_only": True}, set()),
        ({"enable_lora": True}, set()),
        ({"limit_mm_per_prompt": '{"image": 0}'}, set()),
        ({"cpu_offload_gb": 4.0}, set()),
    ],
)
def test_a_changed_flag_takes_away_what_it_moves_and_nothing_else(change: dict[str, Value], still: set[str]) -> None:
    assert known(asked(RUN, change=change)) == still


@pytest.mark.parametrize(
    "same",
    [
        {"tensor_parallel_size": 1},
        {"enforce_eager": False},
        {"dtype": "auto"},
        {"dtype": "bfloat16"},  # as the engine said it resolved
        {"quantization": "compressed-tensors"},
        {"kv_cache_dtype": "auto"},
        {"max_num_batched_tokens": 2048},
        {"speculative_config": '{"num_speculative_tokens":2,"method":"mtp"}'},
        {"port": 8000, "served_model_name": "x"},
    ],
)
def test_a_flag_that_says_what_is_so_anyway_takes_nothing_away(same: dict[str, Value]) -> None:
    assert known(asked(RUN, change=same)) == ALL


@pytest.mark.parametrize(
    ("named", "gpu", "still"),
    [
        ("0.19.0", "rtx-5090", GRAPHS),
        ("0.20.0", "rtx-5090", LOADED),
        ("0.19.1", "rtx-pro-4500", GRAPHS),  # of the same capability, with other memory
        ("0.19.1", "rtx-3090", set()),
    ],
)
def test_releases_and_devices_matter_as_far_as_they_move_bytes(named: str, gpu: str, still: set[str]) -> None:
    assert known(asked(RUN, named=named, gpu=gpu)) == still


def test_never_across_models() -> None:
    assert not asked(RUN, model="a/c")


def test_what_was_not_said_of_the_measured_start_up_must_not_be_asked_for() -> None:
    silent = replace(RUN, flags=Flags({"speculative_config": MTP}), settings={})

    assert known(asked(silent)) == KERNELS  # max_num_seqs 64 is asked for
    assert known(asked(silent, change=dict.fromkeys(FLAGS) | {"speculative_config": MTP})) == ALL
    assert known(asked(silent, change={"max_num_seqs": None})) == KERNELS  # the step may follow from the length


def test_where_release_or_device_were_not_known_little_is_concluded() -> None:
    assert known(asked(replace(RUN, release=None))) == LOADED
    assert known(asked(replace(RUN, release="main"))) == LOADED
    assert known(asked(replace(RUN, device=None))) == set()


def test_of_several_the_newest_of_the_same_release_speaks() -> None:
    def run(named: str, learned: str, size: int) -> Measurement:
        return replace(RUN, release=named, learned=learned, figures={Quantity.WEIGHTS: {"": Bounds(size)}})

    observed = asked(run("0.19.1", "2026-01", 1), run("0.19.1", "2026-02", 2), run("0.19.0", "2026-03", 3))

    assert observed.weights is not None
    assert observed.weights.size == Bounds(2)


def test_ranks_are_told_apart_and_the_largest_stands_for_all_but_the_pool() -> None:
    by_rank = {"Worker_TP0": Bounds(5), "Worker_TP1": Bounds(7), "VllmWorkerProcess 9": Bounds(8)}
    run = replace(
        RUN,
        flags=FLAGS.but(tensor_parallel_size=2),
        figures={Quantity.WEIGHTS: by_rank, Quantity.POOL: by_rank},
    )
    observed = asked(run, change={"tensor_parallel_size": 2})

    assert observed.weights is not None
    assert observed.pool is not None
    assert (observed.weights.size, observed.weights.at(0), observed.weights.at(1)) == (Bounds(8), Bounds(5), Bounds(7))
    assert (observed.pool.size, observed.pool.at(1)) == (Bounds(5), Bounds(7))


def test_flags_that_cannot_be_read_speak_for_nothing() -> None:
    broken = replace(RUN, flags=FLAGS.but(speculative_config='{"num_speculative_tokens": "many"}'))

    assert not asked(broken)


def test_only_what_moves_bytes_is_kept_of_a_start_up() -> None:
    lines = (
        "non-default args: {'model': 'a/b', 'max_num_seqs': 8, 'port': 1, 'api_key': ['sk-1'], 'hf_token': 'hf_1'}",
        "(EngineCore pid=1) INFO 01-01 01:01:01 [x.py:1] Model loading took 2.50 GiB memory and 1.000000 seconds",
        "(APIServer pid=1) Chunked prefill is enabled with max_num_batched_tokens=4096",
    )
    (heard,) = transcript(enumerate(lines))
    run = measured(heard, model="a/b", flags=heard.flags, release="0.19.1", device=CARD)

    assert run is not None
    assert dict(run.flags) == {"max_num_seqs": 8}
    assert run.settings == {"max_num_batched_tokens": 4096}
    assert set(run.figures) == {Quantity.WEIGHTS}


def test_a_start_up_that_measured_nothing_is_not_kept() -> None:
    (heard,) = transcript([(1, "Using max model len 4096")])

    assert measured(heard, model="a/b", flags=heard.flags, release=None, device=None) is None


def test_flags_that_are_stated_twice_must_agree() -> None:
    ours: dict[str, Value] = {"max_num_seqs": 8, "dtype": "auto", "speculative_config": MTP}
    theirs: dict[str, Value] = {"max_num_seqs": 9, "dtype": None, "speculative_config": MTP.replace(" ", ""), "seed": 1}

    assert differing(ours, theirs) == ("max_num_seqs",)


@given(st.sampled_from(sorted(KEPT)), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()))
def test_a_value_is_like_itself(name: str, value: Value) -> None:
    same = plain(name, value)

    assert same == plain(name, value) or same != same  # noqa: PLR0124 - what is not a number is not itself
    assert plain(name, same) == same or same != same  # noqa: PLR0124 - likewise


@given(st.sampled_from(sorted(KEPT - set(FLAGS))), st.sampled_from(HISTORY.releases))
def test_one_more_flag_never_tells_more(name: str, known_release: object) -> None:
    plainly = known(asked(replace(RUN, release=str(known_release)), named=str(known_release)))
    with_it = known(asked(replace(RUN, release=str(known_release)), named=str(known_release), change={name: 7}))

    assert with_it <= plainly


def test_a_pool_learned_with_another_share_differs_by_that_share_of_the_device() -> None:
    observed = asked(RUN, change={"gpu_memory_utilization": 0.7})

    assert observed.pool is not None
    less = round(0.1 * CARD.total)
    assert abs(observed.pool.size.likely - (SIZES[Quantity.POOL]["EngineCore"].likely - less)) <= 1
    assert "a share of 0.8" in observed.pool.because
