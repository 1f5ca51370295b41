"""What the CUDA driver says inside a context, brought back from a process of its own into the cards of a probe.

Knows how long to wait, and that CUDA counts cards differently from NVML: they are matched by their UUIDs. Where NVML
shows no card at all, as on older Jetsons, the cards are those that CUDA shows.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from oomph.ledger.device import Capability
from oomph.ledger.probe import Gpu, Seen, Slice
from oomph.readers.cards import Cards, sane
from oomph.readers.printable import printable

_PATIENCE: Final = 60.0  # seconds; eight cards take about five
_ASKED: Final = (sys.executable, "-P", "-m", "oomph.readers.cuda")  # -P: nothing is imported from where we stand

Answer = Mapping[str, Any]  # of one card, as our own other process wrote it


def with_context(cards: Cards, *, patience: float = _PATIENCE) -> Cards:
    """The same cards with what the driver says of each, and notes for those of which it says nothing."""
    told, error = _answers(patience)
    if not cards.gpus:
        return replace(cards, gpus=tuple(map(_only_cuda, told)), notes=(*cards.notes, *_notes(told, error)))
    by_uuid = {str(answer["uuid"]): answer for answer in told if "uuid" in answer}
    gpus = tuple(_with_seen(gpu, by_uuid) for gpu in cards.gpus)
    return replace(cards, gpus=gpus, notes=(*cards.notes, *_notes(told, error)))


def _answers(patience: float) -> tuple[list[Answer], str | None]:
    """One answer a card, or why there is none."""
    try:
        asked = subprocess.Popen(_ASKED, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603 - our own module, by our own interpreter
    except OSError as met:
        return [], f"cannot be asked: {met.strerror or met}"
    with suppress(subprocess.TimeoutExpired):
        said = asked.communicate(timeout=patience)[0].splitlines()
        try:
            answer = json.loads(said[-1])  # what is preloaded may have spoken first
            return list(answer["cards"]), answer["error"]
        except (IndexError, KeyError, TypeError, ValueError):
            return [], f"broke off while a context was opened (status {asked.returncode})"
    _give_up(asked)
    return [], f"no context was opened within {patience:g} s"


def _give_up(asked: subprocess.Popen[bytes]) -> None:
    """End it, without waiting for long: a process that hangs in the driver cannot be ended."""
    asked.kill()
    with suppress(subprocess.TimeoutExpired):
        asked.communicate(timeout=1)


def _notes(told: list[Answer], error: str | None) -> Iterator[str]:
    if error is not None:
        yield f"CUDA: {printable(error)}"
    for answer in told:
        if answer.get("error"):
            yield f"CUDA: card {answer['index']}: {printable(str(answer['error']))}"


def _with_seen(gpu: Gpu, by_uuid: Mapping[str, Answer]) -> Gpu:
    seen = _seen(_found(gpu.uuid, by_uuid))
    unified = gpu.unified if seen is None or seen.integrated is None else seen.integrated
    return replace(gpu, seen=seen, unified=unified, slices=tuple(_part_seen(part, by_uuid) for part in gpu.slices))


def _part_seen(part: Slice, by_uuid: Mapping[str, Answer]) -> Slice:
    return replace(part, seen=_seen(_found(part.uuid, by_uuid)))


def _found(uuid: str | None, by_uuid: Mapping[str, Answer]) -> Answer | None:
    """NVML writes `GPU-` or `MIG-` before what CUDA gives."""
    return None if uuid is None else by_uuid.get(re.sub(r"^[A-Z]{3}-", "", uuid).lower())


def _seen(answer: Answer | None) -> Seen | None:
    free, total = (None, None) if answer is None else (sane(answer.get("free")), sane(answer.get("total")))
    if answer is None or free is None or total is None:
        return None
    return Seen(
        free=free,
        total=total,
        device_total=sane(answer.get("device_total")),
        cost=sane(answer.get("cost")),
        seconds=answer.get("seconds"),
        ordinal=answer.get("index"),
        integrated=answer.get("integrated"),
        virtual_memory=answer.get("virtual_memory"),
    )


def _only_cuda(answer: Answer) -> Gpu:
    major, _, minor = str(answer.get("capability", "")).partition(".")
    return Gpu(
        index=answer["index"],
        uuid=f"GPU-{answer['uuid']}" if "uuid" in answer else None,
        name=printable(answer["name"]) if "name" in answer else None,
        capability=Capability(major=int(major), minor=int(minor)) if minor else None,
        listed=False,
        unified=bool(answer.get("integrated")),
        seen=_seen(answer),
        error=answer.get("error"),
    )
