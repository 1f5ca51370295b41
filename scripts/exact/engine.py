"""The engine's own answers, remembered on disk by what was asked: a sweep can be stopped and taken up again.

Knows how to put a model and a setting to the judge. Does not know what we would have answered.
"""

import gzip
import hashlib
import itertools
import json
from pathlib import Path
from typing import Final, Protocol, cast

from engine.pipe import Answer, JudgeError, Refusal
from exact.subjects import DEVICE, Setting
from oomph.ledger.catalogue import CATALOGUE
from scouting.trees import home

_PAUSE: Final = 60.0  # seconds; no answer takes as long
_FORMAT: Final = 1  # raise it when what is asked, or how it is kept, changes


class Asked(Protocol):
    """A judge, or what stands for one."""

    release: str

    def ask_many(self, question: str, cases: list[dict[str, object]]) -> list[Answer]:
        """All answers, in the order of the cases."""


def device() -> dict[str, object]:
    """The device of the whole sweep, as the judge is told of it."""
    found = CATALOGUE[DEVICE]
    if found.capability is None:
        message = f"the catalogue does not know the capability of {DEVICE}"
        raise LookupError(message)
    return {
        "name": found.name,
        "capability": [found.capability.major, found.capability.minor],
        "total": int(found.total),
    }


class Memory:
    """What a judge has answered so far."""

    def __init__(self, judge: Asked | None, folder: Path | None = None) -> None:
        self._judge = judge
        self._folder = folder or home().parent / "exact"
        self.asked = 0  # that were not remembered

    def model(self, config: dict[str, object], setting: Setting, *, release: str) -> Answer | None:
        """The built model of one rank; None where it is not remembered and nobody can be asked."""
        question: dict[str, object] = {
            "config": config,
            "flags": setting.flags,
            "tp": setting.ranks,
            "pp": setting.stages,
            "rank": setting.stage * setting.ranks,
            "device": device(),
        }
        return self._remembered("model", question, release)

    @property
    def seconds(self) -> float:
        """How long the engine took for all that is remembered: from one answer to the next, without the pauses."""
        times = sorted(path.stat().st_mtime for path in self._folder.rglob("*.json.gz"))
        gaps = (after - before for before, after in itertools.pairwise(times))
        return sum(gap for gap in gaps if gap < _PAUSE)

    def _remembered(self, about: str, question: dict[str, object], release: str) -> Answer | None:
        text = json.dumps([_FORMAT, release, about, question], sort_keys=True)
        path = self._folder / release / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json.gz"
        if path.exists():
            return _answer(cast("dict[str, object]", json.loads(gzip.decompress(path.read_bytes()))))
        if self._judge is None:
            return None
        self.asked += 1
        try:
            (answer,) = self._judge.ask_many(about, [question])
        except JudgeError as error:
            if "could not put the question" not in str(error):
                raise  # the judge is gone, and would be for the next question too
            answer = Answer(refusal=Refusal("JudgeError", str(error).partition(";")[0]))
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"value": answer.value} if answer.refusal is None else {"refusal": _told(answer.refusal)}
        path.write_bytes(gzip.compress(json.dumps(kept).encode(), compresslevel=5))
        return answer


def _told(refusal: Refusal) -> list[str]:
    return [refusal.type, refusal.message]


def _answer(kept: dict[str, object]) -> Answer:
    if "refusal" not in kept:
        return Answer(value=kept["value"])
    type_, message = cast("list[str]", kept["refusal"])
    return Answer(refusal=Refusal(type_, message))
