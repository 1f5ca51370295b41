"""A saved probe → the nouns, so that a machine can be judged from elsewhere.

Knows the schema `oomph.probe/1`. The file may come from a stranger: it is bounded, every value has its type or the file
is refused, and what is printable is all that is kept of a text. A key that is missing or null is not known; one that
is not known here is passed over, for it may be of a newer oomph.
"""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from oomph.errors import UnreadableError, UsageError
from oomph.ledger.device import Capability
from oomph.ledger.probe import Ancestor, Gpu, Host, Maker, Probe, Process, Seen, Slice
from oomph.readers.printable import printable
from oomph.readers.strict_json import read_object
from oomph.units import MIB, TIB, Bytes

SCHEMA: Final = "oomph.probe/1"
_LIMIT: Final = 2 * MIB  # of the file: eight cards with a hundred processes each are a tenth of it
_MOST: Final = 4096  # of anything in a list
_LONGEST: Final = 4096  # characters of a text
_LARGEST: Final = 1 << 20  # TiB; no size is beyond it
_CAPABILITY: Final = re.compile(r"(?P<major>[0-9]{1,3})\.(?P<minor>[0-9]{1,3})")

Noun = TypeVar("Noun")
Keys = Mapping[str, object]


def read_probe(where: str) -> Probe:
    """The probe in that file, or in what is piped in where a dash stands for it."""
    held = read_object(_raw(where), file=where)
    if held.get("schema") != SCHEMA:
        said = printable(str(held.get("schema")), 40)
        message = f"{where} is no probe: its schema is {said!r}, not {SCHEMA!r} (write one with: oomph probe --json)"
        raise UnreadableError(message)
    try:
        return _probe(held)
    except ValueError as met:
        message = f"{where} is no probe that can be used: {met} (write it again with: oomph probe --json)"
        raise UnreadableError(message) from None


def _raw(where: str) -> bytes:
    try:
        if where == "-":
            raw = sys.stdin.buffer.read(_LIMIT + 1)
        else:
            with Path(where).open("rb") as file:
                raw = file.read(_LIMIT + 1)
    except (FileNotFoundError, ValueError):
        message = f"no probe {printable(where, 200)!r}: there is no such file (write one with: oomph probe --json)"
        raise UsageError(message) from None
    except OSError as trouble:
        message = f"{where} cannot be read: {trouble.strerror or trouble}"
        raise UnreadableError(message) from None
    if len(raw) > _LIMIT:
        message = f"{where} is larger than {Bytes(_LIMIT)}, as no probe is, and is not read (is it the right file?)"
        raise UnreadableError(message)
    return raw


def _probe(held: Keys) -> Probe:
    return Probe(
        gpus=_each(held, "gpus", _gpu),
        host=_host(_keys(held.get("host"), "host")),
        environment=_texts(held.get("environment")),
        driver=_text(held, "driver"),
        cuda=_text(held, "cuda"),
        notes=_lines(held.get("notes")),
        taken=_text(held, "taken"),
    )


def _gpu(held: Keys) -> Gpu:
    return Gpu(
        index=_number(held, "index"),
        uuid=_text(held, "uuid"),
        bus=_text(held, "bus"),
        name=_text(held, "name"),
        maker=Maker(_text(held, "maker") or Maker.NVIDIA),
        total=_size(held, "total"),
        free=_size(held, "free"),
        used=_size(held, "used"),
        reserved=_size(held, "reserved"),
        limit=_size(held, "limit"),
        capability=_capability(held),
        processes=_each(held, "processes", _process),
        listed=_truth(held, "listed") is not False,
        slices=_each(held, "slices", _slice),
        mig=bool(_truth(held, "mig")),
        display=_truth(held, "display"),
        ecc=_truth(held, "ecc"),
        virtual=_text(held, "virtual"),
        exclusive=_truth(held, "exclusive"),
        unified=bool(_truth(held, "unified")),
        coherent=bool(_truth(held, "coherent")),
        seen=_seen(held),
        error=_text(held, "error"),
    )


def _slice(held: Keys) -> Slice:
    return Slice(
        uuid=_text(held, "uuid"),
        name=_text(held, "name"),
        total=_size(held, "total"),
        free=_size(held, "free"),
        used=_size(held, "used"),
        reserved=_size(held, "reserved"),
        processes=_each(held, "processes", _process),
        seen=_seen(held),
    )


def _process(held: Keys) -> Process:
    return Process(
        pid=_number(held, "pid"),
        name=_text(held, "name"),
        command=_text(held, "command"),
        holds=_size(held, "holds"),
        parent=None if held.get("parent") is None else _number(held, "parent"),
        parent_name=_text(held, "parent_name"),
        ancestors=_each(held, "ancestors", _ancestor),
        own_namespace=_truth(held, "own_namespace"),
        graphics=bool(_truth(held, "graphics")),
    )


def _ancestor(held: Keys) -> Ancestor:
    return Ancestor(pid=_number(held, "pid"), name=_text(held, "name"))


def _seen(held: Keys) -> Seen | None:
    if held.get("seen") is None:
        return None
    said = _keys(held["seen"], "seen")
    free, total = _size(said, "free"), _size(said, "total")
    if free is None or total is None:
        message = "'seen' without 'free' and 'total'"
        raise ValueError(message)
    return Seen(
        free=free,
        total=total,
        device_total=_size(said, "device_total"),
        cost=_size(said, "cost"),
        seconds=_seconds(said),
        ordinal=None if said.get("ordinal") is None else _number(said, "ordinal"),
        integrated=_truth(said, "integrated"),
        virtual_memory=_truth(said, "virtual_memory"),
    )


def _host(held: Keys) -> Host:
    return Host(
        total=_size(held, "total"),
        available=_size(held, "available"),
        page_cache=_size(held, "page_cache"),
        limit=_size(held, "limit"),
        used=_size(held, "used"),
        used_by_cache=_size(held, "used_by_cache"),
        swap_total=_size(held, "swap_total"),
        swap_free=_size(held, "swap_free"),
        shm_total=_size(held, "shm_total"),
        shm_free=_size(held, "shm_free"),
        wsl=bool(_truth(held, "wsl")),
        container=_text(held, "container"),
        kernel=_text(held, "kernel"),
        board=_text(held, "board"),
    )


def _capability(held: Keys) -> Capability | None:
    if (said := _text(held, "capability")) is None:
        return None
    if (numbers := _CAPABILITY.fullmatch(said)) is None:
        _refuse("capability", said, "two numbers such as 8.6")
    return Capability(major=int(numbers["major"]), minor=int(numbers["minor"]))


def _each(held: Keys, key: str, one: Callable[[Keys], Noun]) -> tuple[Noun, ...]:
    return tuple(one(_keys(each, key)) for each in _list(held.get(key), key))


def _list(value: object, key: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > _MOST:
        _refuse(key, value, f"a list of at most {_MOST}")
    return value


def _keys(value: object, key: str) -> Keys:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _refuse(key, value, "an object in braces")
    return value


def _texts(value: object) -> dict[str, str]:
    held = _keys(value, "environment")
    if len(held) > _MOST:
        _refuse("environment", value, f"at most {_MOST} variables")
    return {printable(name): _text(held, name) or "" for name in held}


def _lines(value: object) -> tuple[str, ...]:
    return tuple(_text({"notes": each}, "notes") or "" for each in _list(value, "notes"))


def _text(held: Keys, key: str) -> str | None:
    value = held.get(key)
    if value is not None and not isinstance(value, str):
        _refuse(key, value, "a text")
    return None if value is None else printable(value, _LONGEST)


def _truth(held: Keys, key: str) -> bool | None:
    value = held.get(key)
    if value is not None and not isinstance(value, bool):
        _refuse(key, value, "true or false")
    return value


def _number(held: Keys, key: str) -> int:
    value = held.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
        _refuse(key, value, "a whole number")
    return value


def _size(held: Keys, key: str) -> Bytes | None:
    value = held.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST * TIB:
        _refuse(key, value, "a size in whole bytes")
    return Bytes(value)


def _seconds(held: Keys) -> float | None:
    value = held.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 32:
        _refuse("seconds", value, "a number")
    return float(value)


def _refuse(key: str, value: object, wanted: str) -> NoReturn:
    message = f"{key!r} is {printable(repr(value)[:200], 40)}, not {wanted}"
    raise ValueError(message)
