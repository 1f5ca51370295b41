"""Finding a flag by the name that a user wrote, in one release; what is not there is refused with what to write."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.engine import ENGINE
from oomph.engines.vllm.flags.flag import Flag
from oomph.engines.vllm.flags.gone import GONE, NEVER
from oomph.engines.vllm.flags.server import SERVER
from oomph.errors import UnknownFlag

FLAGS: Final = (*ENGINE, *SERVER)
_SHOWN: Final = 4  # of the flags that a short name could mean


def find(written: str, release: Release) -> Flag:
    """The flag of this release that is written so: by any of its names, also with underscores.

    As argparse allows, a name may be cut short while only one flag begins so: `--kv-cache-memory` is
    `--kv-cache-memory-bytes`.
    """
    name = dashed(written)
    names = known(release)
    if name in names:
        return names[name]
    begun = {flag.name: flag for longer, flag in names.items() if name != "--" and longer.startswith(name)}
    if len(begun) == 1:
        return next(iter(begun.values()))
    raise UnknownFlag(_refusal(name, release, tuple(begun)))


@cache
def known(release: Release) -> Mapping[str, Flag]:
    """Every name that this release understands, and its flag."""
    return {name: flag for flag in FLAGS for name in flag.names(release)}


def dashed(written: str) -> str:
    """The name as the tables write it; underscores are the same as dashes in a long one."""
    return "--" + written[2:].replace("_", "-") if written.startswith("--") else written


def _refusal(name: str, release: Release, begun: tuple[str, ...]) -> str:
    """Why not, and what to write instead."""
    for flag in FLAGS:
        if name in {flag.name, *flag.short}:
            return f"vLLM {release} has no {name}: {_absent(name, flag, release)}"
    if name in NEVER:
        return f"no release of vLLM has {name}: {NEVER[name]}"
    if begun:
        more = ", …" if len(begun) > _SHOWN else ""
        return f"{name} could be any of {', '.join(begun[:_SHOWN])}{more}: write more of it"
    from difflib import get_close_matches  # noqa: PLC0415 - only a slip needs it

    near = get_close_matches(name, known(release), n=1, cutoff=0.6)
    return f"no release of vLLM has {name}" + (f": did you mean {near[0]}?" if near else "")


def _absent(name: str, flag: Flag, release: Release) -> str:
    when = flag.short.get(name, flag.span)
    if when.follows(release):
        return f"it came with {when.since}"
    gone = f"it was removed in {when.until}"
    if name != flag.name and release in flag.span:
        return f"{gone}: use {flag.name}"
    if name in GONE:
        return f"{gone}; {GONE[name]}"
    return f"{gone}: use {flag.now}" if flag.now else f"{gone}, without a successor"
