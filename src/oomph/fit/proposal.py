"""What is proposed: a start-up that was judged, what it changes, and what each change costs.

Knows the parts of an answer. Does not know how they are found (`fit`), nor how they are told (`write`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from oomph.engines.vllm.levers.startup import Change
from oomph.engines.vllm.weights.world import gpus
from oomph.fit.judge import Judged
from oomph.fit.played import Played
from oomph.fit.workload import Workload
from oomph.ledger.forecast import Forecast
from oomph.ledger.rest import Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One start-up that passes."""

    judged: Judged
    change: Change  # of what the user gave
    model: str | None  # another checkpoint than the first one that was named
    prices: Mapping[str, str]  # of each part of the change
    floor: float | None  # seconds that a step takes at least: all that it reads, at the memory's full speed

    @property
    def forecast(self) -> Forecast:
        """Its whole way up."""
        return self.judged.forecast

    @property
    def judged_for(self) -> int:
        """Users that it was judged for, by all replicas together."""
        return self.judged.wanted * self.judged.startup.flags.count("data_parallel_size")

    @property
    def gpus(self) -> int:
        """That it takes, of those that there are."""
        return gpus(self.judged.startup.flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """A popular choice, and why it is not in the proposal."""

    change: Change
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The whole answer."""

    workload: Workload
    release: str
    risk: Rest
    preference: str
    proposal: Proposal | None  # None: nothing starts
    others: tuple[Proposal, ...] = ()  # what trades something else
    not_taken: tuple[NotTaken, ...] = ()
    played: Played | None = None  # the workload through the scheduler, in the proposal's pool
    instead: tuple[str, ...] = ()  # what else would hold all users, where the proposal does not
    settings: int = 0  # that were decided about
    forecasts: int = 0  # that it took
    unsure: bool = False  # it was to be sure, and only likely ones were found

    @property
    def holds(self) -> bool:
        """Whether every user is held at once."""
        return self.proposal is not None and self.proposal.judged_for >= self.workload.users
