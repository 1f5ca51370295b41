"""The profile run: which part of it did not fit is told by frames, sizes and flags, never by the word memory alone."""

from dataclasses import replace

import pytest

from diagnose.rules.failed_starts import PROFILE, SAMPLER, STEP, case, first, out_of_memory, traceback
from diagnose.startups import startup
from oomph.diagnose.explain import explain
from oomph.ledger.settings import Value

ITEMS = (
    "(EngineCore pid=1) INFO 08-04 16:54:40 [gpu_model_runner.py:2362] Encoder cache will be initialized with a budget "
    "of 114688 tokens, and profiled with 7 video items of the maximum feature size."
)
OLD = "/x/vllm/worker/"


@pytest.mark.parametrize(
    ("frames", "tried", "code"),
    [
        ((STEP, "model_executor/models/llama.py:forward"), "896.00 MiB", "PR001"),
        ((SAMPLER, "v1/sample/sampler.py:forward"), "1.16 GiB", "PR002"),
        (("model_executor/models/qwen2_5_vl.py:get_multimodal_embeddings",), "16.00 GiB", "PR004"),
        ((STEP, "/flashinfer/fused_moe/cute_dsl/b12x.py:_allocate_buffers"), "4.50 GiB", "PR006"),
        ((STEP, "model_executor/layers/fused_moe/fused_moe.py:fused_experts_impl"), "896.00 MiB", "PR001"),
    ],
)
def test_the_frames_tell_which_part_of_the_profile_it_was(frames: tuple[str, ...], tried: str, code: str) -> None:
    assert first(*traceback(*PROFILE, *frames, error=out_of_memory(tried))).code == code


def test_the_size_of_the_samplers_tensor_makes_it_surer_and_is_shown() -> None:
    fitting, other = (
        first(*traceback(*PROFILE, SAMPLER, error=out_of_memory(tried)), model="Qwen/Qwen2.5-7B-Instruct")
        for tried in ("1.16 GiB", "1.23 GiB")
    )

    assert fitting.arithmetic[0].startswith("1.16 GiB = 1024 × 152064 × 8 B")
    assert other.arithmetic == ()
    assert fitting.confidence > other.confidence


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_no_share_is_advised_while_profiling(share: float) -> None:
    for frames in ((STEP,), (SAMPLER,), ("model_executor/models/qwen2_5_vl.py:get_multimodal_embeddings",)):
        root = first(*traceback(*PROFILE, *frames, error=out_of_memory("1.16 GiB")), gpu_memory_utilization=share)

        assert not {each.lever for each in root.remedies} & {"gpu_memory_utilization_down", "gpu_memory_utilization_up"}
        assert any("--gpu-memory-utilization" in flag for flag in root.unhelpful or {})


def test_items_for_every_sequence_are_told_by_the_runner_that_says_so() -> None:
    begun = "INFO 09-27 11:18:35 enc_dec_model_runner.py:297] Starting profile run for multi-modal models."
    root = first(begun, "Traceback (most recent call last):", f'  File "{OLD}worker.py", line 1, in profile_run')

    assert (root.code, root.remedies[0].change) == ("PR003", {"max_num_seqs": 16})


def test_a_profile_that_ended_well_is_not_what_failed() -> None:
    begun = "INFO 09-27 11:18:35 enc_dec_model_runner.py:297] Starting profile run for multi-modal models."
    blocks = "INFO 09-27 11:18:55 gpu_executor.py:122] # GPU blocks: 12011, # CPU blocks: 4681"

    assert all(finding.code != "PR003" for finding in explain(case(begun, blocks, out_of_memory("1.16 GiB"))))


def test_what_will_be_encoded_is_evidence_until_the_step_of_text_begins() -> None:
    encoding, reading = (
        first(ITEMS, *traceback(*PROFILE, *frames, error=out_of_memory("16.00 GiB"))) for frames in ((), (STEP,))
    )

    assert encoding.code == "PR004"
    assert reading.code == "PR001"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"release": "0.19.1", "enable_chunked_prefill": False}, "PR005"),
        ({"release": "0.19.1", "enable_chunked_prefill": True}, "PR001"),
        ({"release": "0.7.3"}, "PR005"),
        ({"release": "0.7.3", "enable_chunked_prefill": True}, "PR001"),
        ({}, "PR001"),
    ],
)
def test_a_prompt_is_read_whole_where_nothing_cuts_it(given: dict[str, Value], code: str) -> None:
    assert first(*traceback(*PROFILE, STEP, error=out_of_memory("7.00 GiB")), **given).code == code


@pytest.mark.parametrize(
    ("before", "now", "release", "lever"),
    [
        ("30.3 GiB", "30.3 GiB", "0.15.0", "upgrade"),
        ("82.94 GiB", "90.17 GiB", "0.29.0", "wait_or_start_sequentially"),
        ("6305890304", "6434856960", "0.7.2", "wait_or_start_sequentially"),
    ],
)
def test_memory_that_came_back_is_told_from_memory_that_stayed(before: str, now: str, release: str, lever: str) -> None:
    message = f"AssertionError: Error in memory profiling. Initial free memory {before}, current free memory {now}."
    root = first(message, release=release)

    assert root.code == "PR007"
    assert root.remedies[0].lever == lever
    assert ("before the profile and after it" in root.summary) is (before == now)
    assert bool(root.arithmetic) is (before != now)


def test_a_pool_of_a_given_size_is_not_offered_to_a_release_that_has_none() -> None:
    message = "AssertionError: Error in memory profiling. Initial free memory 1.0 GiB, current free memory 2.0 GiB."
    levers = [{each.lever for each in first(message, release=release).remedies} for release in ("0.9.2", "0.19.1")]

    assert ["kv_cache_memory_bytes" in found for found in levers] == [False, True]


def test_with_the_model_at_hand_what_experts_keep_of_a_step_is_computed() -> None:
    asked = startup("routed", at="0.19.1", device="rtx-4090", max_num_batched_tokens=8192, tensor_parallel_size=2)
    failed = case(*traceback(*PROFILE, STEP, error=out_of_memory("256.00 MiB")), tensor_parallel_size=2)
    root = explain(replace(failed, startup=asked, forecast=asked.forecast()))[0]

    assert root.arithmetic == (  # 2048 wide, 8 experts for each token
        "256.00 MiB = 8192 × 8 × 2048 × 2 B: the outputs of 8 experts for each of 8,192 tokens",
    )
