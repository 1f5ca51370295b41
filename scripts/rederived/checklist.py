"""The eight-step checklist, claim by claim."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.gate import Gate
from oomph.units import GIB, Bytes
from rederived.asking import pool, sent_at_once, start, users, weights
from rederived.claim import Claim, Verdict, about, differs, gb, in_gb, of

CARD: Final = "rtx-4090"  # the guides' 24 GB
EIGHT: Final = "Llama-3.1-8B"
SEVENTY: Final = "Llama-3.1-70B"
_PACKED: Final = "Llama-3.1-70B-AWQ"
_WHOLE, _LONG, _CHAT = 131_072, 32_768, 8192
_BURST: Final = 256
_DESKTOP: Final = Bytes(22 * 10**9)  # that is free with a monitor


def claims() -> Iterator[Claim]:
    """In the order of the guide."""
    yield _pool_by_length()
    yield _eighty()
    yield _shorter_saves()
    yield _share()
    yield _block_each()
    yield _burst()
    yield from _table()
    yield _packed_eight()
    yield _prefixes()
    yield _whole_card()
    yield _only_device()


def _pool_by_length() -> Claim:
    short, long = (start(EIGHT, CARD, max_model_len=length).forecast() for length in (_CHAT, _LONG))
    return Claim(
        says="`max_model_len` sizes the KV pool",
        found=f"8B on 24 GB: {pool(short)} at 8,192 tokens, {pool(long)} at 32,768",
        verdict=of(right=pool(short) != pool(long)),
        instead="it bounds one request, so it helps at the gate one-request only",
    )


def _eighty() -> Claim:
    forecast = start(SEVENTY, "h200 x2", tensor_parallel_size=2, max_model_len=_LONG).forecast()
    need = 0 if forecast.kv is None or forecast.kv.need is None else 2 * forecast.kv.need
    found = Bytes(8 * need)
    return Claim(
        says="70B at 32k with eight sequences: about 80 GB of KV",
        found=f"{gb(found)}, with 8 KV heads; {differs(80, in_gb(found))} in GB, {differs(80, found / GIB)} in GiB",
        verdict=about(80, in_gb(found)),
        instead="only if all eight are full; the pool is not made for them",
    )


def _shorter_saves() -> Claim:
    whole, long, short = (
        start(EIGHT, CARD, gpu_memory_utilization=0.85, max_model_len=length) for length in (_WHOLE, _LONG, _CHAT)
    )
    ends, starts = (each.forecast().stopped_at for each in (whole, long))
    return Claim(
        says="on 24 GB, 32k to 8k often decides between OOM and comfort",
        found=f"8B at 0.85: {'starts' if starts is None else 'fails'} at 32k, with {users(long, _LONG).words} full "
        f"request at once, and holds {users(short, _CHAT).words} of 8k; only the whole 128k "
        f"{'starts too' if ends is None else f'is refused, at {ends.step}'}",
        verdict=Verdict.PARTLY if ends is not None and starts is None else Verdict.WRONG,
        instead="once the pool holds one request of full length, a shorter limit frees nothing",
    )


def _share() -> Claim:
    usual, low = (start(EIGHT, CARD, gpu_memory_utilization=share) for share in (0.90, 0.85))
    lost = Bytes(pool(usual.forecast()) - pool(low.forecast()))
    most = int(_DESKTOP / usual.devices[0].total * 100) / 100
    return Claim(
        says="start at 0.85 on 24 GB cards, at 0.80 beside anything else",
        found=f"0.90 passes every gate on a card of one's own; 0.85 costs {lost} of pool. With 22 GB free the start "
        f"check passes up to {most:.2f}: there 0.90 is refused, and 0.80 gives away more than is needed",
        verdict=Verdict.PARTLY,
        instead=f"the largest share that is free: {most:.2f} beside a desktop, else the default",
    )


def _block_each() -> Claim:
    many, few = (start(EIGHT, CARD, max_model_len=_CHAT, max_num_seqs=count) for count in (_BURST, 16))
    freed = Bytes(pool(few.forecast()) - pool(many.forecast()))
    return Claim(
        says="each sequence consumes KV of its own, so `max_num_seqs` 16 instead of 256 saves it",
        found=f"{freed} more pool, which is what sampling and graphs take; a sequence that does not run has no block",
        verdict=of(right=freed > GIB),
        instead="leave it, unless the gate that fails is profile, graph-profile or warm-up",
    )


def _burst() -> Claim:
    seen = sent_at_once(start(EIGHT, CARD, max_model_len=_CHAT), _CHAT, _BURST)
    ended = sum(each.ended is not None for each in seen.served)
    return Claim(
        says="256 sequences allowed where 8 fit: the first burst drops the server",
        found=f"{_BURST} requests of 8,192 tokens at once, played through the scheduler: at most {seen.peak_running} "
        f"run, {seen.peak_waiting} wait, {seen.preemptions:,} preemptions, {ended} of {_BURST} are answered",
        verdict=of(right=ended < _BURST),
        instead="a cap spares the preemptions, and the queue is then outside of the engine",
    )


def _table() -> Iterator[Claim]:
    """The precisions of 70B, by weights alone."""
    rows = (("fp16", SEVENTY, 140), ("int8", "Llama-3.1-70B-GPTQ-8", 70), ("int4, AWQ", _PACKED, 38))
    for precision, name, said in rows:
        size = weights(start(name, "h200 x2", max_model_len=_CHAT).forecast())
        gate = start(name, CARD, max_model_len=_CHAT).forecast().stopped_at
        yield Claim(
            says=f"70B in {precision}: {said} GB, not on 24 GB",
            found=f"{gb(size)}, {differs(said, in_gb(size))}; {'starts' if gate is None else f'fails at {gate.step}'}",
            verdict=about(said, in_gb(size)) if gate is not None else Verdict.WRONG,
        )


def _packed_eight() -> Claim:
    begun = start("Llama-3.1-8B-GPTQ-4", CARD, max_model_len=_LONG)
    size = weights(begun.forecast())
    return Claim(
        says="8B in int4: about 5 GB, plenty of room at 32k on 24 GB",
        found=f"{gb(size)}, {differs(5, in_gb(size))}: embedding and head stay in 16 bits; "
        f"{users(begun, _LONG).words} requests of 32k at once",
        verdict=Verdict.PARTLY if about(5, in_gb(size)) is Verdict.WRONG else Verdict.RIGHT,
    )


def _prefixes() -> Claim:
    on, off = (start(EIGHT, CARD, enable_prefix_caching=cached).forecast() for cached in (True, False))
    return Claim(
        says="prefix caching reserves memory; below 30 % hits turn it off",
        found=f"{pool(on)} of pool with it, {pool(off)} without; a cached block is taken back when it is needed",
        verdict=of(right=pool(on) != pool(off)),
        instead="leave it on, whatever the hit rate",
    )


def _whole_card() -> Claim:
    gate = start(EIGHT, CARD, gpu_memory_utilization=1.0).forecast().stopped_at
    return Claim(
        says="never set the share to 1.0",
        found=_stopped(gate),
        verdict=of(right=gate is not None),
        instead="0.9 and more is free on a card of one's own as far as graphs fit beside",
    )


def _only_device() -> Claim:
    begun = start(_PACKED, CARD, max_model_len=_CHAT, max_num_seqs=4, cpu_offload_gb=20)
    held = users(begun, _CHAT)
    return Claim(
        says="vLLM keeps everything in device memory; 70B on 24 GB needs another runtime",
        found=f"with `--cpu-offload-gb 20` 70B AWQ likely starts on 24 GB and holds {held.likely} request of 8,192 "
        "tokens; every step then reads 20 GiB over the bus",
        verdict=of(right=held.likely == 0),
    )


def _stopped(gate: Gate | None) -> str:
    return "it starts" if gate is None else f"fails at {gate.step}: {gate.because}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A ready configuration, and whom it is for."""

    words: str
    written: Startup
    bare: Startup  # the same model and device, all flags open
    users: int  # for whom it makes room
    tokens: int = _CHAT


REFERENCES: Final = (
    Reference(
        words="24 GB, 8B, chat: 0.85, 32 × 8,192",
        written=start(EIGHT, CARD, gpu_memory_utilization=0.85, max_model_len=_CHAT, max_num_seqs=32),
        bare=start(EIGHT, CARD),
        users=32,
    ),
    Reference(
        words="A100 40 GB, 70B AWQ, agents: 0.88, 16 × 8,192",
        written=start(_PACKED, "a100-40gb", gpu_memory_utilization=0.88, max_model_len=_CHAT, max_num_seqs=16),
        bare=start(_PACKED, "a100-40gb"),
        users=16,
    ),
    Reference(
        words="24 GB, 70B, on premises: said not to fit",
        written=start(_PACKED, CARD, max_model_len=_CHAT),
        bare=start(_PACKED, CARD),
        users=1,
    ),
)
