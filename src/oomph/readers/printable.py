"""Names and words from outside, made harmless before they are shown.

Knows that a process may call itself anything, escape sequences of a terminal included, and at any length.
"""

from typing import Final

LONGEST: Final = 256  # characters; no card, driver or process of this world has a longer name


def printable(text: str, longest: int = LONGEST) -> str:
    """One line that any terminal can show and any encoding can carry; the rest is cut."""
    cut = text[: 4 * longest]
    if not cut.isprintable():
        cut = "".join(sign if sign.isprintable() else " " for sign in cut)
    words = " ".join(cut.split())
    return words if len(words) <= longest else words[: longest - 1] + "…"
