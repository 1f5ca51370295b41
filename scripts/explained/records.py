"""The failures of the corpus, as typed records.

Knows what is in the corpus and which of it may be scored. Does not know how anything is explained.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

SHARED: Final = Path(__file__).parents[2].parent / "shared"
CRASHES: Final = SHARED / "corpus" / "crashes.jsonl"


class Evidence(StrEnum):
    """How much of the cause the log itself shows, by whoever labelled it."""

    SUFFICIENT = "sufficient"
    NEEDS_MORE = "needs_args_version_or_platform"
    INSUFFICIENT = "insufficient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """One failure, and what is known to have caused it."""

    id: str
    engine: str
    log: str
    evidence: Evidence
    cause: str
    sub_cause: str | None
    phase: str
    confirmed: bool
    levers: tuple[str, ...]  # with which it was repaired
    release: str | None  # these as people wrote them
    model: str | None
    gpu: str | None
    arguments: str | None

    @property
    def right(self) -> frozenset[str]:
        """Names of the cause that count: the label, and its finer one."""
        return frozenset({self.cause, self.sub_cause or self.cause})


def crashes() -> tuple[Crash, ...]:
    """All that may be scored."""
    return tuple(_scorable(CRASHES))


def _scorable(file: Path) -> Iterator[Crash]:
    for line in file.read_text().splitlines():
        said = json.loads(line)
        if said["scorable"]:
            yield Crash(
                id=said["id"],
                engine=said["engine"],
                log=said["log"],
                evidence=Evidence(said["evidence_in_log"]),
                cause=said["true_cause"],
                sub_cause=said["sub_cause"],
                phase=said["phase"],
                confirmed=said["confirmation"] != "none",
                levers=tuple(said["fix_levers"] or ()),
                release=said["vllm_version"],
                model=said["model"],
                gpu=said["gpu"],
                arguments=said["args"],
            )
