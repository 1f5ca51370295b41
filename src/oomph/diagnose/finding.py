"""What is wrong, how we know, and what would change it at what price.

Knows the nouns. Does not know any rule, nor which flags an engine has.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from oomph.ledger.gate import Step, Verdict
from oomph.ledger.settings import Value
from oomph.units import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change that was passed through the forecast, what it costs, and what came out."""

    change: Mapping[str, Value]  # by the engine's long name without dashes; `release` for an upgrade; none: see `act`
    price: str  # what is lost, in words with numbers
    verdict: Verdict = Verdict.UNSURE  # of the whole forecast with it; unsure where there was none to pass it through
    spare: Bounds | None = None  # left over, with it, at the gate that fails without it
    fails_at: Step | None = None  # the gate at which it is sure to fail instead
    act: str | None = None  # what to do, where no flag does it
    lever: str | None = None  # what is moved, and which way: max_num_seqs_down, kill_or_free_other_process


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A line of a log, as evidence."""

    line: int  # from 1
    text: str  # without the prefixes of its logger
    rank: str = ""  # who says it; empty where it does not say
    file: str = ""  # of the engine's source, where its logger names it: core.py:1142


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    code: str  # never reused
    name: str  # the condition, never the cure
    summary: str
    evidence: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()  # the best first
    unhelpful: Mapping[str, str] | None = None  # flag → why it changes nothing here, though it is often advised
    cause: str | None = None  # by the name that the accuracy of explanations is counted with
    confidence: float = 1.0  # that this is the root of what was seen
    lines: tuple[Said, ...] = ()  # of the log, that show it
    arithmetic: tuple[str, ...] = ()  # that turns a guess into a proof: "1.74 GiB = 1024 × 152064 × 12 B"
    missing: tuple[str, ...] = ()  # what would make it sure
    beyond: tuple[str, ...] = ()  # what may help and is no remedy, in words: it is not sure to pass, or no flag does it
