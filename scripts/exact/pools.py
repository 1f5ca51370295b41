"""A planned pool in figures that can be compared: the engine's answer, and ours."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from engine.pipe import Answer
from exact.figures import Figures
from oomph.engines.history import Release, span
from oomph.engines.vllm.pool.pool import Pool
from oomph.engines.vllm.pool.refusal import Reason, Refusal
from oomph.ledger.kv import KvPool
from oomph.units import GIB

_ONE_BUFFER: Final = span("0.24.0")  # a tensor may stand for a place in a buffer; its size is the buffer's
_BY_WORKERS: Final = span("0.11.0", "0.28.0")  # who print tokens and concurrency
_WHOLE_BLOCKS: Final = span("0.29.0")  # the pool is one buffer, and a need so many of its blocks

_SAID: Final = {
    "No available memory": Reason.NO_MEMORY,
    "To serve at least one request": Reason.TOO_SMALL,
    "must have the same window size": Reason.WINDOWS_DIFFER,
    "failed to convert": Reason.KINDS_DIFFER,
    "Failed to promote": Reason.KINDS_DIFFER,
    "cannot express": Reason.LAYOUT,
    "cannot be padded": Reason.PAGES_DIFFER,
    "Cannot unify": Reason.PAGES_DIFFER,
}
_RAISED: Final = {"NotImplementedError": Reason.PAGES_DIFFER, "ZeroDivisionError": Reason.NO_BLOCKS}


def theirs(answer: Answer, asked: Release) -> Figures:
    """What the planner of this release answered."""
    if (refused := answer.refusal) is not None:
        found = next((reason for said, reason in _SAID.items() if said in refused.message), None)
        reason = found or _RAISED.get(refused.type, Reason.UNSUPPORTED)
        return {"refusal": str(reason), **(_printed_need(refused.message) if reason is Reason.TOO_SMALL else {})}
    value = cast("Mapping[str, object]", answer.value)
    tensors = _allocated(cast("list[int]", value["tensors"]), asked)
    concurrency = cast("float", value["first_worker_concurrency" if asked in _BY_WORKERS else "concurrency"])
    blocks = cast("int", value["blocks"])
    groups = zip(cast("list[list[str]]", value["groups"]), cast("list[int]", value["block_tokens"]), strict=True)
    return {
        "groups": sorted((len(layers), tokens) for layers, tokens in groups),
        "tensors": tensors,
        "blocks": blocks,
        "tokens": _printed_tokens(value) if asked in _BY_WORKERS else value["tokens"],
        "concurrency": concurrency,
        **({"need": _need(blocks, concurrency, tensors)} if asked in _WHOLE_BLOCKS else {}),
    }


def _printed_tokens(value: Mapping[str, object]) -> int | None:
    """As the first worker prints it, from its own share of the pool."""
    lines = cast("list[str]", value["printed"])
    found = next((found for line in lines if (found := re.search(r"KV cache size: ([\d,]+) tokens", line))), None)
    return None if found is None else int(found[1].replace(",", ""))


def _need(blocks: int, concurrency: float, tensors: Sequence[int]) -> int:
    """Blocks of one request, each as large as a block of the pool."""
    return round(blocks / concurrency) * (sum(tensors) // blocks)


def _printed_need(message: str) -> Figures:
    found = re.search(r"\(([\d.]+) GiB KV cache is needed.*memory \((-?[\d.]+) GiB\)", message)
    length = re.search(r"estimated maximum model length is (\d+)", message)
    if found is None:
        return {}
    return {"need": float(found[1]), "available": float(found[2]), "fitting": int(length[1]) if length else 0}


def _allocated(tensors: Sequence[int], asked: Release) -> list[int]:
    """Sizes of allocations; tensors that stand for places in one buffer are one."""
    one = asked in _ONE_BUFFER and len(set(tensors)) == 1
    return [tensors[0]] if one else sorted(tensors)


def ours(pool: Pool | Refusal, asked: Release, told: KvPool | Refusal | None = None) -> Figures:
    """Our plan; where a forecast tells of it, in the forecast's figures."""
    if isinstance(pool, Refusal):
        return {"refusal": str(pool.reason), **(_our_need(pool) if pool.reason is Reason.TOO_SMALL else {})}
    share = pool.shares[0]
    spoken = told if isinstance(told, KvPool) else None
    groups = [(len(group.names), group.block_tokens) for group in pool.groups]
    return {
        "groups": sorted(groups if spoken is None else ((group.layers, group.block_tokens) for group in spoken.groups)),
        "tensors": _allocated([int(size) for size in share.tensors], asked),
        "blocks": pool.blocks if spoken is None else spoken.blocks,
        "tokens": pool.tokens if spoken is None else spoken.tokens,
        "concurrency": pool.concurrency if spoken is None else spoken.concurrency,
        **({"need": int(share.need if spoken is None else spoken.need or 0)} if asked in _WHOLE_BLOCKS else {}),
    }


def _our_need(refusal: Refusal) -> Figures:
    if refusal.need is None or refusal.available is None:
        return {}
    return {
        "need": round(refusal.need / GIB, 2),
        "available": round(refusal.available / GIB, 2),
        "fitting": refusal.fitting_tokens,
    }
