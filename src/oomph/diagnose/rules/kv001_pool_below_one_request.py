"""The pool is smaller than one request of the longest length, and the engine refuses to promise such a request.

## What happened

There is a pool, but a request of `--max-model-len` tokens does not fit into it, even alone. Nothing ran out of memory.
The message says what such a request needs, what the pool has and, from 0.9.1 on, which length would fit.

```log fires
(EngineCore pid=1) ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.37 GiB). Based on the available memory, the estimated maximum model length is 76736. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
```

```log fires
INFO 01-11 15:51:18 llm_engine.py:275] # GPU blocks: 229, # CPU blocks: 512
ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (3664). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
```

```log silent
(EngineCore pid=1) INFO 06-10 10:00:09 [kv_cache_utils.py:864] GPU KV cache size: 76,736 tokens
(EngineCore pid=1) INFO 06-10 10:00:09 [kv_cache_utils.py:868] Maximum concurrency for 65,536 tokens per request: 1.17x
```

## Why

The pool takes what the budget has left. The longest request does not size it: it is only held against it. All figures
are of one rank, and do not add up over GPUs; where ranks differ, the poorest decides.

## What to do

The length that the message names, or shorter (`--max-model-len auto` from 0.14.0 on). Or a larger share, by just what is
missing; keys and values in 8 bits, which halves the need of attention; twice the ranks, which halves it too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.profiling import went_on
from oomph.diagnose.grounds.serving import fewer_tokens, share
from oomph.diagnose.grounds.usual import larger_share, more_ranks
from oomph.diagnose.hearing.passages import squeezed
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds, Bytes

CAUSE: Final = "kv_below_one_max_len_request"
HINTS: Final = (b"To serve at least one", b"KV cache is needed", b"estimated maximum model", b"max seq len")

_REFUSED: Final = re.compile(r"To serve at least one request|larger than the maximum number of tokens that can be")
_LENGTH: Final = re.compile(r"maxseqlen\((?P<length>[0-9]{1,9})\)")
_NEEDED: Final = re.compile(r"\(?(?P<needed>[0-9]{1,6}(?:\.[0-9]{1,4})?)Gi?BKVcacheisneeded")
_AVAILABLE: Final = re.compile(r"availableKVcachememory\((?P<available>[0-9]{1,6}(?:\.[0-9]{1,4})?)Gi?B")
_FITS: Final = re.compile(r"estimatedmaximummodellengthis(?P<fits>[0-9]{1,9})")
_STORED: Final = re.compile(r"storedinKVcache\((?P<tokens>[0-9]{1,9})\)")
_HALF: Final = GIB // 200  # what two decimals of a GiB may hide
_BLOCK: Final = 16  # tokens by which lengths are counted


@dataclass(frozen=True, kw_only=True)
class _Refusal:
    """The engine's own numbers, as far as the log keeps them."""

    said: Said
    length: int | None
    needed: Bounds | None
    available: Bounds | None
    named: int | None  # the length that the engine says would fit

    @cached_property
    def fitting(self) -> int | None:
        """The engine's own length; else what survives the rounding of its figures, in whole blocks."""
        if self.named is not None:
            return self.named
        if self.length is None or self.needed is None or self.available is None:
            return None
        return int(self.length * self.available.low // self.needed.high) // _BLOCK * _BLOCK

    @property
    def lacking(self) -> int | None:
        """What the pool has too little, at most."""
        return None if self.needed is None or self.available is None else int(self.needed.high - self.available.low)


def check(case: Case) -> Finding | None:
    """Quote the engine's own numbers; promise only what survives their rounding."""
    said = case.spoken("pool below request") or case.spoken("pool below length") or case.line(_REFUSED)
    if said is None or case.served:
        return None
    refusal = _refusal(case, said)
    return Finding(
        code="KV001",
        name="pool-below-one-request",
        cause=CAUSE,
        confidence=0.5 if went_on(case, said) else 0.95,
        summary=_summary(refusal),
        lines=(said,),
        arithmetic=tuple(_arithmetic(refusal)),
        remedies=advised(case, Step.ONE_REQUEST, tuple(_remedies(case, refusal))),
        unhelpful={**_VAIN, **dict(_in_vain(case, refusal))},
        missing=() if refusal.fitting is not None else ("the end of the message: the length that would fit",),
    )


_VAIN: Final = {
    "adding up GPUs": "all figures are of one rank; every rank needs its part of the request",
    "--gpu-memory-utilization down": "the share is what the pool is taken from: less of it leaves less",
}


def _refusal(case: Case, said: Said) -> _Refusal:
    text = squeezed(case, said)
    found = {name: match[name] for name, pattern in _PIECES.items() if (match := pattern.search(text)) is not None}
    sizes = {name: _printed(found[name]) for name in ("needed", "available") if name in found}
    named = found.get("fits") or found.get("tokens")
    return _Refusal(
        said=said,
        length=int(found["length"]) if "length" in found else None,
        needed=sizes.get("needed"),
        available=sizes.get("available"),
        named=None if named is None else int(named),
    )


_PIECES: Final = {"length": _LENGTH, "needed": _NEEDED, "available": _AVAILABLE, "fits": _FITS, "tokens": _STORED}


def _printed(text: str) -> Bounds:
    """What a figure in GiB may have been before it was rounded to two decimals."""
    middle = round(float(text) * GIB)
    return Bounds(max(middle - _HALF, 0), middle + _HALF, middle)


def _summary(refusal: _Refusal) -> str:
    one = "one request of the longest length" if refusal.length is None else f"one request of {refusal.length:,} tokens"
    if refusal.needed is not None and refusal.available is not None:
        return f"{one} needs {refusal.needed.likely}; the pool has {refusal.available.likely}"
    if refusal.named is not None:
        return f"{one} does not fit into the pool, which holds {refusal.named:,}"
    return f"{one} does not fit into the pool"


def _arithmetic(refusal: _Refusal) -> Iterator[str]:
    if refusal.needed is None or refusal.available is None:
        return
    missing = Bytes(refusal.needed.likely - refusal.available.likely)
    yield f"{refusal.needed.likely} − {refusal.available.likely} = {missing} are missing"
    if refusal.length:
        yield f"{refusal.needed.likely} ÷ {refusal.length:,} tokens = {Bytes(refusal.needed.likely // refusal.length)} each"


def _remedies(case: Case, refusal: _Refusal) -> Iterator[Remedy]:
    fitting = refusal.fitting
    if fitting:
        yield Remedy(
            change={"max_model_len": fitting},
            lever="max_model_len_down",
            price=f"requests longer than {fitting:,} tokens are refused",
        )
    else:
        yield Remedy(
            change={},
            act="lower --max-model-len to the length that the message names",
            lever="max_model_len_down",
            price="longer requests are refused",
        )
    if (refusal.lacking is not None or refusal.named is not None) and not any(_in_vain(case, refusal)):
        larger = larger_share(share(case), refusal.lacking or 0, _total(case) if refusal.lacking else None)
        yield from () if larger is None else (larger,)
    if (
        refusal.needed is not None
        and refusal.available is not None
        and refusal.needed.high <= 2 * refusal.available.low
    ):
        yield _EIGHT
    yield more_ranks(case)
    yield fewer_tokens(case)


def _in_vain(case: Case, refusal: _Refusal) -> Iterator[tuple[str, str]]:
    """Where even all of the device does not bring what is missing; an unknown one has at most twice what is in use."""
    given, lacking = share(case), refusal.lacking
    weights, pool = case.size(Quantity.WEIGHTS), refusal.available
    if given is None or not lacking or not 0 < given < 1 or pool is None or refusal.needed is None:
        return
    known = _total(case)
    total = known or (None if weights is None else round(2 * (weights.high + pool.high) / given))
    if total is None or (1 - given) * total >= lacking:
        return
    least, more = Bytes(round(lacking / (1 - given))), Bytes(refusal.needed.likely - pool.likely)
    here = "this one seems far smaller" if known is None else f"this one has {Bytes(known)}"
    yield "--gpu-memory-utilization up", f"even 1.0 brings {more} more only on a card of {least}; {here}"


_EIGHT: Final = Remedy(
    change={"kv_cache_dtype": "fp8"},
    lever="kv_cache_dtype_fp8",
    price="keys and values in 8 bits: answers may differ a little; states of recurrent layers stay as they are",
)


def _total(case: Case) -> int | None:
    """The smallest that the device may be."""
    for quantity in (Quantity.TOTAL, Quantity.DEVICE_TOTAL):
        if (size := case.size(quantity)) is not None:
            return int(size.low)
    return min((int(device.total) for device in case.devices), default=None)
