"""Start-ups that really failed, or really printed these figures, from a small config and the flags alone.

(a) and (b) are the two crashes that oomph was begun for; (c), (d) and (e) are public threads with the same mechanism.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm import kv
from oomph.engines.vllm.kv import Kept
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import resolve
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.kv import GraphProfile, KvPool
from oomph.ledger.settings import Flags, Settings, Value
from oomph.units import GIB, MIB, Bytes

# Only what the KV cache follows from: the towers and the mixture are small, since they do not matter here.
VISION = {
    "depth": 1,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 4,
    "num_position_embeddings": 64,
    "out_hidden_size": 5120,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "in_channels": 3,
    "deepstack_visual_indexes": [],
}
DELTA = {
    "head_dim": 256,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_value_head_dim": 128,
    "mamba_ssm_dtype": "float32",
    "max_position_embeddings": 262_144,
    "mtp_num_hidden_layers": 1,
    "hidden_size": 5120,
    "vocab_size": 248_320,
}
EXPERTS = {"num_experts": 8, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512}


def model(architecture: str, layers: int, **text: object) -> dict[str, object]:
    """A Qwen of these sizes: three delta layers, then one of attention."""
    kinds = (["linear_attention"] * 3 + ["full_attention"]) * (layers // 4)
    return {
        "architectures": [architecture],
        "dtype": "bfloat16",
        "vision_config": VISION,
        "text_config": {**DELTA, "num_hidden_layers": layers, "layer_types": kinds, **text},
    }


QWEN36_27B = model(
    "Qwen3_5ForConditionalGeneration",
    64,
    intermediate_size=17_408,
    linear_num_value_heads=48,
    num_attention_heads=24,
    num_key_value_heads=4,
)
QWEN36_35B = model(
    "Qwen3_5MoeForConditionalGeneration",
    40,
    linear_num_value_heads=32,
    num_attention_heads=16,
    num_key_value_heads=2,
    **EXPERTS,
)
QWEN35_122B = model(
    "Qwen3_5MoeForConditionalGeneration",
    48,
    linear_num_value_heads=64,
    num_attention_heads=32,
    num_key_value_heads=2,
    **EXPERTS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start-up, as far as flags decide it."""

    settings: Settings
    kept: Kept
    at: str

    @property
    def profile(self) -> GraphProfile | None:
        return kv.graph_profile(self.kept, self.settings, release(self.at))

    def pool(self, available: int | None = None) -> KvPool:
        found = kv.pool(self.kept, release(self.at), available=None if available is None else Bytes(available))
        assert isinstance(found, KvPool), found
        return found


def start(config: dict[str, object], *, at: str, device: str, **flags: Value) -> Start:
    found = geometry(config)
    asked, given, card = release(at), Flags(flags), CATALOGUE[device]
    settings = resolve(given, device=card, release=asked, context_tokens=found.context_tokens)
    return Start(settings=settings, kept=kv.kept(found, given, settings, device=card, release=asked), at=at)


def guessing(tokens: int) -> str:
    return f'{{"method": "mtp", "num_speculative_tokens": {tokens}}}'


def seed_a(at: str = "0.19.1", /, **flags: Value) -> Start:
    """Qwen3.6-27B with fp8 KV and two guessed tokens on an RTX 5090."""
    given: dict[str, Value] = {"kv_cache_dtype": "fp8", "speculative_config": guessing(2)}
    return start(QWEN36_27B, at=at, device="rtx-5090", **{**given, **flags})


def seed_b(at: str = "0.19.1", /, **flags: Value) -> Start:
    """The same model without guesses on an RTX 3090."""
    return start(QWEN36_27B, at=at, device="rtx-3090", **{"kv_cache_dtype": "fp8_e5m2", **flags})


def profile(of: Start) -> GraphProfile:
    found = of.profile
    assert found is not None
    return found


# --- the two crashes


def test_seed_a_asks_for_26_gib_before_any_budget_exists() -> None:
    run = seed_a()
    pool, thrown_away = run.pool(), profile(run)

    assert (pool.page, pool.block_tokens) == (3_276_800, 1_600)
    assert sorted(group.layers for group in pool.groups) == [16, 16, 16, 17]
    assert (thrown_away.blocks, thrown_away.tensors) == (512, 17)
    assert thrown_away.tensor == 512 * 3_276_800 == 1.5625 * GIB
    assert thrown_away.total == 17 * thrown_away.tensor == 26.5625 * GIB


def test_seed_b_asks_for_more_than_its_whole_card() -> None:
    run = seed_b()
    pool, thrown_away = run.pool(), profile(run)

    assert (pool.page, pool.block_tokens) == (3_211_264, 1_568)
    assert [group.layers for group in pool.groups] == [16] * 4
    assert (thrown_away.blocks, thrown_away.tensors) == (512, 16)
    assert thrown_away.tensor == 1.53125 * GIB
    assert thrown_away.total == 24.5 * GIB > CATALOGUE["rtx-3090"].total


def test_the_messages_of_both_crashes_are_the_size_of_one_tensor() -> None:
    assert f"Tried to allocate {profile(seed_a()).tensor / GIB:.2f} GiB" == "Tried to allocate 1.56 GiB"
    assert f"Tried to allocate {profile(seed_b()).tensor / GIB:.2f} GiB" == "Tried to allocate 1.53 GiB"


@pytest.mark.parametrize(
    "inert",
    [
        {"gpu_memory_utilization": 0.5},
        {"gpu_memory_utilization": 0.88},
        {"gpu_memory_utilization": 0.95},
        {"max_model_len": 2_048},
        {"max_model_len": 65_536},
        {"num_gpu_blocks_override": 64},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [seed_a, seed_b])
def test_the_knobs_that_people_turned_change_nothing(seed: Callable[..., Start], inert: dict[str, Value]) -> None:
    plain, turned = seed(), seed(**inert)

    assert turned.profile == plain.profile
    assert turned.pool().page == plain.pool().page


def test_another_kv_dtype_changes_the_tokens_of_a_block_and_hardly_its_bytes() -> None:
    own = seed_a(kv_cache_dtype="auto")

    assert own.pool().block_tokens == 800
    assert profile(own).total == profile(seed_a()).total


# --- how many blocks, and from what


@pytest.mark.parametrize(
    ("flags", "blocks", "gib"),
    [
        ({}, 512, 26.5625),
        ({"max_num_seqs": 32}, 192, 9.9609),
        ({"max_num_seqs": 20}, 120, 6.2256),
        ({"max_num_seqs": 16}, 96, 4.9805),
        ({"max_num_seqs": 10}, 56, 2.9053),  # 2 × 10 × 3 = 60 is not on the grid
        ({"max_num_seqs": 8}, 48, 2.4902),
        ({"max_cudagraph_capture_size": 64}, 64, 3.3203),
        ({"max_cudagraph_capture_size": 32}, 32, 1.6602),
        ({"cudagraph_capture_sizes": (1, 2, 4, 8, 16, 24, 32)}, 32, 1.6602),
    ],
    ids=str,
)
def test_seed_a_has_a_block_for_every_token_of_the_largest_graph(
    flags: dict[str, Value], blocks: int, gib: float
) -> None:
    thrown_away = profile(seed_a(**flags))

    assert thrown_away.blocks == blocks
    assert thrown_away.total == blocks * 53.125 * MIB
    assert thrown_away.total / GIB == pytest.approx(gib, abs=5e-5)


@pytest.mark.parametrize(
    ("flags", "blocks", "gib"),
    [
        ({"max_num_seqs": 16}, 32, 1.5312),
        ({"max_num_seqs": 8}, 16, 0.7656),
        ({"max_cudagraph_capture_size": 64}, 64, 3.0625),
        ({"max_cudagraph_capture_size": 32}, 32, 1.5312),
        ({"max_cudagraph_capture_size": 16}, 16, 0.7656),
    ],
    ids=str,
)
def test_seed_b_has_a_block_for_every_token_of_the_largest_graph(
    flags: dict[str, Value], blocks: int, gib: float
) -> None:
    thrown_away = profile(seed_b(**flags))

    assert thrown_away.blocks == blocks
    assert thrown_away.total == blocks * 49 * MIB
    assert thrown_away.total / GIB == pytest.approx(gib, abs=1e-4)


@pytest.mark.parametrize("seed", [seed_a, seed_b])
@pytest.mark.parametrize("flags", [{"enforce_eager": True}, {"kv_cache_memory_bytes": 5 << 30}], ids=str)
def test_without_graphs_or_with_a_given_pool_nothing_is_thrown_away(
    seed: Callable[..., Start], flags: dict[str, Value]
) -> None:
    assert seed(**flags).profile is None


SINCE_0_18 = [str(each) for each in HISTORY.releases if release("0.18.0") <= each < release("0.26.0")]
SINCE_0_26 = [str(each) for each in HISTORY.releases if release("0.26.0") <= each]
DELTA_NETS = [str(each) for each in HISTORY.releases if release("0.17.0") <= each < release("0.18.0")]


def test_no_release_before_0_18_profiles_graphs() -> None:
    assert DELTA_NETS
    assert [seed(at).profile for seed in (seed_a, seed_b) for at in DELTA_NETS] == [None] * 2 * len(DELTA_NETS)


@pytest.mark.parametrize("at", SINCE_0_18)
def test_until_0_25_blocks_follow_from_the_largest_graph(at: str) -> None:
    for sequences, guesses, blocks in ((256, 2, 512), (16, 2, 96), (10, 2, 56), (8, 2, 48), (16, 0, 32), (8, 0, 16)):
        seed = seed_a if guesses else seed_b

        assert profile(seed(at, max_num_seqs=sequences)).blocks == blocks, (sequences, guesses)
    assert profile(seed_a(at)).total == 26.5625 * GIB
    assert profile(seed_b(at)).total == 24.5 * GIB


@pytest.mark.parametrize("at", SINCE_0_26)
def test_since_0_26_blocks_are_sequences_where_these_are_fewer(at: str) -> None:
    for sequences in (256, 16, 10, 8):
        assert profile(seed_a(at, max_num_seqs=sequences)).blocks == sequences
        assert profile(seed_b(at, max_num_seqs=sequences)).blocks == sequences
    assert profile(seed_a(at, max_cudagraph_capture_size=32)).blocks == 32
    assert profile(seed_a(at)).total == 13.28125 * GIB
    assert profile(seed_b(at)).total == 12.25 * GIB


def test_since_0_29_the_message_would_name_the_whole_pool() -> None:
    assert {profile(seed_a(at)).tensors for at in SINCE_0_26 if release(at) < release("0.29.0")} == {17}
    assert {profile(seed_a(at)).tensors for at in SINCE_0_26 if release(at) >= release("0.29.0")} == {1}
    assert f"{profile(seed_a('0.32.0')).tensor / GIB:.2f}" == "13.28"
    assert f"{profile(seed_b('0.32.0')).tensor / GIB:.2f}" == "12.25"


# --- public threads


def test_case_c_a_share_of_0_6_does_not_help() -> None:
    run = start(QWEN36_35B, at="0.20.1", device="rtx-4090", kv_cache_dtype="fp8", gpu_memory_utilization=0.6)
    pool, thrown_away = run.pool(), profile(run)

    assert (pool.page, pool.block_tokens) == (2_146_304, 2_096)
    assert (thrown_away.blocks, thrown_away.tensors) == (512, 10)
    assert f"{thrown_away.tensor / GIB:.2f} {thrown_away.total / GIB:.2f}" == "1.02 10.23"


@pytest.mark.parametrize("printed", [17.355, 17.36, 17.3649])
def test_case_d_prints_188_640_tokens_and_5_23x_in_17_36_gib(printed: float) -> None:
    run = start(QWEN35_122B, at="0.18.1", device="h100-80gb", max_model_len=131_072, enable_prefix_caching=True)
    pool = run.pool(int(printed * GIB))

    assert (pool.page, pool.block_tokens, pool.blocks) == (4_292_608, 2_096, 361)
    assert pool.tokens == 188_640
    assert f"{pool.concurrency:.2f}x" == "5.23x"


@pytest.mark.parametrize(("guesses", "tokens", "concurrency"), [(1, 20_024, "1.22x"), (3, 16_384, "1.00x")])
def test_case_e_prints_what_33_blocks_hold(guesses: int, tokens: int, concurrency: str) -> None:
    run = start(QWEN36_27B, at="0.20.2", device="rtx-3090", max_model_len=16_384, speculative_config=guessing(guesses))
    pool = run.pool(33 * 55_705_600)

    assert (pool.page, pool.block_tokens, pool.blocks) == (3_276_800, 800, 33)
    assert pool.tokens == tokens
    assert f"{pool.concurrency:.2f}x" == concurrency
