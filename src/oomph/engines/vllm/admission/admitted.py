"""What became of a workload: how many were served at once, who waited and for what, who was thrown back."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Lack(StrEnum):
    """What the first of those that wait is waiting for."""

    TOKENS = "tokens"  # this step computes no more: --max-num-batched-tokens
    SEATS = "seats"  # no more requests at once: --max-num-seqs
    BLOCKS = "blocks"  # the pool has no room


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One step after it was scheduled."""

    step: int
    running: int
    waiting: int
    preempted: int  # in this step
    free: int  # blocks
    lack: Lack | None = None  # what the first of those that wait is waiting for; not known of a step passed over


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request: the steps at which it came, was first scheduled and ended, and those it spent waiting."""

    user: int
    arrived: int
    admitted: int | None  # None: never
    ended: int | None
    waited: int
    preemptions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The whole of it; steps are counted from 1."""

    steps: int
    peak_running: int
    peak_waiting: int
    preemptions: int
    first_wait: Mapping[Lack, int]  # the first step after which somebody waited for this
    first_preemption: int | None
    blocks: int  # that can be held: all but the null block
    peak_blocks: int  # held at once
    served: tuple[Served, ...]  # in the order of their arrival
    stuck: int | None = None  # the step at which a request was met that this pool can never hold

    @property
    def peak_usage(self) -> float:
        """Share of the pool that was held at once."""
        return self.peak_blocks / self.blocks if self.blocks else 0.0

    @property
    def waits_for_room(self) -> int | None:
        """The first step after which somebody waited for blocks or for a seat: more steps would not have helped."""
        return min((step for lack, step in self.first_wait.items() if lack is not Lack.TOKENS), default=None)
