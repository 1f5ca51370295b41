"""What is to be run: a model, its flags, on these devices, with this release of the engine.

Knows only what was chosen; a way to write it down, and the engine's spelling of a flag, are `write/manifest`'s. Not
what a user typed: that is `readers/command.py`, which knows what was assumed when it was read.
"""

from dataclasses import dataclass

from oomph.ledger.device import Device
from oomph.ledger.settings import Flags
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One start of an engine, complete enough to be run."""

    release: str  # of the engine, as it is published: 0.19.1
    model: str  # a Hub id, or a path that begins with /, ./, ../ or ~/
    flags: Flags  # by long name with underscores; environment variables stand among them, by their upper-case names
    devices: tuple[Device, ...]  # in the order of ranks
    files: Bytes | None = None  # of the checkpoint on a disk; None where nobody says

    def __post_init__(self) -> None:
        if not self.model or self.model.startswith("-") or not self.devices:
            message = f"nothing can be run without a model and a device: {self.model!r} on {len(self.devices)}"
            raise ValueError(message)
