"""A log of vLLM, line by line → what each start-up in it said of its memory.

Knows where one start-up ends and the next begins, which of several figures of one thing counts, and that PyTorch's
account of a failure is one account, even over several lines. Does not read files, and draws no conclusions.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oomph.engines import pytorch
from oomph.engines.history import Release, release
from oomph.engines.vllm.arguments import read_arguments
from oomph.engines.vllm.hearing import MEANS, REVISED, heard
from oomph.engines.vllm.lines import REFUSALS
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.speaker import parted
from oomph.errors import UnknownRelease
from oomph.ledger.observation import Figure, Line, Observation, Quantity, Reading
from oomph.ledger.settings import Flags
from oomph.units import Bounds

_FIELD: Final = re.compile(r"\b(?P<name>[a-z_]{1,40})=(?P<value>'[^']{0,400}'|[^\s,]{1,200})")
_FIELDS: Final = frozenset(
    {"model", "dtype", "quantization", "kv_cache_dtype", "max_seq_len", "enforce_eager", "load_format"}
    | {f"{kind}_parallel_size" for kind in ("tensor", "pipeline", "data")}
)
_DEVICE: Final = re.compile(
    r"device_name=(?P<file>[A-Za-z0-9_.-]{3,60}?)(?:,|\.json)|GPU 0: (?P<name>NVIDIA [\w -]{3,60})"
)

_ARGUMENTS: Final = re.compile(r"\{|Namespace\(")
_BEGINNINGS: Final = frozenset({"server", "arguments", "engine"})
_REFUSALS: Final = frozenset(sentence.name for sentence in REFUSALS)
_ALONE: Final = frozenset({"", "APIServer"})  # of whom there is one; of others, each may begin by itself

_Said: TypeAlias = tuple[str, Mapping[str, Figure]]

_TEXT: Final = 600  # characters of a line that are kept
_REPEATS: Final = 8  # of one sentence by one speaker that are kept
_SPEAKERS: Final = 4_096  # times what they say, in one start-up
_STARTUPS: Final = 64  # of one log that are kept, the last ones
_APART: Final = 12  # lines over which an account of PyTorch's may be broken


def transcript(lines: Iterable[tuple[int, str]]) -> tuple[Observation, ...]:
    """Every start-up in a log, in their order; lines are (number, text) and may be left out."""
    heard_so_far = Transcript()
    for number, text in lines:
        line = parted(text)
        heard_so_far.hear(number, line.who, line.words)
    return heard_so_far.observations()


@dataclass(slots=True)
class _Failure:
    """PyTorch ran out, and says so in pieces."""

    line: int
    open: bool = True  # until it is told again
    pieces: list[pytorch.Piece] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _StartUp:
    """What was heard so far of one start-up."""

    first: int = 1
    release: Release | None = None
    printed: str | None = None  # the release as printed
    model: str | None = None
    device: str | None = None
    flags: Flags = field(default_factory=Flags)
    config: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, dict[Quantity, Reading]] = field(default_factory=dict)
    by: dict[tuple[str, Quantity], str] = field(default_factory=dict)  # the sentence that said it
    lines: list[Line] = field(default_factory=list)
    measured: bool = False  # a size was said
    refused: bool = False  # it said that it does not start
    count: dict[tuple[str, str], int] = field(default_factory=dict)
    enough: dict[str, set[str]] = field(default_factory=dict)  # sentences that each speaker has said often enough
    failures: dict[str, _Failure] = field(default_factory=dict)

    def ends_with(self, who: str, said: _Said) -> bool:
        """Whether this can only be of the next start-up: something was measured, and now it begins again."""
        name, figures = said
        if name not in _BEGINNINGS or not (self.measured or self.failures or self.refused):
            return False
        if name == "arguments" and not _ARGUMENTS.match(str(figures["arguments"])):
            return False
        return (who, name) in self.count or (who in _ALONE and name != "engine")

    def hear(self, number: int, who: str, text: str, what: Iterable[_Said]) -> None:
        """Take what a line says."""
        for name, figures in what:
            self.refused = self.refused or name in _REFUSALS
            if self._once_more(who, name):
                self.lines.append(_line(name, who, number, text, figures))
                self._start(name, figures, text)
                for gap, quantity in MEANS.get(name, {}).items():
                    if gap in figures:
                        self._note(who, quantity, name, Reading(value=figures[gap], line=number, text=text[:_TEXT]))
        if "allocate" in text or "memory in use" in text or "capac" in text:
            self._overflow(number, who, text)
        if self.device is None and (found := _DEVICE.search(text)) is not None:
            self.device = (found["file"] or found["name"]).replace("_", " ").strip()

    def _once_more(self, who: str, name: str) -> bool:
        """Count a sentence; whether it is worth keeping."""
        if (who, name) not in self.count and len(self.count) >= _SPEAKERS:
            return False
        self.count[who, name] = self.count.get((who, name), 0) + 1
        if self.count[who, name] >= _REPEATS and name not in _BEGINNINGS:
            self.enough.setdefault(who, set()).add(name)
        return self.count[who, name] <= _REPEATS

    def _note(self, who: str, quantity: Quantity, name: str, reading: Reading) -> None:
        said = self.ranks.setdefault(who, {})
        revised = quantity in REVISED and self.by.get((who, quantity)) != name
        self.measured = self.measured or isinstance(reading.value, Bounds)
        if quantity not in said or revised:
            said[quantity] = reading
            self.by[who, quantity] = name

    def _start(self, name: str, figures: Mapping[str, Figure], text: str) -> None:
        """With what it was started."""
        if isinstance(printed := figures.get("release"), str) and self.release is None:
            self.printed, self.release = _released(printed)
        if isinstance(model := figures.get("model"), str) and name in {"server", "model"}:
            self.model = self.model or model.strip()
        written = figures.get("arguments")
        if isinstance(written, str) and not self.flags and _ARGUMENTS.match(written):
            model, self.flags = read_arguments(written)
            self.model = model or self.model
        if name == "engine" and not self.config:
            for found in _FIELD.finditer(text.partition("with config: ")[2]):
                if found["name"] in _FIELDS:
                    self.config.setdefault(found["name"], found["value"].strip("'"))
            self.model = self.model or self.config.get("model")

    def _overflow(self, number: int, who: str, text: str) -> None:
        """The first failure of each speaker, until it is told again or too many lines have passed."""
        for name, figures in pytorch.pieces(text):
            failure = self.failures.get(who)
            if name == "tried" and failure is not None:
                failure.open = False
            elif name == "tried" and len(self.failures) < _SPEAKERS:
                self.failures[who] = failure = _Failure(number)
            if failure is not None and failure.open and number - failure.line <= _APART:
                failure.pieces.append((name, figures))
                failure.texts[number] = text[:_TEXT]

    def observation(self) -> Observation:
        """All of it, with the accounts of what failed."""
        for who, failure in self.failures.items():
            text = " ".join(failure.texts.values())[:_TEXT]
            for quantity, size in pytorch.account(failure.pieces).items():
                self._note(who, quantity, "tried", Reading(value=size, line=failure.line, text=text))
        return Observation(
            engine=HISTORY.engine,
            release=self.printed,
            model=self.model,
            device=self.device,
            flags=self.flags,
            config=self.config,
            ranks=self.ranks,
            lines=tuple(self.lines),
            first=self.first,
        )


@dataclass(slots=True)
class Transcript:
    """Hears a log line by line."""

    _done: list[Observation] = field(default_factory=list)
    _now: _StartUp = field(default_factory=_StartUp)

    def hear(self, number: int, who: str, text: str) -> tuple[bool, list[str]]:
        """Take a line without its prefixes; whether a start-up begins with it, and which sentences it holds."""
        what = list(heard(text, self._now.release, enough=self._now.enough.get(who, ())))
        begins = any(self._now.ends_with(who, each) for each in what)
        if begins:
            self._done = [*self._done[1 - _STARTUPS :], self._now.observation()]
            self._now = _StartUp(first=number)
        self._now.hear(number, who, text, what)
        return begins, [name for name, _ in what]

    def observations(self) -> tuple[Observation, ...]:
        """Every start-up so far, in their order; the last may be unfinished."""
        return (*self._done, self._now.observation())


def _line(name: str, who: str, number: int, text: str, figures: Mapping[str, Figure]) -> Line:
    """With what is kept of it: no long texts, and no arguments, among which a key may be."""
    if name == "arguments":
        return Line(name=name, rank=who, line=number, text=text.partition("args: ")[0] + "args: …")
    kept = {gap: figure[:_TEXT] if isinstance(figure, str) else figure for gap, figure in figures.items()}
    return Line(name=name, rank=who, line=number, text=text[:_TEXT], figures=kept)


def _released(printed: str) -> tuple[str | None, Release | None]:
    """The release as printed, and as it is compared; nothing where it is none."""
    try:
        known = release(printed.rstrip(",;"))
    except UnknownRelease:
        return None, None
    return str(known), known
