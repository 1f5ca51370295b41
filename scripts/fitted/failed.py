"""Every start-up of the corpus that was refused or died at start, and why some of them cannot be asked again.

Knows which records there are. What can be asked is read in `readings`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from explained.given import given
from explained.records import CRASHES, Crash, Evidence
from fitted.readings import READINGS
from oomph.engines.history import Release, release
from scored.dates import newest
from scored.opened import Open
from scored.records import Outcome, Record, records

_FORECAST: Final = release("0.8.0")
_AT_START: Final = frozenset({"load", "profile", "graph-profile", "kv-alloc", "graph-capture", "warm-up"})


class Reason(StrEnum):
    """Why a record cannot be asked."""

    OLD = "vLLM older than 0.8.0, the first that is forecast"
    NO_RELEASE = "the release is not stated, nor a day"
    NO_MODEL = "the model is not named"
    NO_CONFIG = "no config of the model is at hand"
    NO_FORMAT = "how the checkpoint stores its weights is not said"
    NO_GPU = "the GPU, or how many of them, is not stated or not known"
    ALTERED = "a patched engine, or no CUDA"
    DRAFT = "a draft model whose config is not at hand"
    SAME = "the same start-up as another record"
    STARTED = "it did start, with less than it could have"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One of them."""

    id: str
    model: str
    happened: str
    reason: Reason | None  # None: it is asked


# Of records that are new enough: what a person finds missing.
_READ: Final[Mapping[str, Reason]] = {
    **dict.fromkeys(("vllm-15105", "vllm-17462", "vllm-34076", "vllm-40291"), Reason.SAME),
    **dict.fromkeys(("vllm-45178",), Reason.STARTED),
    **dict.fromkeys(("s0065", "s0066", "s0032", "s0038", "s0077", "s0078", "s0144", "club3090-84"), Reason.ALTERED),
    **dict.fromkeys(("s0067", "vllm-22624"), Reason.DRAFT),
    **dict.fromkeys(("s0009", "s0051", "vllm-33920", "vllm-15216", "vllm-55827", "vllmomni-262"), Reason.NO_CONFIG),
    **dict.fromkeys(("vllm-18550", "vllm-22173", "vllm-16551"), Reason.NO_CONFIG),
    **dict.fromkeys(("s0052", "hami-core-181", "syv-qwen38-2", "syv-qwen38-26", "vllm-42147"), Reason.NO_FORMAT),
    **dict.fromkeys(("s0046", "vllm-36691", "vllm-47127", "vllm-39788-c", "vllm-15105-c7"), Reason.NO_GPU),
    **dict.fromkeys(("vllm-19125", "vllm-55510", "vllm-18679-c", "kaito-1077", "vllm-30637"), Reason.NO_GPU),
    **dict.fromkeys(("vllm-48140", "vllm-28143"), Reason.NO_MODEL),
}


def failed() -> tuple[Failed, ...]:
    """All of them, start-ups first."""
    return (*_startups(), *_crashes())


def _startups() -> Iterator[Failed]:
    for record in records():
        if record.outcome in {Outcome.REFUSED, Outcome.OOM}:
            happened = "refused" if record.outcome is Outcome.REFUSED else "out of memory at start"
            yield Failed(id=record.id, model=record.named, happened=happened, reason=_of_startup(record))


def _of_startup(record: Record) -> Reason | None:
    if record.id in READINGS:
        return None
    if record.id in _READ:
        return _READ[record.id]
    if not record.stock:
        return Reason.ALTERED
    found = record.release or newest(record.date)
    if found is None and record.date is not None:
        return Reason.OLD  # older than the first whose day is known
    if (known := _of_release(found)) is not None:
        return known
    return Reason.NO_CONFIG if Open.CONFIG in record.open else Reason.NO_GPU


def _of_release(found: Release | None) -> Reason | None:
    if found is None:
        return Reason.NO_RELEASE
    return Reason.OLD if found < _FORECAST else None


def _crashes() -> Iterator[Failed]:
    for line in CRASHES.read_text().splitlines():
        said = json.loads(line)
        if said["engine"] == "vllm" and said["phase"] in _AT_START:
            happened = f"{said['phase']}: {said['true_cause'].replace('_', ' ')}"
            yield Failed(id=said["id"], model=said["model"] or "", happened=happened, reason=_of_crash(said))


def _of_crash(said: Mapping[str, object]) -> Reason | None:
    name = str(said["id"])
    if name in READINGS:
        return None
    if name in _READ:
        return _READ[name]
    if any(word in str(said["gpu"]) for word in ("XPU", "MI300", "Arc")):
        return Reason.ALTERED
    known = _of_release(release_of(said))
    return known or (Reason.NO_MODEL if said["model"] is None else Reason.NO_GPU)


def release_of(said: Mapping[str, object]) -> Release | None:
    """As the record states it."""
    return given(
        Crash(
            id=str(said["id"]),
            engine="vllm",
            log="",
            evidence=Evidence.INSUFFICIENT,
            cause="",
            sub_cause=None,
            phase="",
            confirmed=False,
            levers=(),
            release=None if said["vllm_version"] is None else str(said["vllm_version"]),
            model=None,
            gpu=None,
            arguments=None,
        )
    ).release
