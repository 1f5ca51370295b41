"""oomph foresees, explains and prevents out-of-memory failures of LLM serving engines."""

from oomph.errors import OomphError, UnknownDevice, UnknownFlag, UnknownRelease, UnreadableError, UsageError
from oomph.units import Bounds, Bytes

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "Bytes",
    "OomphError",
    "UnknownDevice",
    "UnknownFlag",
    "UnknownRelease",
    "UnreadableError",
    "UsageError",
]
