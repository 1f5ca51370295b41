"""Two real crashes and three public cases, worked by hand."""

import pytest

from engines.vllm.pool.models import limits, named, one, qwen
from oomph.engines.history import release
from oomph.engines.vllm.pool import layers
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.limits import Limits, StateMode
from oomph.engines.vllm.pool.plan import largest_length, minimal_pool, plan
from oomph.engines.vllm.pool.pool import Pool, ThrowAway
from oomph.engines.vllm.pool.refusal import Reason, Refusal
from oomph.ledger.geometry import Attention, Latent
from oomph.units import GIB, Bytes

V19 = release("0.19.1")
V32 = release("0.32.0")


def pool_of(answer: Pool | Refusal) -> Pool:
    assert isinstance(answer, Pool)
    return answer


def throw_away(answer: ThrowAway | Refusal | None) -> ThrowAway:
    assert isinstance(answer, ThrowAway)
    return answer


def test_the_5090_crashed_on_17_tensors_of_512_whole_states() -> None:
    found = qwen(V19, full=16, states=48, heads=4, value_heads=48, kept=KvFormat.FP8, speculative_tokens=2)
    pool = throw_away(minimal_pool(found, limits(65536), V19, sequences=256, largest_capture=512))

    assert {cache.page for cache in found.values()} == {3_276_800}
    assert found["layers.0"].block_tokens == 1600
    assert [len(group.names) for group in pool.groups] == [17, 16, 16, 16]
    assert pool.tensors == (Bytes(512 * 3_276_800),) * 17
    assert str(pool.tensors[0]) == "1.56 GiB"
    assert str(pool.size) == "26.56 GiB"


def test_the_3090_crashed_on_16_tensors_of_512_whole_states() -> None:
    found = qwen(V19, full=16, states=48, heads=4, value_heads=48, kept=KvFormat.FP8_E5M2)
    pool = throw_away(minimal_pool(found, limits(65536), V19, sequences=256, largest_capture=512))

    assert {cache.page for cache in found.values()} == {3_211_264}
    assert found["layers.0"].block_tokens == 1568
    assert pool.tensors == (Bytes(49 * GIB // 32),) * 16
    assert str(pool.size) == "24.50 GiB"


@pytest.mark.parametrize(
    ("name", "sequences", "capture", "size"),
    [("0.19.1", 256, 64, "3.32 GiB"), ("0.26.0", 256, 512, "13.28 GiB"), ("0.26.0", 16, 96, "850.00 MiB")],
)
def test_a_smaller_capture_or_fewer_sequences_make_the_crash_smaller(
    name: str, sequences: int, capture: int, size: str
) -> None:
    asked = release(name)
    found = qwen(asked, full=16, states=48, heads=4, value_heads=48, kept=KvFormat.FP8, speculative_tokens=2)
    pool = throw_away(minimal_pool(found, limits(65536), asked, sequences=sequences, largest_capture=capture))

    assert str(pool.size) == size


def test_from_0_29_on_it_is_one_buffer_and_before_0_18_there_was_none() -> None:
    found = qwen(V32, full=16, states=48, heads=4, value_heads=48, kept=KvFormat.FP8, speculative_tokens=2)
    pool = throw_away(minimal_pool(found, limits(65536), V32, sequences=256, largest_capture=512, second_runner=True))

    assert [str(size) for size in pool.tensors] == ["13.28 GiB"]
    assert minimal_pool(found, limits(65536), release("0.17.1"), sequences=256, largest_capture=512) is None
    old = release("0.28.0")
    assert minimal_pool(found, limits(65536), old, sequences=256, largest_capture=512, second_runner=True) is None


def test_case_c_is_ten_tensors_of_a_gibibyte_whatever_the_share() -> None:
    asked = release("0.20.1")
    found = qwen(asked, full=10, states=30, heads=2, value_heads=32, kept=KvFormat.FP8)
    pool = throw_away(minimal_pool(found, limits(65536), asked, sequences=256, largest_capture=512))

    assert found["layers.0"].block_tokens == 2096
    assert pool.tensors == (Bytes(512 * 2_146_304),) * 10
    assert str(pool.tensors[0]) == "1.02 GiB"


def test_case_d_prints_188640_tokens_and_5_23_requests() -> None:
    asked = release("0.18.0")
    found = qwen(asked, full=12, states=36, heads=2, value_heads=64, kept=KvFormat.BFLOAT16)
    told = Limits(context_tokens=131_072, step_tokens=8192, state_mode=StateMode.ALIGN)
    pool = pool_of(plan(one(found, int(17.36 * GIB)), told, asked))

    assert pool.blocks == 361
    assert pool.tokens == 188_640
    assert f"{pool.concurrency:.2f}" == "5.23"


@pytest.mark.parametrize(("drafts", "tokens", "concurrency"), [(1, 20_024, "1.22"), (3, 16_384, "1.00")])
def test_case_e_prints_fewer_tokens_with_more_drafts(drafts: int, tokens: int, concurrency: str) -> None:
    asked = release("0.20.2")
    found = qwen(asked, full=16, states=48, heads=4, value_heads=48, kept=KvFormat.BFLOAT16, speculative_tokens=drafts)
    pool = pool_of(plan(one(found, 33 * 55_705_600), limits(16_384), asked))

    assert found["layers.0"].block_tokens == 800
    assert pool.blocks == 33
    assert (pool.tokens, f"{pool.concurrency:.2f}") == (tokens, concurrency)


# --- the vectors of Appendix A of the memory model


DENSE = Attention(heads=32, kv_heads=8, head_dim=128)


@pytest.mark.parametrize(("name", "tensors"), [("0.11.0", 32), ("0.28.0", 32), ("0.29.0", 1)])
def test_10_gib_of_a_dense_8b_are_5120_blocks(name: str, tensors: int) -> None:
    asked = release(name)
    found = named((layers.attention(DENSE, asked, block_tokens=16, kept=KvFormat.BFLOAT16), 32))
    pool = pool_of(plan(one(found, 10 * GIB), limits(32_768), asked))

    assert (pool.blocks, pool.tokens, pool.concurrency) == (5120, 81_920, 2.5)
    assert pool.shares[0].tensors == (Bytes(10 * GIB // tensors),) * tensors
    assert pool.shares[0].need == 4 * GIB


@pytest.mark.parametrize(("name", "fitting"), [("0.11.0", 81_920), ("0.28.0", 81_920), ("0.29.0", 81_904)])
def test_a_request_of_131072_does_not_fit_10_gib_and_the_longest_that_does_is_named(name: str, fitting: int) -> None:
    asked = release(name)
    found = named((layers.attention(DENSE, asked, block_tokens=16, kept=KvFormat.BFLOAT16), 32))
    answer = plan(one(found, 10 * GIB), limits(131_072), asked)

    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.TOO_SMALL
    assert answer.need == 16 * GIB
    assert answer.fitting_tokens == fitting
    assert largest_length(one(found, 10 * GIB), limits(131_072), asked) == fitting


@pytest.mark.parametrize(
    ("name", "tokens", "concurrency"),
    [("0.11.0", 37_440, "1.75"), ("0.20.2", 229_677, "1.75"), ("0.26.0", 212_243, "1.62"), ("0.32.0", 212_243, "1.62")],
)
def test_20_gib_of_gemma_3_27b_print_ever_other_numbers(name: str, tokens: int, concurrency: str) -> None:
    asked = release(name)
    full = Attention(heads=32, kv_heads=16, head_dim=128)
    local = Attention(heads=32, kv_heads=16, head_dim=128, window=1024)
    found = named(
        (layers.attention(full, asked, block_tokens=16, kept=KvFormat.BFLOAT16), 10),
        (layers.attention(local, asked, block_tokens=16, kept=KvFormat.BFLOAT16), 52),
    )
    pool = pool_of(plan(one(found, 20 * GIB), limits(131_072), asked))

    assert pool.blocks == 16_384
    assert [len(group.names) for group in pool.groups] == [10, 9, 9, 9, 9, 8, 8]
    assert (pool.tokens, f"{pool.concurrency:.2f}") == (tokens, concurrency)


def test_30_gib_of_deepseek_v3_2_hold_latents_and_their_indexers_in_one_group() -> None:
    asked = release("0.28.0")
    model = Latent(heads=128, rank=512, rope_dim=64, indexer_dim=128)
    found = named(
        (layers.latent(model, asked, block_tokens=64, kept=KvFormat.FP8_DS_MLA, cache_dtype="fp8_ds_mla"), 61),
        (layers.indexer(model, block_tokens=64), 61),
    )
    pool = pool_of(plan(one(found, 30 * GIB), limits(163_840, 8192), asked))

    assert pool.blocks == 10_470
    assert (pool.tokens, f"{pool.concurrency:.2f}") == (670_080, "4.09")
    assert sorted(set(pool.shares[0].tensors)) == [88_450_560, 439_572_480]
