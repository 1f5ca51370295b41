"""What can be chosen: one lever with its values, the best first.

Knows that some levers are ordered: each further value leaves more room at every gate. Does not know what a value is of.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from oomph.engines.vllm.levers.startup import Change
from oomph.engines.vllm.model import Model


class Lever(StrEnum):
    """What is chosen; what is given up last comes first."""

    WEIGHTS = "weights"  # which checkpoint, or rounded as it is loaded
    SENSES = "senses"  # pictures and sound
    KEYS = "keys"  # how keys and values are kept
    GUESSES = "guesses"  # tokens guessed ahead
    GRAPHS = "graphs"
    GPUS = "gpus"
    POOL = "pool"  # left to the engine, or given
    STEP = "step"  # tokens of one step
    SEQUENCES = "sequences"
    LENGTH = "length"  # of the longest request


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One value: what it changes of a start-up."""

    change: Change = field(default_factory=dict)
    model: Model | None = None  # another checkpoint
    given_pool: bool = False  # a pool as large as the workload needs it


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A lever and its values, the best first."""

    lever: Lever
    options: tuple[Option, ...]
    ordered: bool  # each further value leaves more room at every gate


Places = Mapping[Lever, int]  # which value of each lever


def plain(lever: Lever, *changes: Change, ordered: bool) -> Choice:
    """As it is, then each of these changes."""
    return Choice(lever=lever, options=(Option(), *(Option(change=change) for change in changes)), ordered=ordered)
