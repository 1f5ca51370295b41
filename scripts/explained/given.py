"""What a record says besides its log, as a command line would give it: release, flags, devices, platform.

Knows that people write all of it loosely. What cannot be read is left out, as somebody would who types it.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from explained.records import Crash
from oomph.engines.history import Release, release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import OomphError
from oomph.ledger.settings import Flags, Value
from oomph.readers.arguments import read_arguments
from oomph.readers.hardware import Hardware, read_hardware

_RELEASE: Final = re.compile(
    r"(?<![0-9.])(?<!torch )(?<!CUDA )[0-9]\.[0-9]{1,2}(?:\.[0-9]{1,2})?(?:\.post[0-9]+|rc[0-9]+)?(?![0-9])"
)
_FLAG: Final = re.compile(
    r"(?<!\S)(?P<dashes>--?)?(?P<name>[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*)(?:(?:=| |: )(?P<value>[^\s,;()-][^\s,;()]*))?"
)
_VARIABLE: Final = re.compile(r"(?<!\S)(?P<name>[A-Z][A-Z0-9_]{3,60})=(?P<value>[^\s;()]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Beside the log."""

    release: Release | None = None
    flags: Flags = field(default_factory=Flags)
    hardware: Hardware = field(default_factory=Hardware)
    model: str | None = None


def given(crash: Crash) -> Given:
    """All that the record says."""
    read_by = _released(crash.release)
    return Given(
        release=read_by,
        flags=_flags(crash.arguments or "", read_by),
        hardware=read_hardware(crash.gpu or "none"),
        model=crash.model,
    )


def _released(written: str | None) -> Release | None:
    found = _RELEASE.search(written or "")
    return None if found is None else release(found[0])


def _flags(written: str, read_by: Release | None) -> Flags:
    """Flag by flag, so that one that cannot be read does not hide the others."""
    table = HISTORY.read_through if read_by is None else max(read_by, HISTORY.first)
    found = {variable["name"]: variable["value"] for variable in _VARIABLE.finditer(written)}
    values: dict[str, Value] = {}
    for flag in _FLAG.finditer(written):
        if flag["dashes"] or "_" in flag["name"]:
            values |= _flag(f"{flag['dashes'] or '--'}{flag['name']}", flag["value"], table)
    return Flags({**values, **found})


def _flag(name: str, value: str | None, table: Release) -> dict[str, Value]:
    words = [name] if value is None else [name, value]
    try:
        return read_arguments(words, table, notes=[]).values
    except OomphError:
        return {}
