"""SGLang: two walls, and a pool of slots that is no memory."""

import pytest

from oomph.diagnose.case import Case
from oomph.diagnose.explain import explain
from oomph.diagnose.hearing.case_of import case_of
from oomph.ledger.settings import Flags, Value

LOADED = (
    "[2025-03-12 08:00:01 TP0] Load weight end. type=X, dtype=torch.bfloat16, avail mem=6.10 GB, mem usage=38.01 GB."
)
NO_POOL = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."
POOLED = "[2025-03-12 08:00:04 TP0] Memory pool end. avail mem=3.02 GB"
OVERFLOW = "CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00 GiB."


def case(*lines: str, engine: str | None = "SGLang", **flags: Value) -> Case:
    return case_of(enumerate(lines, 1), engine=engine, flags=Flags(flags))


def test_no_room_for_a_token_asks_for_a_larger_fraction() -> None:
    """38.01 / (38.01 + 6.10) = 0.86."""
    finding = explain(case(LOADED, NO_POOL, mem_fraction_static=0.7))[0]

    assert finding.code == "SG001"
    assert finding.remedies[0].lever == "sglang_mem_fraction_up"
    assert finding.arithmetic[0].endswith("the fraction must be above 0.86 for the first token")


def test_between_both_walls_something_has_to_go() -> None:
    assert explain(case(NO_POOL, mem_fraction_static=0.85))[0].remedies[0].lever == "fewer_cudagraph_sizes"


@pytest.mark.parametrize("graph", ["cuda graph", "prefill CUDA graph", "frozen-KV MTP cuda graph"])
def test_a_capture_without_room_asks_for_a_smaller_fraction(graph: str) -> None:
    finding = explain(case(f"Exception: Capture {graph} failed: {OVERFLOW}", engine=None))[0]

    assert finding.code == "SG002"
    assert finding.remedies[0].lever == "sglang_mem_fraction_down"


def test_a_step_without_room_asks_for_a_smaller_fraction_and_not_for_fewer_graphs() -> None:
    lines = (POOLED, '  File "/x/sglang/srt/model_executor/model_runner.py", line 9, in forward_extend')
    finding = explain(case(*lines, f"torch.OutOfMemoryError: {OVERFLOW}", mem_fraction_static=0.92))[0]

    assert finding.code == "SG002"
    assert finding.remedies[0].act == "--mem-fraction-static 0.87"
    assert "fewer_cudagraph_sizes" not in {remedy.lever for remedy in finding.remedies}


@pytest.mark.parametrize(
    "said",
    [
        "RuntimeError: Prefill out of memory. Try to lower your batch size.",
        "RuntimeError: Decode out of memory. Try to lower your batch size.",
        "RuntimeError: alloc_req_slots runs out of memory. Please set a smaller number for `--max-running-requests`.",
        "ValueError: token_to_kv_pool_allocator memory leak detected! available_size=1, protected_size=0",
    ],
)
def test_slots_are_no_memory(said: str) -> None:
    findings = explain(case(said))

    assert [finding.code for finding in findings] == ["SG003"]
    assert "device memory was not asked for" in findings[0].summary
    assert not {"sglang_mem_fraction_down", "gpu_memory_utilization_down"} & {r.lever for r in findings[0].remedies}
