"""oomph foresees, explains and prevents out-of-memory failures of LLM serving engines."""

from oomph.errors import (
    OomphError,
    UnknownDevice,
    UnknownFlag,
    UnknownModel,
    UnknownRelease,
    UnreadableError,
    UsageError,
)
from oomph.units import Bounds, Bytes

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "Bytes",
    "OomphError",
    "UnknownDevice",
    "UnknownFlag",
    "UnknownModel",
    "UnknownRelease",
    "UnreadableError",
    "UsageError",
]
