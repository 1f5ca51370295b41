"""Lines of a log → a case: which engine, what it said, what failed first, when, and on what.

Knows how to put together what is found in one pass, in bounded memory, and which of several start-ups is asked about:
the last that failed, unless one after it serves. Does not open files, and draws no conclusions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from oomph.diagnose.case import Case, Failure, Platform
from oomph.diagnose.finding import Said
from oomph.diagnose.hearing.devices_of import devices_of
from oomph.diagnose.hearing.heard import Heard
from oomph.diagnose.hearing.kept import kind
from oomph.diagnose.hearing.phase_of import phase_of
from oomph.diagnose.hearing.platforms import platforms_in
from oomph.diagnose.hearing.quote import Quote
from oomph.engines.history import Release
from oomph.engines.history import release as read_release
from oomph.engines.pasted import straightened
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.sites import Site, release_at, site
from oomph.engines.vllm.speaker import parted
from oomph.engines.vllm.transcript import Transcript
from oomph.errors import UnknownRelease
from oomph.ledger.device import Device
from oomph.ledger.observation import Observation
from oomph.ledger.settings import Flags

_TEXT: Final = 1_200  # characters of a line that are kept: torch's whole account
_ENOUGH: Final = 64  # lines of one kind without a sentence, after which none is looked for in more of them
_KINDS: Final = 10_000
_QUOTED: Final = 300  # characters of an earlier failure


@dataclass(slots=True)
class _Log:
    """Everything heard so far; of start-ups before this one, only the last that failed."""

    transcript: Transcript = field(default_factory=Transcript)
    now: Heard = field(default_factory=Heard)
    failed: tuple[int, Heard] | None = None
    startups: int = 0
    _quote: Quote = field(default_factory=Quote)
    _dull: Counter[tuple[str, str]] = field(default_factory=Counter)  # kinds of lines that hold no sentence

    def hear(self, number: int, text: str) -> None:
        """Take a line; of a kind that never says anything, only what failed in it."""
        who, file, calm, words = parted(text)
        if self._quote.holds(who, file, words):
            return
        said = Said(line=number, text=words[:_TEXT], rank=who, file=file)
        known = self._dull[key := kind(said)] >= _ENOUGH
        begins, names = (False, []) if known else self.transcript.hear(number, who, words)
        if not names and (key in self._dull or len(self._dull) < _KINDS):
            self._dull[key] += 1
        if begins:
            self._next()
        if not known:
            self.now.others.hear(number, who, words)
        self.now.hear(said, calm=calm, names=names, known=known)

    def _next(self) -> None:
        if self.now.errors.weight and (self.failed is None or self.now.errors.weight >= self.failed[1].errors.weight):
            self.failed = self.startups, self.now
        self.now, self.startups = Heard(platform=self.now.platform, engines=self.now.engines), self.startups + 1

    @property
    def recovered(self) -> Failure | None:
        """What failed in a start-up before the last, where the last serves and nothing failed in it."""
        if self.failed is None or not self.now.served or self.now.errors.weight:
            return None
        return next(iter(self.failed[1].errors.failures()), None)

    def asked(self) -> tuple[Heard, Observation]:
        """The start-up that failed: the last, unless only one before it ran out of memory; the last if it serves."""
        place, heard = self.startups, self.now
        if self.failed is not None and not self.recovered and self.failed[1].errors.weight > heard.errors.weight:
            place, heard = self.failed
        observations = self.transcript.observations()
        return heard, observations[max(place - self.startups - 1, -len(observations))]


def case_of(
    lines: Iterable[tuple[int, str]],
    *,
    engine: str | None = None,
    release: Release | None = None,
    flags: Flags | None = None,
    model_name: str | None = None,
    devices: Sequence[Device] = (),
    platform: Iterable[Platform] = (),
) -> Case:
    """What a log shows; what is given besides it wins."""
    log = _Log()
    for number, text in straightened(lines):
        log.hear(number, text)
    heard, observation = log.asked()
    recovered = log.recovered
    named = engine or heard.engine or (observation.engine if observation.lines else None)
    if named is not None and named != observation.engine:
        observation = heard.others.observation(observation, named)
    settings = Flags({**observation.flags, **(flags or {})})
    there = tuple(devices) or devices_of(observation, settings)
    known = release or _released(observation.release) or _released(heard.release)
    inferred = release_at(heard.places) if known is None and named in {None, HISTORY.engine} else None
    case = Case(
        engine=named or (None if inferred is None else HISTORY.engine),
        release=known or inferred,
        flags=settings,
        model=model_name or observation.model,
        devices=there,
        platform=frozenset(heard.platform).union(platform, *(platforms_in(each.name) for each in there)),
        observation=observation,
        log=tuple(heard.kept.lines()),
        failures=heard.errors.failures(),
        served=heard.served or any(site(place, known or inferred) is Site.RUNNING for place in heard.places),
        tenants=heard.tenants,
        notes=tuple(_notes(inferred, heard.places, recovered)),
    )
    phase, assumed = phase_of(case)
    return replace(case, phase=phase, phase_assumed=assumed)


def _notes(inferred: Release | None, places: Iterable[str], recovered: Failure | None) -> Iterator[str]:
    """What was inferred, and which failure is left aside."""
    if inferred is not None:
        told = ", ".join(sorted(place for place in places if site(place, inferred) is not None))
        which = f"{HISTORY.engine} {inferred}"
        yield f"the release is inferred: errors are logged at {told}, as in {which} (--release says otherwise)"
    if recovered is not None:
        words = recovered.said.text[:_QUOTED].strip()
        yield f"an earlier start-up failed, and one after it serves: line {recovered.said.line}: {words}"


def _released(printed: str | None) -> Release | None:
    try:
        return None if printed is None else read_release(printed)
    except UnknownRelease:
        return None
