"""Which colour says what, on light and on dark, the same on a terminal, in an SVG and on a page.

Knows colours that people with any kind of colour vision tell apart (after Okabe and Ito, darkened or lightened until
they stand out from their ground), and the ink that can be read upon each. Does not know what is drawn.
"""

from dataclasses import dataclass
from typing import Final

from oomph.ledger.ledger import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """One ground and everything on it."""

    ground: str
    raised: str  # of cards, code and the bars' empty part
    line: str
    ink: str
    faint: str
    fits: str
    overflows: str
    unsure: str
    flag: str


LIGHT: Final = Palette(
    ground="#ffffff",
    raised="#f3f5f8",
    line="#d3d9e0",
    ink="#1b2229",
    faint="#57616c",
    fits="#00684a",
    overflows="#b8320a",
    unsure="#855600",
    flag="#00598c",
)
DARK: Final = Palette(
    ground="#0e1319",
    raised="#1a222b",
    line="#37424e",
    ink="#e8edf2",
    faint="#9aa6b2",
    fits="#3fcf9f",
    overflows="#ff8a5c",
    unsure="#f0b429",
    flag="#7cc7f5",
)

# The same on both grounds, and the ink upon it.
ACCOUNTS: Final = {
    Account.DRIVER: ("#77818c", "#000000"),
    Account.FOREIGN: ("#a3744c", "#000000"),
    Account.WEIGHTS: ("#0072b2", "#ffffff"),
    Account.UNACCOUNTED: ("#8a8fd0", "#000000"),
    Account.ACTIVATIONS: ("#cf8500", "#000000"),
    Account.GRAPHS: ("#cc79a7", "#000000"),
    Account.KV_POOL: ("#009e73", "#000000"),
}
