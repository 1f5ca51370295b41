"""Measurements of the user's own start-ups, in the user's data directory: one small JSON file each.

Knows the schema `oomph.measurement/1` both ways. A file is written whole or not
at all; one that cannot be understood is passed over with a note, because it may be of a newer oomph. Does not know
what a measurement is good for.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from oomph.errors import OomphError, UnreadableError
from oomph.ledger.device import Capability, Device
from oomph.ledger.measurement import Measurement
from oomph.ledger.observation import Quantity
from oomph.ledger.settings import Flags, Value
from oomph.readers.data_home import home
from oomph.readers.strict_json import read_object
from oomph.units import KIB, Bounds, Bytes

SCHEMA: Final = "oomph.measurement/1"
_LARGEST: Final = 256 * KIB  # of a file: a thousand ranks fit
_MOST: Final = 256  # files of one model that are read, the newest
_CONFIGS: Final = frozenset({"config.json", "params.json"})  # which stand for the directory they are in
_CACHED: Final = re.compile(r"(?:^|[/\\])models--(?P<owner>[^/\\]+?)--(?P<name>[^/\\]+)[/\\]snapshots[/\\]")


def model_name(written: str) -> str:
    """One name for one model: of a directory here its full path, of a snapshot in the Hub's cache the repository."""
    if (cached := _CACHED.search(written)) is not None:
        return f"{cached['owner']}/{cached['name']}"
    with suppress(OSError, ValueError):
        path = Path(written).expanduser()
        if path.exists():
            return str((path.parent if path.name in _CONFIGS else path).resolve())
    return written


def keep(measurement: Measurement) -> Path:
    """Write it, in place of an earlier one of the same start-up."""
    folder = home()
    if folder is None:
        message = "what was learned cannot be kept: this user has no home (set OOMPH_DATA to a directory)"
        raise OomphError(message)
    path = folder / _file(measurement)
    text = json.dumps(_written(measurement), indent=1) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _replace(path, text)
    except OSError as trouble:
        message = (
            f"what was learned cannot be kept in {folder}: {trouble.strerror or trouble} "
            "(set OOMPH_DATA to a directory that can be written)"
        )
        raise OomphError(message) from None
    return path


def _replace(path: Path, text: str) -> None:
    """Write beside it and rename: whoever reads meets the old file or the new one, never half of one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def kept(model: str) -> tuple[tuple[Measurement, ...], tuple[str, ...]]:
    """Those of one model, and a note for each file that was passed over."""
    found, notes = [], []
    for path in _files(model):
        try:
            measurement = _read(path)
        except (OomphError, OSError, KeyError, TypeError, ValueError, AttributeError) as trouble:
            why = trouble.strerror if isinstance(trouble, OSError) else str(trouble) or type(trouble).__name__
            notes.append(f"{path} is passed over: {str(why)[:200]}")
            continue
        if measurement.model == model:
            found.append(measurement)
    return tuple(found), tuple(notes)


def _files(model: str) -> Iterator[Path]:
    """The newest first; a plan opens only those of its own model, by their names."""
    if (folder := home()) is None:
        return
    with suppress(OSError):
        begin = f"{_digest(model)}-"
        with os.scandir(folder) as entries:
            mine = [entry for entry in entries if entry.name.startswith(begin) and entry.name.endswith(".json")]
        mine.sort(key=lambda entry: (entry.stat().st_mtime, entry.name), reverse=True)
        yield from (Path(entry.path) for entry in mine[:_MOST] if entry.is_file())


def _digest(*parts: object) -> str:
    import hashlib  # noqa: PLC0415 - not needed by a plan of a user who never learned anything

    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _file(measurement: Measurement) -> str:
    """Named for the model, and for all that tells one start-up from another."""
    told_apart = {name: value for name, value in _written(measurement).items() if name not in {"figures", "learned"}}
    return f"{_digest(measurement.model)}-{_digest(told_apart)}.json"


def _written(measurement: Measurement) -> dict[str, object]:
    device = measurement.device
    return {
        "schema": SCHEMA,
        "engine": measurement.engine,
        "release": measurement.release,
        "model": measurement.model,
        "device": None
        if device is None
        else {
            "name": device.name,
            "total": int(device.total),
            "capability": None if device.capability is None else [device.capability.major, device.capability.minor],
        },
        "flags": dict(measurement.flags),
        "settings": dict(measurement.settings),
        "config": dict(measurement.config),
        "learned": measurement.learned,
        "figures": {
            quantity: {
                rank: {"low": int(size.low), "likely": int(size.likely), "high": int(size.high)}
                for rank, size in by_rank.items()
            }
            for quantity, by_rank in measurement.figures.items()
        },
    }


def _read(path: Path) -> Measurement:
    with path.open("rb") as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        message = f"it is larger than {Bytes(_LARGEST)}, as no measurement is"
        raise UnreadableError(message)
    held = read_object(raw, file=path.name)
    if held.get("schema") != SCHEMA:
        message = f"its schema is {str(held.get('schema'))[:60]!r}, and {SCHEMA!r} is understood"
        raise UnreadableError(message)
    return Measurement(
        engine=_text(held["engine"]),
        model=_text(held["model"]),
        release=None if held["release"] is None else _text(held["release"]),
        device=_device(held["device"]),
        flags=Flags({name: _value(value) for name, value in _object(held["flags"]).items()}),
        settings={name: _whole(value) for name, value in _object(held["settings"]).items()},
        config={name: _text(value) for name, value in _object(held["config"]).items()},
        learned=_text(held["learned"]),
        figures={
            Quantity(quantity): {rank: _size(size) for rank, size in _object(by_rank).items()}
            for quantity, by_rank in _object(held["figures"]).items()
        },
    )


def _device(held: object) -> Device | None:
    if held is None:
        return None
    fields = _object(held)
    of = fields["capability"]
    major, minor = map(_whole, of) if isinstance(of, list) else (0, 0)
    return Device(
        name=_text(fields["name"]),
        total=Bytes(_whole(fields["total"])),
        capability=None if of is None else Capability(major=major, minor=minor),
    )


def _size(held: object) -> Bounds:
    ends = _object(held)
    return Bounds(_whole(ends["low"]), _whole(ends["high"]), _whole(ends["likely"]))


def _value(held: object) -> Value:
    if isinstance(held, list):
        return tuple(map(_whole, held))
    if held is None or isinstance(held, bool | int | float | str):
        return held
    message = f"{str(held)[:60]!r} is no value of a flag"
    raise TypeError(message)


def _object(held: object) -> Mapping[str, object]:
    if isinstance(held, dict):
        return held
    message = f"{str(held)[:60]!r} where an object should be"
    raise TypeError(message)


def _text(held: object) -> str:
    if isinstance(held, str):
        return held
    message = f"{str(held)[:60]!r} where text should be"
    raise TypeError(message)


def _whole(held: object) -> int:
    if isinstance(held, int) and not isinstance(held, bool):
        return held
    message = f"{str(held)[:60]!r} where a whole number should be"
    raise TypeError(message)
