"""Graphs and what comes after them: who took what the budget did not know."""

from dataclasses import replace

import pytest

from diagnose.rules.failed_starts import CAPTURE, SAMPLER, STEP, WARM_UP, case, first, out_of_memory, traceback
from diagnose.startups import seed_a
from oomph.diagnose.explain import explain
from oomph.ledger.gate import Verdict
from oomph.ledger.settings import Value

INFO = "(EngineCore pid=1) INFO 08-10 10:00:30 [gpu_worker.py:298] "
POOL = f"{INFO}Available KV cache memory: 6.37 GiB"
ESTIMATE = f"{INFO}Estimated CUDA graph memory: 0.52 GiB total"
RUNNER = f"{INFO}Using V2 Model Runner"
MAPPED = (
    "(EngineCore pid=1) WARNING 08-10 10:00:00 [env_override.py:17] NCCL_CUMEM_ENABLE is set to 1, skipping override."
)
WARMING = (
    "RuntimeError: CUDA out of memory occurred when warming up sampler with {} dummy requests. Please try lowering"
)


def captured(**account: str) -> tuple[str, ...]:
    return traceback(*CAPTURE, STEP, error=out_of_memory("136.00 MiB", free="120.88 MiB", **account))


def graphs(size: str) -> str:
    return f"{INFO}Graph capturing finished in 24 secs, took {size} GiB"


@pytest.mark.parametrize(
    ("lines", "given", "code"),
    [
        ((POOL, *captured()), {}, "CG001"),
        ((POOL, *captured()), {"release": "0.19.1"}, "CG001"),
        ((POOL, *captured()), {"release": "0.20.0"}, "CG002"),
        ((ESTIMATE, POOL, *captured()), {}, "CG002"),
        ((RUNNER, POOL, *captured()), {}, "CG004"),
        ((RUNNER, ESTIMATE, POOL, *captured()), {"release": "0.29.0"}, "CG002"),
        ((MAPPED, POOL, *captured(in_use="23.40 GiB", allocated="19.10 GiB")), {}, "CG003"),
        ((MAPPED, POOL, *captured(in_use="23.40 GiB", allocated="22.90 GiB")), {}, "CG001"),
    ],
)
def test_one_capture_that_failed_has_four_causes(lines: tuple[str, ...], given: dict[str, Value], code: str) -> None:
    assert first(*lines, **given).code == code


def test_a_runner_that_estimates_its_graphs_is_not_said_to_estimate_nothing() -> None:
    codes = [
        {finding.code for finding in explain(case(*said, *captured()))} for said in ((RUNNER,), (RUNNER, ESTIMATE))
    ]

    assert ["CG004" in found for found in codes] == [True, False]


def test_the_driver_that_runs_out_in_a_capture_is_recognised_without_pytorchs_account() -> None:
    root = first(
        'ERROR 04-07 15:55:35 [engine.py:448]   File "/torch/cuda/graphs.py", line 84, in capture_end',
        "ERROR 04-07 15:55:35 [engine.py:448] RuntimeError: CUDA error: out of memory",
    )

    assert root.code == "CG001"
    assert {each.lever for each in root.remedies} >= {"gpu_memory_utilization_down", "enforce_eager"}


def test_a_log_that_ends_while_graphs_are_captured_leaves_it_unsure() -> None:
    begun = (
        "INFO 12-20 20:25:49 model_runner.py:1413] Capturing cudagraphs for decoding. This may lead to unexpected "
        "consequences if the model is not static."
    )
    root = first(begun)

    assert root.code == "CG001"
    assert root.confidence < 0.6


def test_a_start_that_finished_is_not_a_capture_that_failed() -> None:
    begun = "INFO 02-03 03:43:49 model_runner.py:625] Capturing the model for CUDA graphs."

    assert explain(case(begun, graphs("1.78"))) == ()


def test_no_graphs_are_blamed_where_none_are_captured() -> None:
    findings = explain(case(POOL, *captured(), enforce_eager=True))

    assert all(finding.code != "CG001" for finding in findings)


@pytest.mark.parametrize(
    ("sequences", "took", "code"),
    [(1024, "0.65", "WU001"), (1024, "2.65", "WU001"), (256, "0.65", "WU001"), (256, "2.65", "CG001")],
)
def test_the_sampler_is_the_last_straw_only_where_graphs_took_more_than_it(
    sequences: int, took: str, code: str
) -> None:
    assert first(graphs(took), WARMING.format(sequences)).code == code


def test_a_size_alone_tells_the_sampler_after_graphs_were_made() -> None:
    told, other = (
        explain(case(*traceback(*WARM_UP, error=out_of_memory(tried, private="128.00 MiB")), model="Qwen2.5-32B-AWQ"))
        for tried in ("1.74 GiB", "1.81 GiB")
    )

    assert told[0].code == "WU001"
    assert told[0].arithmetic[0].startswith("1.74 GiB = 1024 × 152064 × 12 B: the sampler's sort for 1,024 sequences")
    assert all(finding.code != "WU001" for finding in other)


def test_fewer_sequences_come_first_and_a_quarter_of_them_asks_for_a_quarter() -> None:
    root = first(WARMING.format(1024))

    assert root.remedies[0].change == {"max_num_seqs": 256}
    assert root.remedies[0].lever == "max_num_seqs_down"


def test_the_same_sampler_while_profiling_is_another_gate() -> None:
    profiled = traceback("v1/worker/gpu_model_runner.py:profile_run", SAMPLER, error=out_of_memory("1.74 GiB"))

    assert first(*profiled).code == "PR002"


def test_an_estimate_far_above_the_graphs_is_told_without_any_failure() -> None:
    compared = f"{INFO}CUDA graph pool memory: {{}} GiB (actual), 4.21 GiB (estimated), difference: 1 GiB (1.0%)."
    far = explain(case(compared.format("0.62")))
    near = explain(case(compared.format("4.02")))

    assert [finding.code for finding in far] == ["GP002"]
    assert far[0].arithmetic == ("4.21 GiB estimated − 634.88 MiB taken = 3.59 GiB charged too much",)
    assert near == ()


def throw_away() -> tuple[str, ...]:
    frames = (
        "v1/worker/gpu_worker.py:determine_available_memory",
        "v1/worker/gpu_model_runner.py:profile_cudagraph_memory",
    )
    account = out_of_memory("1.56 GiB", free="1.37 GiB", total="31.36 GiB", in_use="29.98 GiB", allocated="24.95 GiB")
    return (
        f"{INFO}Model loading took 18.47 GiB memory and 10.990096 seconds",
        f"{INFO}Overriding num_gpu_blocks=0 with num_gpu_blocks_override=512",
        *traceback(*frames, error=account),
    )


def test_the_throw_away_pool_is_counted_in_tensors_from_the_log_alone() -> None:
    root = first(*throw_away())

    assert root.code == "GP001"
    assert root.arithmetic == (
        "1.56 GiB ÷ 512 blocks = 3.12 MiB a block",
        "24.95 GiB allocated − 18.47 GiB of weights = 6.48 GiB = 4 × 1.56 GiB + 245.76 MiB: tensor 5 failed",
    )
    assert "--gpu-memory-utilization" in (root.unhelpful or {})


def test_with_the_model_at_hand_the_tensor_that_failed_is_computed() -> None:
    startup = seed_a()
    root = explain(replace(case(*throw_away()), startup=startup, forecast=startup.forecast()))[0]

    assert root.arithmetic[0] == "1.56 GiB = 512 blocks × 3,276,800 B: one of 17 tensors of the pool"
    assert root.remedies
    assert all(remedy.verdict is not Verdict.OVERFLOWS for remedy in root.remedies)
