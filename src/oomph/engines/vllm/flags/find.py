"""Finding a flag by the name that a user wrote, in one release; what is not there is refused with what to write."""

from difflib import get_close_matches
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.engine import ENGINE
from oomph.engines.vllm.flags.flag import Flag
from oomph.engines.vllm.flags.server import SERVER
from oomph.errors import UnknownFlag

FLAGS: Final = (*ENGINE, *SERVER)


def find(written: str, release: Release) -> Flag:
    """The flag of this release that is written so: by any of its names, also with underscores.

    As argparse allows, a name may be cut short while only one flag begins so: `--kv-cache-memory` is
    `--kv-cache-memory-bytes`.
    """
    name = _dashed(written)
    names = {known: flag for flag in FLAGS for known in flag.names(release)}
    if name in names:
        return names[name]
    begun = {flag.name: flag for known, flag in names.items() if name.startswith("--") and known.startswith(name)}
    if len(begun) == 1:
        return next(iter(begun.values()))
    raise UnknownFlag(_refusal(name, release, tuple(names)))


def _dashed(written: str) -> str:
    return "--" + written[2:].replace("_", "-") if written.startswith("--") else written


def _refusal(name: str, release: Release, names: tuple[str, ...]) -> str:
    """Why not, and what to write instead."""
    for flag in FLAGS:
        if name in {flag.name, *flag.short}:
            when = flag.short.get(name, flag.span)
            if when.follows(release):
                return f"vLLM {release} has no {name}: it came with {when.since}"
            instead = f": use {flag.now}" if flag.now else ", without a successor"
            return f"vLLM {release} has no {name}: it was removed in {when.until}{instead}"
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    return f"no release of vLLM has {name}" + (f": did you mean {near[0]}?" if near else "")
