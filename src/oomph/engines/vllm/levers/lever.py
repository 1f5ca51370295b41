"""What a lever is: a flag that moves bytes, how far it can be moved, where that tells, and what it costs.

Knows the noun. Does not know any flag (`table`), nor how the right value is found (`diagnose`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oomph.engines.history import Release, Since
from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step
from oomph.ledger.settings import Value

Steps = frozenset[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A lever at one value: the start-up as it is asked about, its forecast, and the forecast with that value."""

    value: Value
    startup: Startup
    before: Forecast
    after: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """One flag."""

    flag: str  # the long name without dashes
    values: Callable[[Startup, Forecast], Sequence[Value]]  # the least painful first; none where it cannot be moved
    price: Callable[[Trial], str]
    acts: Since[Steps]  # the gates of which it moves a side
    against: Steps = frozenset()  # those at which moving it further makes things worse
    monotone: bool = True  # once a value helps, every further one does
    risky: bool = False  # a value that helps here takes room from a later gate

    def worse(self, step: Step, *, acting: Step) -> Steps:
        """The gates that it makes worse, where this one is moved like another."""
        return self.against | {step} if acting in self.against else self.against - {step}

    def acts_at(self, step: Step, release: Release) -> bool:
        """Whether trying it makes sense."""
        return step in self.acts.at(release)
