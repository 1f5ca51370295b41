"""Flags as given, settings as resolved, and where each came from.

Knows names, values and origins. Does not know which flags exist: that is each engine's table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | tuple[int, ...] | None


class Origin(StrEnum):
    """Who decided a setting."""

    GIVEN = "given"  # the user, by flag or file
    ENVIRONMENT = "environment"  # the user, by environment variable
    DEFAULT = "default"  # the release's constant
    DERIVED = "derived"  # the release, from other settings, the model or the device
    OBSERVED = "observed"  # the engine said so in a log or a metric


class Flags(Mapping[str, Value]):
    """What the user wrote, by the engine's long name without dashes: `max_num_seqs`."""

    __slots__ = ("_given",)

    def __init__(self, given: Mapping[str, Value] | None = None) -> None:
        self._given = dict(given or {})

    def __getitem__(self, name: str) -> Value:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __contains__(self, name: object) -> bool:
        return name in self._given  # not by trying: most flags are missing, and a plan asks for many

    def get(self, name: str, default: Value = None) -> Value:  # type: ignore[override] # a flag is never anything else
        """What was given; `default` where nothing was."""
        return self._given.get(name, default)

    def __repr__(self) -> str:
        return f"Flags({self._given})"

    def whole(self, name: str) -> int | None:
        """A whole number that was given; None where none was, or something else."""
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def positive(self, name: str) -> int | None:
        """A whole number above 0 that was given; 0 and below leave the choice to the engine."""
        value = self.whole(name)
        return value if value is not None and value > 0 else None

    def count(self, name: str) -> int:
        """Of things of which there is one where nobody says: ranks, stages."""
        return self.positive(name) or 1

    def switch(self, name: str, *, default: bool) -> bool:
        """Whether something is asked for."""
        value = self.get(name)
        return value if isinstance(value, bool) else default

    def but(self, **changes: Value) -> "Flags":
        """The same flags with these changed: what a remedy is tried with."""
        return Flags({**self._given, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value, who decided it, and from what."""

    value: Value
    origin: Origin
    because: str = ""  # of a default: the file where it can be seen; of a derived one: what it follows from


class Settings(Mapping[str, Setting]):
    """Every setting that moves bytes, resolved for one release, model and device."""

    __slots__ = ("_resolved",)

    def __init__(self, resolved: Mapping[str, Setting]) -> None:
        self._resolved = dict(resolved)

    def __getitem__(self, name: str) -> Setting:
        return self._resolved[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._resolved)

    def __len__(self) -> int:
        return len(self._resolved)

    def __repr__(self) -> str:
        return f"Settings({self._resolved})"

    def number(self, name: str) -> float:
        """A setting that must be a number by now; a formula that needs it cannot go on without."""
        value = self[name].value
        if isinstance(value, bool) or not isinstance(value, int | float):
            message = f"setting {name} is {value!r}, not a number"
            raise TypeError(message)
        return value

    def whole(self, name: str) -> int:
        """A setting that must be a whole number by now."""
        value = self.number(name)
        if not isinstance(value, int):
            message = f"setting {name} is {value!r}, not a whole number"
            raise TypeError(message)
        return value
