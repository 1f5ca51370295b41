"""Who ended a process from outside, and whether it is said that memory was why.

Knows the words of the kernel, of containers, of Ray and of shells. Does not know what filled the memory, and does not
take an exit status for a reason: 137 is what anybody's SIGKILL leaves.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Said
from oomph.units import GIB, KIB, Bytes


class Killer(StrEnum):
    """Who says so."""

    KERNEL = "the kernel"  # the whole host ran out
    LIMIT = "the container's limit"
    RAY = "Ray"
    UNKNOWN = "somebody"  # SIGKILL, and no word of why


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One process that was ended."""

    said: Said
    killer: Killer
    victim: str | None = None
    resident: Bytes | None = None  # what it held of the host's memory
    favoured: bool = False  # the victim was marked as the one to end first, or last, whatever it held

    @property
    def bystander(self) -> bool:
        """The kernel ends the largest process that it can see: where that is small, none of them filled the host."""
        return (
            self.killer is Killer.KERNEL and self.resident is not None and not self.favoured and self.resident <= _SMALL
        )

    @property
    def for_memory(self) -> bool:
        """Whether memory is said to be the reason."""
        return self.killer is not Killer.UNKNOWN


_SMALL: Final = 2 * GIB  # of the largest process on a host that is full

_VICTIM: Final = re.compile(
    r"Killed process (?P<pid>[0-9]{1,10})(?:,? \((?P<name>[^)]{1,60})\))?"
    r"(?:.{0,80}?anon-rss:(?P<anon>[0-9]{1,15})kB)?(?:, file-rss:(?P<file>[0-9]{1,15})kB)?"
    r"(?:, shmem-rss:(?P<shmem>[0-9]{1,15})kB)?(?:.{0,80}?oom_score_adj:(?P<adjusted>-?[0-9]{1,5}))?"
)
_LIMIT: Final = re.compile(
    r"Memory cgroup out of memory|CONSTRAINT_MEMCG|OOMKilled|\boom_kill [1-9]|memory limit of the container"
    r"|\"OOMKilled\": ?true"
)
_KERNEL: Final = re.compile(
    r"Out of memory: Kill|invoked oom-killer|oom-kill:constraint=|oom_reaper: reaped|systemd-oomd.{0,80}[Kk]illed"
)
_RAY: Final = re.compile(
    r"exceeds the memory usage threshold of|killed due to (?:the node running low on memory|memory pressure)"
    r"|Ray killed this worker"
)
_SIGKILL: Final = re.compile(
    r"^\W{0,4}Killed\s*(?:$|\W|python|vllm)|: +[0-9]+ Killed\b|\bSIGKILL\b(?! to take down)|died with signal 9"
    r"|[Ee]xit(?:ed)?(?: with)?(?: code| status|code)?[ :=]{1,3}(?:137|-9)\b"
    r"|Failed core proc\(s\): \{.{0,80}: -9\b|killed by signal 9|\(core dumped\) Killed"
)
_WORDS: Final = ((Killer.LIMIT, _LIMIT), (Killer.KERNEL, _KERNEL), (Killer.RAY, _RAY), (Killer.UNKNOWN, _SIGKILL))
HINTS: Final = (
    *(b"Killed", b"OOMKilled", b"oom-kill", b"oom_kill", b"out of memory", b"usage threshold", b"oom_reaper"),
    *(b"SIGKILL", b"signal 9", b"137", b"-9", b"running low on memory", b"memory pressure"),
)


def kill(case: Case) -> Kill | None:
    """Whoever says most: a line that names memory as the reason wins over one that only says that it ended."""
    found: dict[Killer, Said] = {}
    for said in case.log:
        if (killer := _killer(said.text)) is not None:
            found.setdefault(killer, said)
    first = next((killer for killer, _ in _WORDS if killer in found), None)
    return None if first is None else _with_victim(case, Kill(said=found[first], killer=first))


def _killer(text: str) -> Killer | None:
    return next((killer for killer, words in _WORDS if words.search(text)), None)


def _with_victim(case: Case, told: Kill) -> Kill:
    """The kernel tells in a line of its own whom it ended, and what that process held."""
    for said, victim in case.lines(_VICTIM):
        if told.for_memory and victim["anon"] is not None:
            parts = (victim["anon"], victim["file"], victim["shmem"])
            return Kill(
                said=said,
                killer=told.killer,
                victim=victim["name"],
                resident=Bytes(sum(int(part) for part in parts if part is not None) * KIB),
                favoured=victim["adjusted"] not in {None, "0"},
            )
    return told
