"""Single rules, worked by hand, most of them of releases that can no longer be asked."""

from dataclasses import replace

import pytest

from engines.vllm.pool.models import limits, named, one
from oomph.engines.history import release
from oomph.engines.vllm.pool import facts, layers
from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, State, StateCache
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.hybrid import Kernels, Pages
from oomph.engines.vllm.pool.limits import Layout, Limits, StateMode
from oomph.engines.vllm.pool.plan import plan
from oomph.engines.vllm.pool.pool import Pool, Worker
from oomph.engines.vllm.pool.refusal import Reason, Refusal
from oomph.engines.vllm.pool.requests import pages
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention
from oomph.units import GIB

FULL = Attention(heads=8, kv_heads=8, head_dim=64)
WINDOW = Attention(heads=8, kv_heads=8, head_dim=64, window=128)


def cache(layer: Attention, name: str, kept: KvFormat = KvFormat.BFLOAT16) -> AttentionCache:
    return layers.attention(layer, release(name), block_tokens=16, kept=kept)


def oss(name: str, full: int = 12, windows: int = 12) -> dict[str, Cache]:
    return {**named((cache(WINDOW, name), windows), (cache(FULL, name), full))}


def planned(found: dict[str, Cache], told: Limits, name: str, available: int = 4 * GIB) -> Pool:
    answer = plan(one(found, available), told, release(name))
    assert isinstance(answer, Pool)
    return answer


# --- pages of one state, by format


@pytest.mark.parametrize(
    ("kept", "size"),
    [
        (KvFormat.BFLOAT16, 2 * (128 + 128)),
        (KvFormat.FP8_E4M3, 128 + 128),
        (KvFormat.INT8_PER_TOKEN_HEAD, 128 + 128 + 8),
        (KvFormat.INT4_PER_TOKEN_HEAD, 64 + 64 + 8),
        (KvFormat.NVFP4, 2 * (64 + 8)),
        (KvFormat.TURBOQUANT_K8V4, 128 + 64 + 4),
        (KvFormat.TURBOQUANT_3BIT_NC, 48 + 2 + 48 + 4),
        (KvFormat.ULTRAQUANT_4BIT, 136),
    ],
)
def test_what_one_head_keeps_of_one_token(kept: KvFormat, size: int) -> None:
    assert layers.state_size(kept, release("0.32.0"), key_dim=128, value_dim=128, keeps=Keeps.ALL) == size


def test_a_window_was_packed_later_than_what_keeps_all() -> None:
    told = {"key_dim": 128, "value_dim": 128, "keeps": Keeps.WINDOW}

    assert layers.state_size(KvFormat.NVFP4, release("0.20.0"), **told) == 256  # type: ignore[arg-type]  # mixed values
    assert layers.state_size(KvFormat.NVFP4, release("0.21.0"), **told) == 144  # type: ignore[arg-type]  # mixed values


def test_values_narrower_than_keys_count_from_0_14_on() -> None:
    narrow = Attention(heads=8, kv_heads=4, head_dim=192, value_dim=128)

    assert cache(narrow, "0.13.0").page == 2 * 16 * 4 * 192 * 2
    assert cache(narrow, "0.14.0").page == 16 * 4 * (192 + 128) * 2


def test_a_compressed_page_is_rounded_up() -> None:
    coarse = layers.compressed_latent(
        512, block_tokens=256, kept=KvFormat.FP8_DS_MLA, tokens_per_state=128, alignment=576
    )

    assert coarse.unpadded == 2 * 584
    assert coarse.page == 3 * 576


# --- pages of one request


@pytest.mark.parametrize(("name", "expected"), [("0.25.0", 137), ("0.26.0", 265)])
def test_a_window_keeps_the_tokens_of_every_step_under_way(name: str, expected: int) -> None:
    rules = facts.rules(release(name))

    assert pages(cache(WINDOW, name), limits(131_072), 131_072, rules) == expected


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("0.10.2", StateMode.NONE, 1),
        ("0.11.1", StateMode.NONE, 8),
        ("0.15.0", StateMode.NONE, 3),
        ("0.15.0", StateMode.ALIGN, 4),
        ("0.15.0", StateMode.ALL, 8),
        ("0.22.0", StateMode.ALL, 10),
        ("0.31.0", StateMode.ALL, 10),
        ("0.32.0", StateMode.ALL, 3),
    ],
)
def test_states_that_one_request_keeps(name: str, mode: StateMode, expected: int) -> None:
    state = StateCache(
        block_tokens=512, states=(State(shape=(8,), dtype=Dtype.F32),), speculative_blocks=2, checkpoint_blocks=0
    )
    told = Limits(context_tokens=4096, step_tokens=512, state_mode=mode)

    assert pages(state, told, 4096, facts.rules(release(name))) == expected


def test_context_parallelism_splits_what_keeps_all_and_refuses_windows() -> None:
    told = Limits(context_tokens=1000, step_tokens=512, decode_ranks=4, prefill_ranks=2)

    assert pages(cache(FULL, "0.11.0"), told, 1000, facts.rules(release("0.11.0"))) == 16
    assert pages(cache(FULL, "0.12.0"), told, 1000, facts.rules(release("0.12.0"))) == 8
    assert pages(cache(FULL, "0.26.0"), told, 1000, facts.rules(release("0.26.0"))) == 16
    refused = plan(one(oss("0.32.0"), 4 * GIB), told, release("0.32.0"))
    assert refused == Refusal(reason=Reason.SPLIT_WINDOW)


# --- groups


@pytest.mark.parametrize(
    ("name", "full", "windows", "sizes"),
    [
        ("0.11.0", 13, 12, [12, 7, 6]),
        ("0.12.0", 13, 12, [12, 13]),
        ("0.17.1", 17, 12, [12, 9, 8]),
        ("0.18.0", 17, 12, [12, 17]),
    ],
)
def test_a_draft_is_padded_for_rather_than_dealt_into_more_groups(
    name: str, full: int, windows: int, sizes: list[int]
) -> None:
    pool = planned(oss(name, full=full, windows=windows), limits(8192), name)

    assert [len(group.names) for group in pool.groups] == sizes


def test_layers_were_dealt_in_slices_and_full_attention_stood_first_until_0_10() -> None:
    old, new = planned(oss("0.10.2", full=2, windows=4), limits(8192), "0.10.2"), oss("0.11.0", full=2, windows=4)

    assert [group.names for group in old.groups] == [
        ("layers.4", "layers.5"),
        ("layers.0", "layers.1"),
        ("layers.2", "layers.3"),
    ]
    assert [group.names for group in planned(new, limits(8192), "0.11.0").groups] == [
        ("layers.0", "layers.2"),
        ("layers.1", "layers.3"),
        ("layers.4", "layers.5"),
    ]


def test_before_0_9_1_windows_kept_everything() -> None:
    pool = planned(oss("0.9.0"), limits(131_072), "0.9.0", available=16 * GIB)

    assert len(pool.groups) == 1
    assert pool.blocks == 16 * GIB // (24 * 32_768)
    assert pool.tokens == pool.blocks * 16


def test_the_first_release_with_windows_of_their_own_forgot_the_override() -> None:
    told = replace(limits(8192), override_blocks=7)

    assert planned(oss("0.9.1"), told, "0.9.1").blocks == 4 * GIB // (12 * 32_768)
    assert planned(oss("0.9.2"), told, "0.9.2").blocks == 7


def test_pages_of_different_size_get_longer_blocks_from_0_12_on() -> None:
    narrow = Attention(heads=8, kv_heads=2, head_dim=64, window=128)
    found = named((cache(FULL, "0.12.0"), 4), (cache(narrow, "0.12.0"), 4))

    assert plan(one(found, GIB), limits(8192), release("0.11.0")) == Refusal(reason=Reason.PAGES_DIFFER)
    assert planned(dict(found), limits(8192), "0.12.0", GIB).block_tokens == (16, 64)


def test_without_the_hybrid_manager_windows_keep_everything() -> None:
    pool = planned(oss("0.32.0"), replace(limits(8192), hybrid=False), "0.32.0")

    assert [len(group.names) for group in pool.groups] == [24]


def test_pages_side_by_side_need_blocks_outermost() -> None:
    wide = Attention(heads=8, kv_heads=8, head_dim=96, window=128)
    found = named((cache(FULL, "0.32.0"), 4), (cache(wide, "0.32.0"), 4))
    apart = planned(dict(found), replace(limits(8192), layout=Layout.BLHNC), "0.32.0", GIB)
    slots = planned(dict(found), limits(8192), "0.32.0", GIB)

    assert [len(group.names) for group in apart.groups] == [4, 2, 2]  # two wide pages fit the block of four narrow ones
    assert apart.shares[0].bytes_per_block == 4 * 32_768
    assert [len(group.names) for group in slots.groups] == [4, 4]
    assert slots.shares[0].bytes_per_block == 4 * 49_152


# --- workers


def test_a_pipeline_has_as_many_blocks_as_its_poorest_stage() -> None:
    found = oss("0.32.0")
    names = list(found)
    stages = [
        Worker(layers={name: found[name] for name in names[:12]}, available=2 * GIB),
        Worker(layers={name: found[name] for name in names[12:]}, available=GIB),
    ]
    pool = plan(stages, limits(8192), release("0.32.0"))

    assert isinstance(pool, Pool)
    assert pool.blocks == GIB // (12 * 32_768)
    assert [share.size for share in pool.shares] == [pool.blocks * 12 * 32_768] * 2


def test_up_to_0_11_0_the_richer_worker_kept_memory_for_blocks_that_no_one_used() -> None:
    found = oss("0.11.0")
    both = [Worker(layers=found, available=2 * GIB), Worker(layers=found, available=GIB)]
    old, new = plan(both, limits(8192), release("0.11.0")), plan(both, limits(8192), release("0.11.1"))

    assert isinstance(old, Pool)
    assert isinstance(new, Pool)
    assert old.blocks == new.blocks
    assert old.shares[0].size > new.shares[0].size == new.shares[1].size


def test_from_0_14_to_0_18_only_the_first_group_was_checked() -> None:
    tight = 12 * 32_768 * 600  # 600 blocks; one request takes 137 for windows and 512 for the rest

    assert isinstance(plan(one(oss("0.18.1"), tight), limits(8192), release("0.18.1")), Pool)
    refused = plan(one(oss("0.19.0"), tight), limits(8192), release("0.19.0"))
    assert isinstance(refused, Refusal)
    assert refused.reason is Reason.TOO_SMALL


def test_a_model_that_keeps_nothing_has_one_block() -> None:
    pool = planned({}, limits(8192), "0.32.0")

    assert (pool.blocks, pool.tokens, pool.shares[0].tensors) == (1, None, ())


def test_a_length_left_open_is_the_longest_that_fits() -> None:
    told = replace(limits(131_072), auto_length=True)
    found = named((cache(FULL, "0.32.0"), 4))

    assert planned(dict(found), told, "0.32.0", 101 * 4 * 32_768).context_tokens == 1600
    assert plan(one(found, 4 * 32_768), told, release("0.32.0")) == Refusal(reason=Reason.NOTHING_FITS)


@pytest.mark.parametrize(
    ("name", "captured", "refused"),
    [("0.17.1", (64, 128, 256), False), ("0.19.1", (64, 128), False), ("0.20.0", (64, 128, 256), True)],
)
def test_graphs_of_more_sequences_than_blocks_die_are_left_out_or_are_refused(
    name: str, captured: tuple[int, ...], *, refused: bool
) -> None:
    asked = release(name)

    assert facts.captured_beside_states.at(asked)((64, 128, 256), 154) == captured
    assert facts.refused_beside_states.at(asked)(256, 154) is refused
    assert facts.refused_beside_states.at(asked)(154, 154) is False


# --- blocks that hold a whole state


@pytest.mark.parametrize(
    ("name", "kernels", "mode", "expected"),
    [
        ("0.10.0", Kernels(latent=True), StateMode.NONE, 1008),
        ("0.11.1", Kernels(latent=True), StateMode.NONE, 1024),
        ("0.11.1", Kernels(latent=True, cutlass_latent=True), StateMode.NONE, 1024),
        ("0.11.1", Kernels(wide_on_blackwell=True), StateMode.NONE, 1024),
        ("0.18.0", Kernels(wide_on_blackwell=True), StateMode.NONE, 1008),
        ("0.19.0", Kernels(), StateMode.ALL, 1024),
        ("0.20.0", Kernels(smallest_block=64), StateMode.NONE, 1024),
        ("0.27.0", Kernels(latent=True), StateMode.ALIGN, 1024),
        ("0.32.0", Kernels(every_smallest=(48,)), StateMode.NONE, 1008),
        ("0.32.0", Kernels(every_smallest=(64,)), StateMode.NONE, 1024),
    ],
)
def test_a_block_is_the_shortest_that_kernels_take_and_a_state_fits(
    name: str, kernels: Kernels, mode: StateMode, expected: int
) -> None:
    found = layers.hybrid_block(
        Pages(state=1000 * 2048, token=2048), release(name), mode=mode, chunk_tokens=256, kernels=kernels
    )

    assert found == expected
