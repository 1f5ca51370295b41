"""Who says a line of vLLM's log, and what it says without its prefixes.

Knows how processes name themselves: `(EngineCore_DP0 pid=7)`, `(Worker_PP1_TP0 pid=9)`, `(VllmWorker rank=1 pid=9)`,
Ray's `(RayWorkerWrapper pid=9, ip=10.0.0.2)`, torch's `[rank1]:`, SGLang's `[2025-07-02 07:41:58 TP0]`, which it
leaves in what is said; and the logger's prefix of old and new releases. Does not know what is said.
"""

import re
from typing import Final, NamedTuple

from oomph.engines.prefix import bare

_SPEAKER: Final = re.compile(
    r"\((?P<name>[A-Za-z][A-Za-z0-9_.]{0,60})(?: rank=(?P<rank>[0-9]{1,5}))? pid=(?P<pid>[0-9]{1,10})"
    r"(?:, ip=(?P<ip>[0-9a-fA-F.:]{1,45}))?\)"
    r"|\[rank(?P<torch>[0-9]{1,5})\]:"
    r"|^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?P<sglang>(?: (?:DP|TP|PP|EP)[0-9]{1,4}){1,4})\]"
)
_LOGGER: Final = re.compile(
    r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) [0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})? "
    r"\[?(?P<file>[^\s\]]{1,200}:[0-9]{1,6})\] ?"
)
_PLACE_ONLY: Final = re.compile(r"\W{0,8}\[(?P<file>[\w/]{1,80}\.py:[0-9]{1,6})\] ")  # of a paste without the rest
_CALM: Final = frozenset({"DEBUG", "INFO", "WARNING"})
_PREFIX: Final = 400  # characters in which all prefixes stand
_NUMBERED: Final = re.compile(r"_(?:TP|PP|DP|EP)[0-9]|^EngineCore|^APIServer|^ApiServer|^Worker$")
_PLACE: Final = re.compile(r"_(?P<kind>PP|TP)(?P<number>[0-9]{1,5})")


class Parted(NamedTuple):
    """A line, and what stood before it."""

    who: str  # the same on every line of one process; empty where it does not say
    file: str  # that logs it and the line there, where the prefix names them: core.py:1142
    calm: bool  # logged below an error
    words: str


def parted(text: str) -> Parted:
    """A line without who and when."""
    text = text.strip()
    named, logger = _named(text), _LOGGER.search(text, 0, _PREFIX)
    who = "" if named is None else _name(named)
    if logger is not None:
        file, calm = logger["file"].rpartition("/")[2], logger["level"] in _CALM
        return Parted(who, file, calm, text[logger.end() :].strip())
    if named is not None and named["sglang"] is None:
        return Parted(who, "", calm=False, words=text[named.end() :].strip())
    if (place := _PLACE_ONLY.match(text)) is not None:
        return Parted(who, place["file"].rpartition("/")[2], calm=False, words=text[place.end() :].strip())
    return Parted(who, "", calm=False, words=bare(text))


def speaker(text: str) -> str:
    """Its name alone."""
    return parted(text).who


def message(text: str) -> str:
    """What is said alone."""
    return parted(text).words


def _named(text: str) -> re.Match[str] | None:
    if " pid=" not in text and "[rank" not in text and not text.startswith("["):
        return None
    return _SPEAKER.search(text, 0, _PREFIX)


def _name(found: re.Match[str]) -> str:
    if found["torch"] is not None:
        return f"rank {found['torch']}"
    if found["sglang"] is not None:
        return found["sglang"].strip()
    if found["rank"] is not None:
        return f"{found['name']} rank={found['rank']}"
    if _NUMBERED.search(found["name"]):
        return found["name"]
    return " ".join(filter(None, (found["name"], found["pid"], found["ip"])))


def place(name: str, *, tensor: int) -> int | None:
    """The rank of a speaker among all ranks of its engine; None where its name does not tell."""
    if (numbered := re.search(r"rank[ =](?P<rank>[0-9]{1,5})$", name)) is not None:
        return int(numbered["rank"])
    at = {found["kind"]: int(found["number"]) for found in _PLACE.finditer(name)}
    if at:
        return at.get("PP", 0) * tensor + at.get("TP", 0)
    return 0 if name in {"", "Worker"} or name.startswith(("EngineCore", "Worker_DP", "Worker_EP")) else None
