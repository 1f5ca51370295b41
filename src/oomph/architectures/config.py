"""A model's config, read with suspicion: every field is asked for by name, type and bound.

Knows how to fetch a field, what a missing one means, and how to refuse. Does not know what any field is for.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype

T = TypeVar("T")

_LARGEST: Final = 1 << 31  # no count in a model's config is as large
_MOST: Final = 4096  # entries of a list by layer
_REQUIRED: Final = object()
_DTYPES: Final = {
    "bfloat16": Dtype.BF16,
    "float16": Dtype.F16,
    "half": Dtype.F16,
    "float32": Dtype.F32,
    "float": Dtype.F32,
}


class Config:
    """One object of a config.json, with the path to it for messages."""

    __slots__ = ("_fields", "where")

    def __init__(self, fields: Mapping[str, object], where: str = "config.json") -> None:
        self._fields = fields
        self.where = where

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    @property
    def fields(self) -> Mapping[str, object]:
        """All of it, as it stands."""
        return self._fields

    def raw(self, name: str) -> object:
        """The field as it stands; None where it is missing."""
        return self._fields.get(name)

    def whole(self, *names: str, default: int | object = _REQUIRED, least: int = 1) -> int:
        """A count, under the first of these names that is there."""
        value = self._first(names, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refusal(names[0], f"a whole number was expected, not {_shown(value)}")
        if not least <= value <= _LARGEST:
            raise self.refusal(names[0], f"{value} is not between {least} and {_LARGEST}")
        return value

    def maybe(self, *names: str, least: int = 1) -> int | None:
        """A count that may be missing or null; 0 counts as missing where `least` is 1."""
        value = self._first(names, None)
        return None if value is None or (value == 0 and least > 0) else self.whole(*names, least=least)

    def number(self, *names: str, default: float | object = _REQUIRED) -> float:
        """A number that need not be whole."""
        value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refusal(names[0], f"a number was expected, not {_shown(value)}")
        return float(value)

    def flag(self, *names: str, default: bool) -> bool:
        """A switch; null counts as not said."""
        value = self._first(names, default)
        if not isinstance(value, bool):
            raise self.refusal(names[0], f"true or false was expected, not {_shown(value)}")
        return value

    def text(self, *names: str, default: str | object = _REQUIRED) -> str:
        """A word."""
        value = self._first(names, default)
        if not isinstance(value, str):
            raise self.refusal(names[0], f"a word was expected, not {_shown(value)}")
        return value

    def items(self, name: str, of: type[T], *, default: list[T] | None = None) -> list[T]:
        """A list of one type; short enough to be one entry per layer."""
        value = self._first((name,), _REQUIRED if default is None else default)
        if not isinstance(value, list) or len(value) > _MOST or not all(isinstance(each, of) for each in value):
            raise self.refusal(name, f"a list of at most {_MOST} of {of.__name__} was expected, not {_shown(value)}")
        return value

    def sub(self, name: str) -> "Config":
        """A nested object."""
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise self.refusal(name, f"an object was expected, not {_shown(value)}")
        return Config(value, f"{self.where}: {name}")

    def over(self, defaults: Mapping[str, object]) -> "Config":
        """The same object, where a field that is not there means this; one that is null stays null."""
        return Config({**defaults, **self._fields}, self.where)

    def dtype(self, default: Dtype = Dtype.BF16) -> Dtype:
        """The format of the model's own numbers; older configs say `torch_dtype`."""
        return self.format("dtype", "torch_dtype") or default

    def format(self, *names: str) -> Dtype | None:
        """A format of numbers that may be missing."""
        written = self._first(names, None)
        if written is None:
            return None
        name = str(written).removeprefix("torch.")
        if name not in _DTYPES:
            raise self.refusal(names[0], f"{_shown(written)} is no format of weights that is known")
        return _DTYPES[name]

    def refusal(self, name: str, why: str) -> UnreadableError:
        """Why this config cannot be used, by the field."""
        return UnreadableError(f"{self.where}: {name}: {why}")

    def _first(self, names: tuple[str, ...], default: object) -> object:
        for name in names:
            if self._fields.get(name) is not None:
                return self._fields[name]
        if default is _REQUIRED:
            raise self.refusal(names[0], "is missing, and this architecture has no default for it")
        return default


def _shown(value: object) -> str:
    return f"{value!r:.40}"
