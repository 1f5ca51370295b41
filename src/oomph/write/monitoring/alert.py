"""An alert: when it fires, what it says, and on which series it is tried.

Knows what every alert must have: a rule of Prometheus, a page to turn to, and trials, of which one fires and the others
stay silent. Does not know any alert.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from oomph.engines.vllm.monitoring.sources import Source


class Severity(StrEnum):
    """Who should look, and when."""

    CRITICAL = auto()  # users are not served: now
    WARNING = auto()  # users wait, or soon will: today
    INFO = auto()  # money is left lying: when there is time


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One series of a trial, scraped once a minute."""

    source: Source
    values: str  # in promtool's notation: 0.97x40, 0+60x40
    labels: Mapping[str, str] = field(default_factory=dict)  # besides those of the engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Series, and the minute at which it is asked whether the alert fires."""

    series: tuple[Sampled, ...]
    minute: int = 30
    when: str = ""  # where an alert has several that are alike: what happens in this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alerting rule."""

    name: str
    text: str
    lasts: int  # minutes for which it must hold
    severity: Severity
    summary: str
    description: str
    keeps: tuple[str, ...]  # labels that its series have
    fires: Trial
    silent: Trial
    silent_too: tuple[Trial, ...] = ()  # what once fired it and should not have
    shows: str  # its value in the trial that fires, as the description prints it
    rule: str | None = None  # by which a log or a live engine of this kind is explained


def of(source: Source, values: str, **labels: str) -> Sampled:
    """A line of a trial."""
    return Sampled(source=source, values=values, labels=labels)
