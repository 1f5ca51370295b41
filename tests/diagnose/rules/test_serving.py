"""What fails when the engine is up, and who is to blame."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.startups import seed_b
from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import SURE, explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.serving import fewer_tokens, smaller_share
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.rules import sv002_delta_states_above_rest as delta
from oomph.engines.history import release
from oomph.ledger.settings import Flags, Value

UP = "(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1142] "  # 0.21.0: encountered a fatal error
STARTING = "(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1140] "  # 0.21.0: failed to start
STEP = '  File "/x/vllm/v1/worker/gpu_model_runner.py", line 4101, in execute_model'
ENDED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of 23.56 GiB "
    "of which {free} is free. Including non-PyTorch memory, this process has 23.47 GiB memory in use. Of the allocated "
    "memory 22.43 GiB is allocated by PyTorch, and {held} is reserved by PyTorch but unallocated."
)


def overflow(tried: str = "192.00 MiB", free: str = "83.25 MiB", held: str = "43.54 MiB") -> str:
    return ENDED.format(tried=tried, free=free, held=held)


def frame(file: str, function: str) -> str:
    return f'  File "/x/vllm/{file}", line 111, in {function}'


def case(*lines: str, prefix: str = UP, at: str | None = None, model: str | None = None, **flags: Value) -> Case:
    told = (f"{prefix}{line}" for line in lines)
    known = None if at is None else release(at)
    return case_of(enumerate(told, 1), release=known, model_name=model, flags=Flags(flags))


def first(*lines: str, prefix: str = UP, at: str | None = None, model: str | None = None, **flags: Value) -> Finding:
    return explain(case(*lines, prefix=prefix, at=at, model=model, **flags))[0]


def test_a_step_that_takes_more_than_the_profile_is_blamed_where_nothing_else_is() -> None:
    finding = first(STEP, overflow(), gpu_memory_utilization=0.9, max_num_batched_tokens=8192)

    assert finding.code == "SV001"
    assert finding.confidence >= SURE
    assert finding.remedies[0].change == {"max_num_batched_tokens": 4096}
    assert finding.arithmetic[0] == "192.00 MiB asked for − 83.25 MiB free = 108.75 MiB too little"


def test_the_same_words_while_it_starts_are_another_matter() -> None:
    findings = explain(case(frame("v1/worker/gpu_worker.py", "profile_run"), overflow(), prefix=STARTING))

    assert not [finding for finding in findings if finding.code.startswith("SV")]


def test_latent_attention_of_old_releases_asks_for_an_upgrade_first() -> None:
    old = first(STEP, overflow(), model="deepseek-ai/DeepSeek-V3.1", at="0.10.2")
    new = first(STEP, overflow(), model="deepseek-ai/DeepSeek-V3.1", at="0.11.0")

    assert old.remedies[0].change == {"release": "0.11.0"}
    assert new.remedies[0].lever == "max_num_batched_tokens_down"


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("model_executor/layers/fla/ops/chunk_delta_h.py", "chunk_gated_delta_rule_fwd_h"),
        ("third_party/flash_linear_attention/ops/chunk.py", "forward"),
        ("model_executor/layers/fla/ops/kda.py", "chunk_kda_fwd"),
    ],
)
def test_frames_of_the_delta_rule_are_enough(file: str, function: str) -> None:
    finding = first(STEP, frame(file, function), overflow())

    assert finding.cause == "gdn_prefill_activation_underprofiled"
    assert finding.remedies[0].lever == "max_num_batched_tokens_down"


def test_a_model_with_the_delta_rule_is_suspected_without_its_frames() -> None:
    assert first(STEP, overflow(), model="Qwen/Qwen3.6-27B").code == "SV002"
    assert first(STEP, overflow(), model="Qwen/Qwen3-8B").code == "SV001"


def test_the_values_of_a_full_step_prove_it_to_the_byte() -> None:
    """4128 tokens × 48 heads × 128 × 2 B = 50,724,864 B, for which the allocator asks 50 MiB."""
    told = case(STEP, overflow("50.00 MiB", "41.88 MiB"), max_num_batched_tokens=4128)
    startup = seed_b(max_num_batched_tokens=4128)

    finding = delta.check(replace(told, startup=startup))

    assert finding is not None
    assert finding.arithmetic[0].startswith("50.00 MiB = 4128 × 48 × 128 × 2 B, rounded up to 2 MiB: the values")
    assert finding.confidence >= 0.85


def test_a_tuner_that_runs_at_the_first_request_wins_over_the_kernel_it_tunes() -> None:
    lines = (
        STEP,
        frame("model_executor/layers/fla/ops/chunk.py", "chunk_gated_delta_rule"),
        '  File "/x/triton/runtime/autotuner.py", line 143, in _bench',
        "RuntimeError: Triton Error [CUDA]: out of memory",
    )

    assert first(*lines).cause == "triton_autotune_first_request"


def test_probabilities_of_a_prompt_are_named_by_their_frames() -> None:
    finding = first(STEP, frame("v1/worker/gpu_model_runner.py", "_get_prompt_logprobs_dict"), overflow("4.64 GiB"))

    assert finding.cause == "logprobs_full_vocab_logits"
    assert [remedy.lever for remedy in finding.remedies][:2] == ["no_logprobs", "max_num_batched_tokens_down"]


def test_logits_of_more_rows_than_sequences_are_those_of_a_prompt() -> None:
    """15.66 GiB / (32000 words × 4 B) are 131,000 rows, and 64 MiB are 524."""
    logits = frame("model_executor/layers/sampler.py", "forward")

    assert first(STEP, logits, overflow("15.66 GiB"), model="meta-llama/Llama-2-7b").code == "SV004"
    assert first(STEP, logits, overflow("64.00 MiB"), model="meta-llama/Llama-2-7b").code == "SV001"


def test_on_a_processor_the_host_is_the_device() -> None:
    refused = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1834483712 bytes."
    lines = (
        "Initializing a V1 LLM engine (v0.32.0) with config: model='m', device_config=cpu",
        frame("v1/worker/gpu_model_runner.py", "_get_prompt_logprobs_dict"),
        f"RuntimeError: [enforce fail at alloc_cpu.cpp:127] {refused}",
    )
    told = case_of(enumerate((UP + line for line in lines), 1), platform=(Platform.CPU,))

    finding = explain(told)[0]

    assert finding.code == "SV004"
    assert "1.71 GiB were asked for" in finding.summary


def test_pictures_of_requests_are_no_pictures_of_the_profile() -> None:
    encoder = frame("model_executor/models/qwen3_vl.py", "get_multimodal_embeddings")
    step = first(frame("v1/worker/gpu_model_runner.py", "_execute_mm_encoder"), encoder, overflow())
    profile = explain(case(frame("v1/worker/gpu_model_runner.py", "profile_run"), encoder, overflow()))

    assert step.cause == "mm_encoder_runtime_memory"
    assert step.remedies[0].lever == "mm_limits"
    assert "SV005" not in {finding.code for finding in profile}


def test_frames_without_the_error_are_enough_to_suspect_the_encoder() -> None:
    finding = first(frame("v1/worker/gpu_model_runner.py", "_execute_mm_encoder"))

    assert finding.code == "SV005"
    assert finding.missing


def test_a_draft_is_blamed_where_the_target_alone_was_profiled() -> None:
    step = frame("worker/model_runner.py", "execute_model")
    old = first(overflow("1.86 GiB"), step, at="0.5.5", speculative_model="d", num_speculative_tokens=1)
    new = first(overflow("1.86 GiB"), STEP, at="0.21.0", speculative_config="{}", num_speculative_tokens=1)

    assert old.cause == "spec_decode_draft_not_budgeted"
    assert old.remedies[0].lever == "gpu_memory_utilization_down"
    assert new.cause != "spec_decode_draft_not_budgeted"


def test_a_draft_that_itself_runs_out_is_blamed_in_any_release() -> None:
    assert first(STEP, frame("v1/spec_decode/eagle.py", "propose"), overflow(), at="0.21.0").code == "SV006"


def test_a_share_near_the_whole_device_is_blamed_before_the_step() -> None:
    finding = first(STEP, overflow(), gpu_memory_utilization=0.98)

    assert finding.cause == "no_headroom_after_boot"
    assert finding.remedies[0].change == {"gpu_memory_utilization": 0.96}
    assert finding.arithmetic[0].startswith("23.56 GiB × (1 − 0.98) = 482.51 MiB")


def test_rearranged_experts_are_in_nobodys_budget() -> None:
    told = case_of([(1, frame("v1/worker/gpu_model_runner.py", "eplb_step"))])

    assert explain(told)[0].cause == "no_headroom_after_boot"


def test_the_allocators_warning_alone_is_a_suspicion_with_its_figures() -> None:
    said = "expandable_segments: memory mapping failed with OOM on device 0 while trying to map 20971520 bytes"

    finding = explain(case_of([(1, f"{said} (free: 20578304)")]))[0]

    assert finding.code == "SV007"
    assert finding.arithmetic == ("20.00 MiB were to be mapped, 19.63 MiB were free",)
    assert finding.missing


@pytest.mark.parametrize(
    "line", ['  File "/x/cumem.py", line 207 in wake_up', '  File "/x/cumem.py", line 207, in wake_up']
)
def test_waking_up_without_room_is_told_even_by_a_crash_of_the_interpreter(line: str) -> None:
    told = case_of([(1, "CUDA Error: out of memory at /w/csrc/cumem_allocator.cpp:62"), (2, line)])

    finding = explain(told)[0]

    assert finding.cause == "sleep_wake_no_room"
    assert finding.remedies[0].lever == "kill_or_free_other_process"


def words(tried: int, free: int) -> Iterator[str]:
    yield STEP
    yield overflow(f"{tried}.00 MiB", f"{free}.00 MiB")


@given(st.integers(20, 900), st.integers(1, 900), st.integers(50, 98))
def test_a_smaller_share_is_smaller_by_what_is_lacking_at_least(tried: int, free: int, percent: int) -> None:
    told = case(*words(tried, free), gpu_memory_utilization=percent / 100)

    smaller = smaller_share(told).change["gpu_memory_utilization"]

    assert isinstance(smaller, float)
    assert percent / 100 - smaller >= 0.0199
    assert (percent / 100 - smaller) * 23.565 * 1024 >= tried - free


@given(st.integers(1, 1 << 20))
def test_fewer_tokens_are_never_more_unless_they_were_hardly_any(tokens: int) -> None:
    fewer = fewer_tokens(case(STEP, overflow(), max_num_batched_tokens=tokens)).change["max_num_batched_tokens"]

    assert isinstance(fewer, int)
    assert fewer <= max(tokens, 512)
