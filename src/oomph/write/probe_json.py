"""A probe as the contract `oomph.probe/1`: whole bytes, every key always there, null where nothing is known.

The keys are the names of the nouns' fields. `readers.probe_file` takes it back.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Final

from oomph.ledger.device import Capability
from oomph.ledger.probe import Probe

SCHEMA: Final = "oomph.probe/1"


def probe_json(probe: Probe) -> str:
    """One object, with a line end."""
    return json.dumps(probe_object(probe), indent=2) + "\n"


def probe_object(probe: Probe) -> dict[str, object]:
    """What is written, before it is text, for those who have more to say beside it."""
    return {"schema": SCHEMA} | {each.name: _written(getattr(probe, each.name)) for each in fields(probe)}


def _written(value: object) -> object:
    if isinstance(value, Capability):
        return str(value)
    if is_dataclass(value):
        return {each.name: _written(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value
