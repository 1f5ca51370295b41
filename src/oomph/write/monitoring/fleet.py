"""Whom the rules are for: how many engines, how they are labelled, and how often they can be looked at.

Knows the steps at which a fleet needs a slower look and a coarser picture; they were measured (docs/guide/monitor.md).
Does not know any metric.
"""

import re
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.monitoring.server import POOL_LABELS
from oomph.errors import UsageError

FEW: Final = 50  # engines that one picture can show apart
MANY: Final = 1_000  # engines whose raw series a dashboard can fold while somebody looks
# Reported are 1 minute (3 B, compiled before: vllm-project/vllm#20264), 3.6 (70 B on eight devices: #19824) and 4.6
# (35 B, nothing cached: #44881). vLLM itself gives up after 10 (0.32.0, envs.py: VLLM_ENGINE_READY_TIMEOUT_S).
STARTUP_MINUTES: Final = 5
_LONGEST_START: Final = 240
# Labels that series have and rules fold by or match: a tenant cannot be told by one of them.
TAKEN: Final = frozenset(
    (
        *("job", "instance", "pod", "model_name", "engine", "le"),
        *("status", "reason", "finished_reason", *POOL_LABELS),
        *("alertname", "alertstate", "severity"),
    )
)
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,60}")
_JOB: Final = re.compile(r"[^\"\\\n{}]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Engines that one Prometheus scrapes."""

    size: int = 1
    job: str = "vllm"  # a regular expression, matched whole
    tenant: str = "namespace"
    runbooks: str | None = None  # where the pages are published
    model: str | None = None  # of the engines that the plan is for
    startup_minutes: int = STARTUP_MINUTES  # within which a server that is not there may be starting

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 1_000_000:  # noqa: PLR2004 - no fleet is larger
            message = f"--fleet {self.size}: write how many engines there are, 1 to 1,000,000"
            raise UsageError(message)
        if not _LABEL.fullmatch(self.tenant):
            message = f"--tenant-label {self.tenant!r} is no name of a label (letters, digits and underscores)"
            raise UsageError(message)
        if self.tenant in TAKEN or self.tenant.startswith("__"):
            message = (
                f"--tenant-label {self.tenant}: the rules need this label for something else (write one that your "
                "scrape configuration adds: namespace, team)"
            )
            raise UsageError(message)
        if not 1 <= self.startup_minutes <= _LONGEST_START:
            message = f"--startup-minutes {self.startup_minutes}: write 1 to {_LONGEST_START}"
            raise UsageError(message)
        for name, value in (("--job", self.job), ("--model-name", self.model)):
            if value is not None and not _JOB.fullmatch(value):
                message = f"{name} {value!r} cannot stand in a rule (no quotes, braces and backslashes)"
                raise UsageError(message)

    @property
    def interval(self) -> int:
        """Seconds between two looks."""
        return 15 if self.size <= FEW else 30 if self.size <= MANY else 60

    @property
    def engine(self) -> tuple[str, ...]:
        """What tells one engine from all others; a label that nobody sets is nobody's hindrance."""
        return (*self.target, "model_name", "engine")

    @property
    def target(self) -> tuple[str, ...]:
        """What tells one scraped server from all others."""
        return tuple(dict.fromkeys(("job", self.tenant, "namespace", "pod", "instance")))

    @property
    def served(self) -> tuple[str, ...]:
        """What a tenant is served: his models."""
        return (self.tenant, "model_name")

    @property
    def of_job(self) -> str:
        """For series that are not only vLLM's."""
        return f'job=~"{self.job}"'
