"""One number by hand for each formula, then what must hold for all; `tests/engine` asks vLLM itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import Release, release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas import batches, budget, captures, profiling
from oomph.engines.vllm.formulas.batches import Batch, Usage
from oomph.engines.vllm.formulas.captures import Wish
from oomph.engines.vllm.pool import layers
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Capability
from oomph.ledger.geometry import Attention, Latent
from oomph.units import GIB
from strategies import releases

LLAMA_8B = Attention(heads=32, kv_heads=8, head_dim=128)
DEEPSEEK = Latent(heads=128, rank=512, rope_dim=64, indexer_dim=128)
NEWEST = release("0.32.0")

PROFILE = budget.Profile(
    total=24 * GIB,
    free_at_start=23 * GIB,  # 1 GiB is somebody else's
    free_at_peak=3 * GIB,
    free_after=5 * GIB,
    reserved_at_start=0,
    reserved_before=15 * GIB,
    reserved_after=16 * GIB,
    weights=15 * GIB,
    allocated_before=15 * GIB,
    peak=17 * GIB,
    allocated_after=15 * GIB,
)


def test_a_page_of_llama_3_8b_is_64_kib() -> None:
    assert (
        layers.attention(LLAMA_8B, NEWEST, block_tokens=16, kept=KvFormat.BFLOAT16).page
        == 16 * 2 * 8 * 128 * 2
        == 65536
    )


@pytest.mark.parametrize(("ranks", "heads"), [(1, 8), (2, 4), (8, 1), (16, 1)])
def test_with_more_ranks_than_heads_each_keeps_one(ranks: int, heads: int) -> None:
    assert (
        layers.attention(LLAMA_8B, NEWEST, block_tokens=16, kept=KvFormat.BFLOAT16, ranks=ranks).page
        == heads * 16 * 256 * 2
    )


def test_a_latent_page_of_deepseek_v3_is_73_728_bytes() -> None:
    assert layers.latent(DEEPSEEK, NEWEST, block_tokens=64, kept=KvFormat.BFLOAT16).page == 73728


def test_a_sparse_page_of_deepseek_v3_2_keeps_656_bytes_a_token_and_its_indexer_132() -> None:
    assert layers.latent(DEEPSEEK, NEWEST, block_tokens=64, kept=KvFormat.FP8_DS_MLA).page == 64 * 656
    assert layers.indexer(DEEPSEEK, block_tokens=64).page == 64 * 132


def test_the_share_of_a_device_is_rounded_up_from_0_14_0_on() -> None:
    before = facts.requested.at(release("0.13.0"))(total=24 * GIB + 1, share=0.9)
    since = facts.requested.at(release("0.14.0"))(total=24 * GIB + 1, share=0.9)

    assert before < since == 23192823400
    assert since - before < 1


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("0.6.0", 20),  # 23 - 3: what torch kept in its cache counts
        ("0.6.4", 17 + 4),  # the peak, and 19 in use of which 15 are torch's
        ("0.6.5", 18 - 1 + 2),
        ("0.7.0", 15 + 2 + 2),  # weights, activations, 3 GiB outside torch of which 1 was there before
        ("0.8.0", 17 + 4),
        ("0.9.1", 15 + 2 + 2),
        ("0.26.0", 15 + 2 + 2),
        ("0.27.0", 18 + 2),  # what is gone from the device, and the transient peak
    ],
)
def test_what_is_not_kv_is_counted_in_the_way_of_the_release(text: str, gib: int) -> None:
    assert facts.non_kv.at(release(text))(PROFILE) == gib * GIB


@given(releases)
def test_a_larger_share_never_leaves_less_for_kv(asked: Release) -> None:
    def left(share: float) -> int:
        requested = facts.requested.at(asked)(total=PROFILE.total, share=share)
        return budget.available(requested=requested, non_kv=facts.non_kv.at(asked)(PROFILE))

    assert left(0.8) <= left(0.9) <= left(0.95)


@pytest.mark.parametrize(
    ("text", "blocks", "blocks_v2"),
    [("0.17.1", None, None), ("0.18.0", 512, None), ("0.25.1", 512, None), ("0.26.0", 256, None), ("0.29.0", 256, 256)],
)
def test_the_pool_in_which_graphs_are_profiled(text: str, blocks: int | None, blocks_v2: int | None) -> None:
    asked = release(text)

    assert facts.graph_profile_blocks.at(asked)(sequences=256, largest_capture=512) == blocks
    assert facts.graph_profile_blocks_v2.at(asked)(sequences=256, largest_capture=512) == blocks_v2


def test_without_graphs_the_profiling_pool_has_one_block() -> None:
    assert profiling.one_block_per_token(sequences=256, largest_capture=0) == 1
    assert profiling.one_block_per_sequence(sequences=256, largest_capture=0) == 1


@pytest.mark.parametrize(
    ("text", "gpu", "batch"),
    [
        ("0.6.0", "h100-80gb", (256, 2048)),
        ("0.8.0", "rtx-3090", (1024, 2048)),
        ("0.8.4", "rtx-3090", (256, 2048)),
        ("0.8.4", "a100-80gb", (256, 2048)),
        ("0.8.5", "a100-80gb", (1024, 8192)),
        ("0.9.0", "a100-80gb", (256, 2048)),
        ("0.19.1", "h100-80gb", (1024, 8192)),
        ("0.27.1", "b200", (1024, 8192)),
        ("0.28.0", "b200", (1024, 16384)),
        ("0.32.0", "rtx-pro-6000", (1024, 8192)),
    ],
)
def test_a_server_takes_as_many_sequences_and_tokens_as_its_device_class(
    text: str, gpu: str, batch: tuple[int, int]
) -> None:
    found = facts.batch.at(release(text))(CATALOGUE[gpu], Usage.SERVER)

    assert (found.sequences, found.tokens) == batch


SMALL = Batch(sequences=256, tokens=2048)


@pytest.mark.parametrize(
    ("text", "sequences", "tokens", "context", "batch"),
    [
        ("0.6.0", None, None, 8192, (256, 8192)),  # a step must hold a whole prompt
        ("0.6.0", None, None, 131072, (256, 512)),  # long contexts are taken in chunks
        ("0.6.5", None, None, 131072, (256, 2048)),
        ("0.10.0", None, 100, 8192, (256, 100)),
        ("0.10.1", None, 100, 8192, (100, 100)),
        ("0.11.0", 4, None, 256, (4, 2048)),
        ("0.11.1", 4, None, 256, (4, 1024)),  # four sequences can bring no more
    ],
)
def test_sequences_and_tokens_limit_each_other(
    text: str, sequences: int | None, tokens: int | None, context: int, batch: tuple[int, int]
) -> None:
    limits = facts.batch_limits.at(release(text))
    found = limits(SMALL, sequences=sequences, tokens=tokens, context_tokens=context)

    assert (found.sequences, found.tokens) == batch


@pytest.mark.parametrize(
    ("text", "wish", "count", "last"),
    [
        ("0.7.0", Wish(sequences=256, tokens=2048), 35, 256),
        ("0.8.0", Wish(sequences=16, tokens=2048), 67, 512),
        ("0.11.0", Wish(sequences=16, tokens=2048), 7, 32),
        ("0.19.1", Wish(sequences=256, tokens=2048), 51, 512),
        ("0.19.1", Wish(sequences=13, tokens=2048), 6, 24),  # 26 is off the grid
        ("0.19.1", Wish(sequences=10, tokens=2048, speculative_tokens=2), 10, 56),
        ("0.20.1", Wish(sequences=256, tokens=100), 16, 100),
        ("0.28.0", Wish(sequences=1024, tokens=16384, capability=Capability(major=10, minor=0)), 83, 1024),
        ("0.29.0", Wish(sequences=10, tokens=2048, speculative_tokens=2), 14, 56),
        ("0.31.0", Wish(sequences=13, tokens=2048), 7, 24),
        ("0.19.1", Wish(sequences=256, tokens=2048, largest=64), 11, 64),
        ("0.19.1", Wish(sequences=256, tokens=2048, sizes=(8, 1, 8, 4096)), 2, 8),
    ],
)
def test_the_grid_of_captured_sizes(text: str, wish: Wish, count: int, last: int) -> None:
    sizes = facts.capture_sizes.at(release(text))(wish)

    assert (len(sizes), sizes[-1]) == (count, last)


@given(releases, st.integers(1, 2048), st.integers(8, 1 << 15), st.integers(0, 8))
def test_captured_sizes_rise_and_stay_within_one_step(
    asked: Release, sequences: int, tokens: int, speculative_tokens: int
) -> None:
    wish = Wish(sequences=sequences, tokens=max(tokens, sequences), speculative_tokens=speculative_tokens)
    sizes = facts.capture_sizes.at(asked)(wish)

    assert list(sizes) == sorted(set(sizes))
    assert sizes[0] == 1
    assert sizes[-1] <= max(wish.tokens, sequences + 7)


def test_the_ceiling_of_the_grid_is_higher_on_data_centre_blackwells() -> None:
    def ceiling(major: int) -> int:
        wish = Wish(sequences=1024, tokens=8192, capability=Capability(major=major, minor=0))
        return captures.by_generation(wish)[-1]

    assert (ceiling(9), ceiling(10), ceiling(12)) == (512, 1024, 512)


def test_a_step_that_takes_whole_prompts_is_as_long_as_the_context() -> None:
    taken = batches.taken_apart(SMALL, sequences=None, tokens=None, context_tokens=4096, chunked=False)

    assert taken == Batch(sequences=256, tokens=4096)
