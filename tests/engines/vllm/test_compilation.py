"""What flags say of CUDA graphs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import release
from oomph.engines.vllm.compilation import Compilation, Graphs, compilation
from oomph.engines.vllm.resolve import resolve
from oomph.errors import UsageError
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.settings import Flags, Value

GPU = CATALOGUE["h100-80gb"]


def said(**fields: object) -> Compilation:
    return compilation(Flags({"compilation_config": json.dumps(fields)}))


def sizes(at: str = "0.32.0", **flags: Value) -> object:
    return resolve(Flags(flags), device=GPU, release=release(at), context_tokens=8192)["cudagraph_capture_sizes"].value


def test_nothing_said_leaves_it_to_the_release() -> None:
    assert compilation(Flags()) == Compilation()
    assert Compilation().captured(release("0.10.2")) is Graphs.PIECEWISE
    assert Compilation().captured(release("0.11.0")) is Graphs.FULL_AND_PIECEWISE


@pytest.mark.parametrize(
    ("fields", "graphs"),
    [
        ({"cudagraph_mode": "NONE"}, Graphs.NONE),
        ({"cudagraph_mode": "full_decode_only"}, Graphs.FULL_DECODE_ONLY),
        ({"use_cudagraph": False}, Graphs.NONE),
        ({"full_cuda_graph": True}, Graphs.FULL),
        ({"level": 0}, Graphs.NONE),
        ({"mode": 3}, Graphs.FULL_AND_PIECEWISE),
        ({"mode": "none", "cudagraph_mode": "FULL"}, Graphs.FULL),
        ({"mode": "NONE", "cudagraph_mode": "PIECEWISE"}, Graphs.NONE),
    ],
)
def test_graphs_are_called_by_old_and_new_names(fields: dict[str, object], graphs: Graphs) -> None:
    assert said(**fields).captured(release("0.19.1")) is graphs


def test_graphs_of_whole_steps_remain_in_new_releases_where_pieces_cannot_be_had() -> None:
    assert said(mode=0).captured(release("0.29.0")) is Graphs.NONE
    assert said(mode=0).captured(release("0.30.0")) is Graphs.FULL_DECODE_ONLY


@pytest.mark.parametrize("level", ["0", "O0", 0])
def test_the_lowest_level_has_no_graphs(level: Value) -> None:
    assert sizes(optimization_level=level) == ()
    assert compilation(Flags({"optimization_level": "1"})).graphs is Graphs.PIECEWISE


def test_a_number_alone_is_the_level() -> None:
    assert compilation(Flags({"compilation_config": "3"})) == Compilation(mode=3)
    assert sizes("0.10.2", compilation_config="0") == ()


def test_sizes_of_the_config_are_taken_within_a_step() -> None:
    assert sizes(compilation_config='{"cudagraph_capture_sizes": [64, 1, 300]}', max_num_batched_tokens=256) == (1, 64)
    assert sizes(compilation_config='{"max_cudagraph_capture_size": 16}') == (1, 2, 4, 8, 16)
    assert sizes(cudagraph_capture_sizes=(2, 4)) == (2, 4)


def test_eager_overrules_everything() -> None:
    assert sizes(enforce_eager=True, compilation_config='{"cudagraph_mode": "FULL"}') == ()


def test_interactivity_has_a_graph_for_every_small_batch() -> None:
    found = sizes(performance_mode="interactivity", max_num_seqs=24)

    assert found == (*range(1, 33), 40, 48)


def test_throughput_doubles_what_is_not_given() -> None:
    plain = resolve(Flags(), device=GPU, release=release("0.32.0"), context_tokens=8192)
    doubled = resolve(
        Flags({"performance_mode": "throughput", "max_num_seqs": 7}),
        device=GPU,
        release=release("0.32.0"),
        context_tokens=8192,
    )

    assert doubled.whole("max_num_batched_tokens") == 2 * plain.whole("max_num_batched_tokens")
    assert doubled.whole("max_num_seqs") == 7


@pytest.mark.parametrize(
    "text",
    ["[1]", "{", '{"cudagraph_mode": "SOME"}', '{"cudagraph_capture_sizes": [0]}', '{"cudagraph_capture_sizes": 8}'],
)
def test_what_is_no_compilation_config_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--compilation-config"):
        compilation(Flags({"compilation_config": text}))


@given(st.dictionaries(st.sampled_from(["mode", "level", "cudagraph_mode", "use_cudagraph", "backend"]), st.integers()))
def test_fields_of_other_kinds_are_passed_over(fields: dict[str, int]) -> None:
    assert said(**fields).sizes is None
