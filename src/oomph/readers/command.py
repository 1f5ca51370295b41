"""The noun that every way to write a start ends in, and what may stand in it.

Knows which words of a start are no flags, and which must never be shown. Does not know how a start is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.formulas.batches import Usage
from oomph.ledger.settings import Flags, Value
from oomph.readers.environment import kept

_SECRET: Final = frozenset({"api_key", "hf_token"})
_NO_FLAGS: Final = frozenset({"model", "model_tag", "config", "subparser", "dispatch_function"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a start command says."""

    model: str | None
    flags: Flags  # environment variables stand among them, by their own upper-case names
    release: Release | None = None  # that a container's tag names
    gpus: int | None = None  # that the engine may see; None where nothing is said
    usage: Usage = Usage.SERVER
    notes: tuple[str, ...] = ()  # what was assumed or repaired


def flags_of(values: Mapping[str, Value], environment: Mapping[str, str]) -> Flags:
    """What was given, without secrets, and what the engine hears of its environment."""
    without = _SECRET | _NO_FLAGS
    said = {name: value for name, value in values.items() if value is not None and name not in without}
    return Flags({**said, **kept(environment)})
