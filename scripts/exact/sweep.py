"""All models in all settings: what the engine was asked, and every comparison that follows.

Knows the order, and when to stop. Does not know how anything is computed.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from engine.pipe import Bench
from exact import kv, subjects, weights
from exact.engine import Memory
from exact.figures import Comparison
from exact.kv import Case
from exact.subjects import ALONE, GUESSING, PLANNERS, RELEASE, STAGES, Setting
from oomph.architectures.registry import geometry
from oomph.errors import OomphError


@dataclass(kw_only=True)
class Found:
    """What a sweep came to."""

    compared: list[Comparison] = field(default_factory=list)
    unjudged: dict[str, str] = field(default_factory=dict)  # by model: the engine's reason
    unasked: set[str] = field(default_factory=set)  # models for which there was no time
    impossible: int = 0  # settings whose block size the engine has no kernel for


def settings(config: dict[str, object]) -> tuple[Setting, ...]:
    """Every way in which a model is started: with guesses where it has layers that guess, and in stages."""
    try:
        found = geometry(config)
    except OomphError:
        return ALONE
    return subjects.fitted((*ALONE, *(GUESSING if found.draft else ()), *STAGES), found.context_tokens)


def cases(names: Iterable[str], memory: Memory, found: Found, deadline: float) -> Iterator[Case]:
    """Every model and setting that the engine builds or refuses; a model that it cannot build at all is set aside."""
    for name in names:
        config = subjects.config(name)
        for place, setting in enumerate(settings(config)):
            answer = memory.model(config, setting, release=RELEASE) if time.monotonic() < deadline else None
            if answer is None:
                found.unasked.add(name)
                break
            if answer.refusal is not None and place == 0:
                found.unjudged[name] = _first_words(answer.refusal.message)
                break
            yield Case(model=name, config=config, setting=setting, answer=answer)


def compare(case: Case, bench: Bench, found: Found) -> None:
    """All comparisons that one built model serves for."""
    plain = not {"block_size", "speculative_config"} & case.setting.flags.keys()
    if case.setting.stages > 1 or plain:
        found.compared.append(weights.compared(case))
    if case.setting.stages > 1:
        return
    if kv.impossible(case):
        found.impossible += 1
        return
    found.compared.extend(kv.end_to_end(case, bench[RELEASE]))
    if case.answer.refusal is None:
        for release in PLANNERS:
            found.compared.extend(kv.planning(case, bench[release]))


def sweep(bench: Bench, names: list[str], *, seconds: float, say: Callable[[str], None]) -> tuple[Found, Memory]:
    """Ask, compare, and say how far it is."""
    found, memory = Found(), Memory(bench[RELEASE])
    begun, last = time.monotonic(), ""
    for case in cases(names, memory, found, begun + seconds):
        compare(case, bench, found)
        if case.model != last:
            last = case.model
            wrong = sum(not each.equal for each in found.compared)
            say(
                f"[{time.monotonic() - begun:5.0f} s] {names.index(last) + 1}/{len(names)} {last}: "
                f"{len(found.compared)} compared, {wrong} differ, {memory.asked} asked"
            )
    return found, memory


def _first_words(message: str) -> str:
    """The engine's own reason, without what depends on the machine."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    text = lines[1] if len(lines) > 1 and "validation error" in lines[0] else lines[0]
    words = re.sub(r"/\S+", "…", text.removeprefix("Value error, ").partition(" [type=")[0])
    return words[:160] + ("…" if len(words) > 160 else "")  # noqa: PLR2004 - a line of a table
