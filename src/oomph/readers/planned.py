"""A saved plan (`oomph plan --json`) → what of it a running server can be held against, and what it promised of a pool.

Knows the keys of `oomph.plan/1` that a server shows too. The file is bounded; what a plan leaves open is None, and who
needs a pool is refused a plan without one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from oomph.errors import UnreadableError, UsageError
from oomph.ledger.planned_pool import PlannedPool
from oomph.ledger.proof import Planned
from oomph.readers.printable import printable
from oomph.readers.strict_json import LIMIT, read_object

_SCHEMA: Final = "oomph.plan/1"
_WRITE_ONE: Final = "write one with: oomph plan --json … > FILE"


def read_planned(where: str) -> Planned:
    """All that the plan in that file says of an engine."""
    plan = _plan(where)
    kv, model = _object(plan.get("kv")), _object(plan.get("model"))
    return Planned(
        release=_text(plan.get("release")),
        model=_text(model.get("name")),
        length=_setting(plan, "max_model_len"),
        blocks=_count(kv.get("blocks")),
        block_tokens=_count(kv.get("block_tokens")),
        tokens=_count(kv.get("tokens")),
    )


def read_planned_pool(where: str) -> PlannedPool:
    """The pool of the plan in that file."""
    plan = _plan(where)
    kv = _object(plan.get("kv"))
    blocks = _count(kv.get("blocks"))
    if blocks is None:
        message = f"{where} promises no pool: its plan does not get as far as to one (plan an engine that starts)"
        raise UnreadableError(message)
    return PlannedPool(
        blocks=blocks,
        least_blocks=_least(kv, blocks),
        concurrency=_fraction(kv.get("concurrency")),
        engines=_setting(plan, "data_parallel_size") or 1,
    )


def _plan(where: str) -> Mapping[str, object]:
    plan = read_object(_raw(where), file=where)
    if plan.get("schema") != _SCHEMA:
        said = printable(str(plan.get("schema")), 40)
        message = f"{where} is no plan: its schema is {said!r}, not {_SCHEMA!r} ({_WRITE_ONE})"
        raise UnreadableError(message)
    return plan


def _raw(where: str) -> bytes:
    try:
        with Path(where).open("rb") as file:
            return file.read(LIMIT + 1)
    except (FileNotFoundError, ValueError):
        message = f"no plan {printable(where, 200)!r}: there is no such file ({_WRITE_ONE})"
        raise UsageError(message) from None
    except OSError as trouble:
        message = f"{where} cannot be read: {trouble.strerror or trouble}"
        raise UnreadableError(message) from None


def _least(kv: Mapping[str, object], blocks: int) -> int:
    """By the careful end of the pool's size, where the plan tells it."""
    low, each = _count(_object(kv.get("size")).get("low")), _count(kv.get("bytes_per_block"))
    return blocks if low is None or each is None else max(min(low // each, blocks), 1)


def _setting(plan: Mapping[str, object], name: str) -> int | None:
    return _count(_object(_object(plan.get("settings")).get(name)).get("value"))


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return printable(value, 200) if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _fraction(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None
