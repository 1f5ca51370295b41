"""The production article, claim by claim, and its table of step sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.flags.find import FLAGS
from oomph.ledger.ledger import Account
from oomph.units import Bytes
from rederived.asking import RELEASE, flags, pool, proposed, start, users
from rederived.checklist import EIGHT
from rederived.claim import Claim, Verdict, gb, of

_MODEL: Final = "Qwen2-72B"
_CARDS: Final = "a100-80gb x4"
_LONG, _PEOPLE = 32_768, 64
_STEP: Final = "max_num_batched_tokens"


def claims() -> Iterator[Claim]:
    """In the order of the article."""
    yield _formula()
    yield _start_up()
    yield _gaps()
    yield _distinct()
    yield _blocks()
    yield _ready()
    yield _flags()
    yield _careful()


def _formula() -> Claim:
    forecast = start(_MODEL, _CARDS, tensor_parallel_size=4, max_model_len=_LONG).forecast()
    found = Bytes(0) if forecast.kv is None or forecast.kv.need is None else Bytes(4 * forecast.kv.need)
    said = Bytes(2 * 80 * 64 * 128 * 2 * _LONG)  # keys and values, layers, heads, their width, bytes
    return Claim(
        says="a request takes length × layers × heads × width × 2 × bytes",
        found=f"for 72B at 32k that is {gb(said)}; it takes {gb(found)}: {said / found:.0f} times too much, because "
        "KV heads count, 8 of 64",
        verdict=of(right=said == found),
    )


def _start_up() -> Claim:
    usual, low = (start(_MODEL, _CARDS, tensor_parallel_size=4, gpu_memory_utilization=share) for share in (0.90, 0.85))
    lost = Bytes(pool(usual.forecast()) - pool(low.forecast()))
    return Claim(
        says="start-up OOM because 0.90 fills the GPU: take 0.85",
        found=f"72B on 4 × A100: 0.90 {usual.forecast().verdict}; 0.85 takes {lost} per GPU from the pool and from "
        "nothing else. Where there is too little room for the pool, a lower share makes it less",
        verdict=of(right=usual.forecast().verdict != "fits"),
        instead="lower it only where start-check, capture, warm-up or serving fail",
    )


def _gaps() -> Claim:
    return Claim(
        says="free blocks that do not lie together keep a long request out",
        found="a request has a table of blocks, and any free block will do (v1/core/block_pool.py); what is lost is "
        "less than one block of 16 tokens per request, as the article's example of 17 tokens shows",
        verdict=Verdict.WRONG,
    )


def _distinct() -> Claim:
    on, off = (
        pool(start(_MODEL, _CARDS, tensor_parallel_size=4, enable_prefix_caching=cached).forecast())
        for cached in (True, False)
    )
    return Claim(
        says="many distinct prefixes exhaust memory; off below 30 % hits",
        found=f"the pool is {on} per GPU with prefix caching and {off} without; unused cached blocks are free blocks",
        verdict=of(right=on != off),
        instead="leave it on",
    )


def _blocks() -> Claim:
    small, usual = (
        start(_MODEL, _CARDS, tensor_parallel_size=4, max_model_len=_LONG, block_size=tokens).forecast()
        for tokens in (16, 32)
    )
    token = 0 if usual.kv is None else usual.kv.bytes_per_block // usual.kv.block_tokens
    saved = Bytes((16 - 8) // 2 * token * _PEOPLE)
    return Claim(
        says="`--block-size 8` for mixed lengths, and adjust the share to it",
        found=f"the pool is {pool(small)} with blocks of 16 and {pool(usual)} with 32. Blocks of 8 would save half a "
        f"block of each of {_PEOPLE} requests, {saved} per GPU; FlashAttention, FlashInfer and Triton take multiples "
        "of 16 (v1/attention/backends/)",
        verdict=of(right=pool(small) != pool(usual)),
        instead="leave it",
    )


def _ready() -> Claim:
    written = start(
        _MODEL,
        _CARDS,
        tensor_parallel_size=4,
        gpu_memory_utilization=0.88,
        max_model_len=_LONG,
        max_num_seqs=_PEOPLE,
        max_num_batched_tokens=24_576,
    )
    bare = start(_MODEL, _CARDS)
    best = proposed(bare, _LONG, _PEOPLE)
    found = best.proposal
    return Claim(
        says="ready for production: 72B on 4 × A100 80 GB, 0.88, 64 × 32,768, steps of 24,576",
        found=f"{written.forecast().verdict}; holds {users(written, _LONG).words} requests of full length at once, "
        f"the rest of {_PEOPLE} waits",
        verdict=Verdict.PARTLY if written.forecast().verdict == "fits" else Verdict.WRONG,
        instead=""
        if found is None
        else f"`fit`: {found.judged.users} at once with {flags(found.change)}; {' '.join(best.instead[:1])}",
    )


def _flags() -> Claim:
    gone = next(flag for flag in FLAGS if flag.key == "swap_space")
    there = RELEASE in gone.span
    return Claim(
        says="`--swap-space 8`, `--max-num-on-the-fly-batches 4`",
        found=f"{RELEASE} {'has' if there else 'no longer has'} the first; no release ever had the second",
        verdict=of(right=there),
        instead="drop both; a preempted request is computed again",
    )


def _careful() -> Claim:
    written = start(
        _MODEL,
        _CARDS,
        tensor_parallel_size=4,
        gpu_memory_utilization=0.75,
        max_num_seqs=16,
        max_num_batched_tokens=8192,
    )
    usual = start(_MODEL, _CARDS, tensor_parallel_size=4)
    return Claim(
        says="after an emergency: 0.75, 16 sequences, steps of 8,192",
        found=f"{written.forecast().verdict}; {users(written, _LONG).words} requests of 32k at once, "
        f"{users(usual, _LONG).words} with the defaults",
        verdict=Verdict.PARTLY,
        instead="the defaults start as surely" if written.forecast().verdict == usual.forecast().verdict else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A row of the table of step sizes: a card, a model that people run on it, and what is recommended."""

    words: str
    name: str
    gpu: str
    tokens: int
    ranks: int = 1

    def peak(self, *, recommended: bool) -> tuple[int, Bytes, Bytes]:
        """Tokens of a step, what a step takes, and the pool that is left."""
        change = {_STEP: self.tokens} if recommended else {}
        forecast = start(self.name, self.gpu, tensor_parallel_size=self.ranks, max_model_len=4096, **change).forecast()
        taken = forecast.ledger.of(Account.ACTIVATIONS)
        size = Bytes(0) if taken is None else taken.likely
        return forecast.settings.whole(_STEP), size, pool(forecast)


STEPS: Final = (
    Step(words="24 GB, 8B", name=EIGHT, gpu="rtx-4090", tokens=4096),
    Step(words="40 GB, 13B", name="Llama-2-13B", gpu="a100-40gb", tokens=8192),
    Step(words="80 GB, 8B", name=EIGHT, gpu="a100-80gb", tokens=16_384),
    Step(words="4 × 80 GB, 72B", name=_MODEL, gpu=_CARDS, ranks=4, tokens=24_576),
)
