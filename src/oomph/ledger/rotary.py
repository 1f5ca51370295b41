"""How heads are turned by the place of their token, for which an engine keeps a table of cosines and sines.

Knows what a config says of it. Does not know how many rows an engine gives its table: that is each engine's own choice.
"""

from dataclasses import dataclass
from enum import StrEnum

from oomph.ledger.dtype import Dtype


class Stretch(StrEnum):
    """By which method positions were lengthened beyond those that the model was first trained with."""

    NOT = "not"
    LLAMA = "llama3"  # the config names the longer context
    LINEAR = "linear"
    DYNAMIC = "dynamic"
    NTK = "ntk"
    YARN = "yarn"
    LONG = "longrope"  # with a table for short requests beside that for long ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotary:
    """One way of turning heads; layers that turn alike share it."""

    width: int  # numbers of a head that are turned
    tokens: int  # the positions that the config names
    stretch: Stretch = Stretch.NOT
    factor: float = 1.0  # by which positions were lengthened
    original: int | None = None  # tokens before that
    axes: bool = False  # positions have a time, a height and a width
    dtype: Dtype | None = None  # of its table, where that is not the model's

    def __post_init__(self) -> None:
        if self.width <= 0 or self.tokens <= 0 or not 0 < self.factor < float("inf"):
            message = f"a width of {self.width} cannot be turned by {self.tokens} positions, {self.factor} times"
            raise ValueError(message)
