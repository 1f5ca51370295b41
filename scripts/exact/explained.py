"""Why a figure of ours is not the engine's, where that is known. A difference that no line fits is unexplained.

Each line names what it is about, the models that it is true of (as a pattern), and the reason.
"""

import re
from dataclasses import dataclass
from typing import Final

from exact.figures import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One reason, and which differences it explains."""

    about: str
    models: str
    because: str
    quantities: frozenset[str] | None = None  # all that may differ; None: any

    def fits(self, found: Comparison) -> bool:
        """Whether it explains all that differs."""
        named = found.about == self.about and re.search(self.models, found.model) is not None
        return named and (self.quantities is None or set(found.differing) <= self.quantities)


KNOWN: Final = (
    Known(
        about="weights",
        models="Falcon-H1-Tiny",
        because="vLLM's Falcon-H1 stumbles over a head that is tied to the words of another stage (AttributeError)",
        quantities=frozenset({"start", "parameters"}),
    ),
    Known(
        about="KV",
        models=r"\.partial$",
        because="the file holds only some fields; where the class's default stands for one, oomph refuses by its name",
        quantities=frozenset({"start"}),
    ),
    Known(
        about="weights",
        models=r"\.partial$",
        because="the file holds only some fields; where the class's default stands for one, oomph refuses by its name",
        quantities=frozenset({"start", "parameters"}),
    ),
)

# Start-ups whose measured weights are not near ours.
MEASURED: Final = {
    "s0033": "older than 0.6.0, when each of Gemma 2's layers had a table for positions of its own",
    "s0037": "asked for this device, vLLM 0.28.0 and 0.32.0 build exactly what oomph says; the run's own "
    "report speaks of memory beyond its budget",
    "s0143": "an AMD device, whose kernels for AWQ are not those that oomph weighs",
    "s0205": "a development build, which holds some tens of MiB more on each rank than the releases before it "
    "(compare s0209 and s0212, a sister model)",
}


def because(found: Comparison) -> str | None:
    """Why these figures differ; None where nobody knows."""
    return next((known.because for known in KNOWN if known.fits(found)), None)
