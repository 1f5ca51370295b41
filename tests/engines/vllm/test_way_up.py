"""The whole way up: which gates are met, how they hang together, and what must hold for all of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.vllm.models import hybrid, llama
from oomph.engines.history import release
from oomph.engines.vllm.forecast import forecast
from oomph.ledger.catalogue import devices
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.ledger import Account, Basis
from oomph.ledger.observed import Observed, Seen
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bounds, Bytes

MTP = '{"method": "mtp", "num_speculative_tokens": 2}'
KNOWN = st.sampled_from(["0.9.1", "0.11.0", "0.13.0", "0.17.1", "0.19.1", "0.22.1", "0.26.0", "0.29.0", "0.32.0"])


def way(gpu: str = "rtx-4090", text: str = "0.32.0", **flags: Value) -> Forecast:
    return forecast(Flags(flags), model=llama(), devices=devices(gpu), release=release(text))


def gate(found: Forecast, step: Step) -> Gate:
    return next(gate for gate in found.gates if gate.step is step)


def test_llama_8b_serves_32k_on_a_24_gib_card() -> None:
    found = way(max_model_len=32_768)

    assert found.verdict is Verdict.FITS
    assert found.not_forecast == ()
    assert [gate.step for gate in found.gates] == [step for step in Step if step not in found.skipped]


def test_one_request_of_the_whole_context_does_not_fit_there() -> None:
    found = way()
    stopped = found.stopped_at

    assert stopped is not None
    assert (stopped.step, stopped.verdict) == (Step.ONE_REQUEST, Verdict.OVERFLOWS)
    assert stopped.needs == Bounds(16 * GIB)  # 131,072 tokens × 128 KiB


def test_the_weights_of_a_larger_model_stop_it_at_load() -> None:
    found = forecast(Flags(), model=hybrid(51.0), devices=devices("rtx-5090"), release=release("0.32.0"))
    stopped = found.stopped_at

    assert stopped is not None
    assert (stopped.step, stopped.verdict) == (Step.LOAD, Verdict.OVERFLOWS)


@pytest.mark.parametrize("share", [0.80, 0.88, 0.92, 0.95])
def test_the_share_does_not_move_the_graph_profile_by_one_byte(share: float) -> None:
    flags: dict[str, Value] = {"kv_cache_dtype": "fp8", "max_model_len": 65_536, "speculative_config": MTP}
    usual, other = (
        forecast(Flags(flags | more), model=hybrid(), devices=devices("rtx-5090"), release=release("0.19.1"))
        for more in ({}, {"gpu_memory_utilization": share})
    )

    stopped = other.stopped_at
    assert stopped is not None
    assert (stopped.step, stopped.verdict) == (Step.GRAPH_PROFILE, Verdict.OVERFLOWS)
    assert stopped.needs == gate(usual, Step.GRAPH_PROFILE).needs
    assert {"--gpu-memory-utilization", "--max-model-len"} <= set(stopped.inert)


def test_the_fifth_of_seventeen_tensors_fails_given_what_the_log_says() -> None:
    flags = Flags({"kv_cache_dtype": "fp8", "max_model_len": 65_536, "speculative_config": MTP})
    allocated = Seen(size=Bounds(round(24.945 * GIB), round(24.955 * GIB)), because="the log of the crash")
    found = forecast(
        flags,
        model=hybrid(18.47),
        devices=devices("rtx-5090"),
        release=release("0.19.1"),
        observed=Observed(allocated=allocated),
    )

    assert found.graph_profile is not None
    assert (found.graph_profile.tensors, found.graph_profile.tensor) == (17, Bytes(1_677_721_600))
    assert found.graph_profile.fails == (5, 5)


def test_an_eager_start_skips_profile_and_capture_of_graphs_and_says_so() -> None:
    found = way(max_model_len=8192, enforce_eager=True)

    assert {Step.GRAPH_PROFILE, Step.CAPTURE} <= set(found.skipped)
    assert found.verdict is Verdict.FITS


def test_a_given_pool_is_not_asked_whether_anything_is_left() -> None:
    found = way(max_model_len=8192, kv_cache_memory_bytes=4 * GIB)

    assert {Step.GRAPH_PROFILE, Step.POOL_SIZE} <= set(found.skipped)
    assert found.pool == Bounds(4 * GIB)
    assert found.kv is not None
    assert found.kv.blocks == 2048  # of 2 MiB


def test_a_pool_that_is_given_too_large_overflows_after_it_was_made() -> None:
    found = way(max_model_len=8192, kv_cache_memory_bytes=12 * GIB)
    stopped = found.stopped_at

    assert stopped is not None
    assert (stopped.step, stopped.verdict) == (Step.CAPTURE, Verdict.OVERFLOWS)


def test_a_hybrid_needs_a_block_for_every_sequence_from_0_20_0_on() -> None:
    flags = Flags({"max_model_len": 8192, "kv_cache_memory_bytes": 4 * GIB, "max_num_seqs": 256})
    verdicts = {}
    for text in ("0.19.1", "0.22.1"):
        found = forecast(flags, model=hybrid(), devices=devices("a100-80gb"), release=release(text))
        verdicts[text] = gate(found, Step.CAPTURE).verdict

    assert verdicts == {"0.19.1": Verdict.FITS, "0.22.1": Verdict.OVERFLOWS}


def test_on_mixed_cards_the_poorer_one_decides() -> None:
    both = (*devices("a100-80gb"), *devices("rtx-4090"))
    flags = Flags({"tensor_parallel_size": 2, "max_model_len": 8192})
    found = forecast(flags, model=llama(), devices=both, release=release("0.32.0"))
    alike = way("rtx-4090 x2", max_model_len=8192, tensor_parallel_size=2)

    assert found.device == both[1]
    assert found.rank == 1
    assert found.pool == alike.pool


def test_the_last_stage_of_a_pipeline_chooses_tokens_and_has_less_room() -> None:
    found = way("a100-80gb x2", max_model_len=8192, pipeline_parallel_size=2)

    assert found.rank == 1
    assert found.verdict is Verdict.FITS


def test_what_somebody_measured_is_not_computed_again() -> None:
    seen = Seen(size=Bounds(GIB), because="learned")
    observed = Observed(weights=Seen(size=Bounds(15 * GIB), because="learned"), activations=seen, non_torch=seen)
    found = forecast(
        Flags({"max_model_len": 8192, "enforce_eager": True}),
        model=llama(),
        devices=devices("rtx-4090"),
        release=release("0.17.1"),
        observed=observed,
    )

    budget = found.device.total * 9 // 10
    assert found.pool is not None
    assert abs(found.pool.likely - (budget - 17 * GIB)) <= 1
    assert next(entry for entry in found.ledger if entry.account is Account.WEIGHTS).basis is Basis.OBSERVED


def test_every_gate_says_what_is_on_the_device() -> None:
    found = way(max_model_len=8192)

    for each in found.gates:
        assert each.ledger.total.likely <= found.device.total
        assert each.because
    held = gate(found, Step.SERVING).ledger
    assert {Account.DRIVER, Account.WEIGHTS, Account.ACTIVATIONS, Account.GRAPHS, Account.KV_POOL} == {
        entry.account for entry in held
    }


PINNED: dict[str, Value] = {"max_num_seqs": 128, "max_num_batched_tokens": 2048}  # else defaults follow the memory


def card(total: int) -> tuple[Device, ...]:
    return (Device(name="a card", total=Bytes(total)),)


@settings(max_examples=300, deadline=None)
@given(KNOWN, st.integers(4 * GIB, 100 * GIB), st.integers(0, 40 * GIB), st.floats(0.3, 0.97))
def test_more_memory_never_turns_fits_into_overflows(text: str, total: int, more: int, share: float) -> None:
    flags = Flags(PINNED | {"max_model_len": 8192, "gpu_memory_utilization": share})
    less, richer = (
        forecast(flags, model=llama(), devices=card(size), release=release(text)) for size in (total, total + more)
    )

    if less.verdict is Verdict.FITS:
        assert richer.verdict is not Verdict.OVERFLOWS


@settings(max_examples=300, deadline=None)
@given(KNOWN, st.integers(4 * GIB, 100 * GIB), st.floats(0.3, 0.97), st.floats(0.0, 0.5))
def test_a_larger_share_never_shrinks_the_pool(text: str, total: int, share: float, more: float) -> None:
    smaller, larger = (
        forecast(
            Flags(PINNED | {"max_model_len": 8192, "gpu_memory_utilization": each}),
            model=llama(),
            devices=card(total),
            release=release(text),
        ).pool
        for each in (share, min(1.0, share + more))
    )

    assert smaller is not None
    assert larger is not None
    assert (smaller.low, smaller.likely, smaller.high) <= (larger.low, larger.likely, larger.high)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["0.18.0", "0.19.1", "0.22.1", "0.25.1", "0.26.0", "0.29.0", "0.32.0"]),
    st.integers(1, 512),
    st.integers(0, 6),
    st.integers(1, 3),
)
def test_guessing_more_tokens_never_shrinks_the_throw_away_pool(
    text: str, sequences: int, guessed: int, more: int
) -> None:
    def total(tokens: int) -> int:
        spoken: Value = f'{{"method": "mtp", "num_speculative_tokens": {tokens}}}' if tokens else None
        flags = Flags({"max_num_seqs": sequences} | ({"speculative_config": spoken} if tokens else {}))
        found = forecast(flags, model=hybrid(), devices=devices("rtx-5090"), release=release(text))
        return 0 if found.graph_profile is None else int(found.graph_profile.total)

    assert total(guessed) <= total(guessed + more)


@settings(max_examples=200, deadline=None)
@given(KNOWN, st.integers(12 * GIB, 100 * GIB), st.integers(1, 1024), st.sampled_from([512, 2048, 8192, 16_384]))
def test_fewer_sequences_never_leave_less_for_the_pool(text: str, total: int, sequences: int, tokens: int) -> None:
    def pool(count: int) -> int:
        flags = Flags({"max_num_seqs": count, "max_num_batched_tokens": tokens, "max_model_len": 8192})
        found = forecast(flags, model=llama(), devices=card(total), release=release(text))
        assert found.pool is not None
        return int(found.pool.likely)

    assert pool(sequences) <= pool(max(1, sequences // 2))


def test_blocks_that_are_asked_for_are_checked_against_what_profiling_leaves_up_to_0_20_0() -> None:
    flags: dict[str, Value] = {"max_model_len": 8192, "num_gpu_blocks_override": 1000, "gpu_memory_utilization": 0.5}
    older, newer = (way("l4", text, **flags) for text in ("0.19.1", "0.21.0"))

    assert older.stopped_at is not None
    assert (older.stopped_at.step, older.stopped_at.verdict) == (Step.POOL_SIZE, Verdict.OVERFLOWS)
    assert Step.POOL_SIZE in newer.skipped
    assert newer.pool == Bounds(1000 * 2 * 1024 * 1024)


def test_blocks_that_are_asked_for_decide_over_bytes() -> None:
    found = way("l4", "0.19.1", max_model_len=4096, num_gpu_blocks_override=4000, kv_cache_memory_bytes=10**9)

    assert found.pool == Bounds(4000 * 2 * 1024 * 1024)
    assert found.verdict is Verdict.OVERFLOWS  # 8 GiB beside 15 GiB of weights, on 22 GiB


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ({}, Verdict.OVERFLOWS),
        ({"compilation_config": '{"cudagraph_mode": "PIECEWISE"}'}, Verdict.FITS),
        ({"speculative_config": MTP}, Verdict.UNSURE),
    ],
)
def test_only_whole_captured_steps_need_a_block_for_every_sequence(flags: dict[str, Value], verdict: Verdict) -> None:
    given_flags = Flags({"max_model_len": 8192, "kv_cache_memory_bytes": 4 * GIB, "max_num_seqs": 256} | flags)
    found = forecast(given_flags, model=hybrid(), devices=devices("a100-80gb"), release=release("0.26.0"))

    assert gate(found, Step.CAPTURE).verdict is verdict


def test_measured_weights_make_their_format_irrelevant() -> None:
    flags = Flags({"quantization": "auto_round", "kv_cache_dtype": "fp8_e5m2", "max_model_len": 32_768})
    found = forecast(flags, model=hybrid(17.5), devices=devices("rtx-3090"), release=release("0.19.1"))
    unknown = forecast(flags, model=hybrid(None), devices=devices("rtx-3090"), release=release("0.19.1"))

    assert found.stopped_at is not None
    assert (found.stopped_at.step, found.stopped_at.verdict) == (Step.GRAPH_PROFILE, Verdict.OVERFLOWS)
    assert found.graph_profile is not None
    assert found.graph_profile.total == Bytes(24.5 * GIB)
    assert unknown.verdict is Verdict.UNSURE


def test_the_engine_before_is_not_judged_as_if_it_were_this_one() -> None:
    found = way("l40s", "0.8.5", max_model_len=8192, VLLM_USE_V1="0")

    assert found.verdict is Verdict.UNSURE
    assert any("VLLM_USE_V1" in warning for warning in found.warnings)


def test_sequences_are_not_inert_at_load_where_the_runner_keeps_counts_for_each() -> None:
    older, newer = (gate(way(text=text, max_model_len=8192), Step.LOAD) for text in ("0.19.1", "0.32.0"))

    assert "--max-num-seqs" in older.inert
    assert "--max-num-seqs" not in newer.inert


def test_ranks_with_whole_experts_talk_to_each_other() -> None:
    alone, together = (
        way("h200 x8", "0.14.0", max_model_len=8192, data_parallel_size=8, enable_expert_parallel=experts)
        for experts in (False, True)
    )

    assert gate(together, Step.START_CHECK).has.likely < gate(alone, Step.START_CHECK).has.likely


@settings(max_examples=200, deadline=None)
@given(KNOWN, st.integers(2 * GIB, 40 * GIB), st.floats(0.05, 1.0), st.sampled_from([256, 2048, 65_536]))
def test_no_gate_needs_less_than_the_weights(text: str, total: int, share: float, tokens: int) -> None:
    flags = Flags({"max_model_len": 4096, "gpu_memory_utilization": share, "max_num_batched_tokens": tokens})
    found = forecast(flags, model=llama(), devices=card(total), release=release(text))
    weights = found.ledger.of(Account.WEIGHTS)

    assert weights is not None
    for each in found.gates:
        if each.step not in {Step.START_CHECK, Step.ONE_REQUEST}:
            assert each.needs.low >= weights.low
    assert found.pool is None or found.pool.low >= 0


MOVED: dict[str, tuple[Value, ...]] = {
    "gpu_memory_utilization": (0.5, 0.7, 0.9, 0.95),
    "max_model_len": (2048, 8192, 32_768, 100_000),
    "max_num_seqs": (1, 16, 300, 700),
    "kv_cache_memory_bytes": (GIB, 2 * GIB, 3 * GIB, 5 * GIB),
    "enforce_eager": (True, True, True, True),
}


@settings(max_examples=150, deadline=None)
@given(
    KNOWN,
    st.sampled_from(
        ["gpu_memory_utilization", "max_model_len", "max_num_seqs", "kv_cache_memory_bytes", "enforce_eager"]
    ),
    st.integers(0, 3),
)
def test_a_flag_that_is_called_inert_moves_neither_side(text: str, name: str, place: int) -> None:
    usual = way(text=text, max_model_len=8192)
    flags = Flags({"max_model_len": 8192, name: MOVED[name][place]})
    changed = forecast(flags, model=llama(), devices=devices("rtx-4090"), release=release(text))

    flag = "--" + name.replace("_", "-")
    for each in changed.gates:
        before = next((old for old in usual.gates if old.step is each.step), None)
        if before is not None and flag in before.inert and flag in each.inert:
            assert (each.needs, each.has) == (before.needs, before.has)


def test_what_can_really_be_had_limits_loading_and_not_the_start_check() -> None:
    told = Device(name="a slice", total=Bytes(40 * GIB), free=Bounds(39 * GIB), really=Bytes(10 * GIB))
    found = forecast(Flags({"max_model_len": 8192}), model=llama(), devices=(told,), release=release("0.32.0"))

    assert gate(found, Step.START_CHECK).verdict is Verdict.FITS
    assert found.stopped_at is not None
    assert (found.stopped_at.step, found.stopped_at.verdict) == (Step.LOAD, Verdict.OVERFLOWS)
