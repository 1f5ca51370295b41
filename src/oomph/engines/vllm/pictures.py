"""How many pictures one request may bring: `--limit-mm-per-prompt`, in the ways in which it has been written."""

import json
from functools import lru_cache

from oomph.ledger.settings import Value


@lru_cache(maxsize=64)
def pictures_of_a_request(given: Value) -> int | None:
    """Pictures and videos together; None where nobody says. A video is as heavy as the largest picture."""
    if not isinstance(given, str):
        return None
    counts = [_count(each) for each in _limits(given).values()]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _limits(given: str) -> dict[str, object]:
    """By kind: a JSON object, or `image=2,video=0` as it was written up to 0.8."""
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        found = dict(part.split("=", 1) for part in given.split(",") if "=" in part)
    seen = found if isinstance(found, dict) else {}
    return {kind: limit for kind, limit in seen.items() if kind in {"image", "video"}}


def _count(limit: object) -> int | None:
    """A number, or an object that holds one beside the largest size."""
    if isinstance(limit, dict):
        return _count(limit.get("count"))
    if isinstance(limit, str):
        return int(limit) if limit.isdecimal() else None
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 else None
