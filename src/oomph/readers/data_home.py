"""Where each system keeps what a program learns for its user.

Knows the places. Does not know what is kept there: a plan looks whether there is anything at all before it reads.
"""

import os
import sys
from pathlib import Path


def home() -> Path | None:
    """Where they are kept: OOMPH_DATA, else where this system keeps the data of its users; None where it has none."""
    if given := os.environ.get("OOMPH_DATA"):
        return Path(given) / "measurements"
    try:
        return _data() / "oomph" / "measurements"
    except RuntimeError:  # a user without a home, as in some containers
        return None


def _data() -> Path:
    if given := os.environ.get("XDG_DATA_HOME"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "share"
