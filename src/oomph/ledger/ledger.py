"""Where bytes go, how many, and how we know.

Knows accounts, entries and their sum. Does not know who computes an entry, nor when it is resident.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from oomph.units import Bounds


class Account(StrEnum):
    """What bytes are spent on."""

    WEIGHTS = "weights"
    ACTIVATIONS = "activations"
    GRAPHS = "graphs"
    KV_POOL = "kv pool"
    DRIVER = "driver"
    FOREIGN = "foreign"
    UNACCOUNTED = "unaccounted"


class Basis(StrEnum):
    """How an entry is known, surest first."""

    OBSERVED = "observed"
    COMPUTED = "computed"
    CALIBRATED = "calibrated"
    ASSUMED = "assumed"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return tuple(Basis).index(self)


def weakest(*bases: Basis) -> Basis:
    """What a sum rests on: its least sure part."""
    return max(bases, key=lambda basis: basis.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the ledger: an account, its size, and how we know."""

    account: Account
    size: Bounds
    basis: Basis
    because: str  # the formula in words, with its numbers in it

    def __post_init__(self) -> None:
        if not self.because:
            message = f"an entry of {self.account} without its reason"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries that are resident together on one device."""

    entries: tuple[Entry, ...] = ()

    @property
    def total(self) -> Bounds:
        """What all entries take together."""
        return sum((entry.size for entry in self.entries), Bounds(0))

    @property
    def basis(self) -> Basis:
        """What the total rests on."""
        return weakest(Basis.OBSERVED, *(entry.basis for entry in self.entries))

    def of(self, account: Account) -> Bounds | None:
        """What one account takes; None where nothing is known of it, which is not 0."""
        sizes = [entry.size for entry in self.entries if entry.account is account]
        return sum(sizes, Bounds(0)) if sizes else None

    def balanced(self, observed: Bounds) -> "Ledger":
        """With what was seen but is in no entry under `unaccounted`, so that the sum is what was seen.

        The ends may be negative: then the entries claim more than was seen, and that is printed, not hidden.
        """
        rest = Entry(
            account=Account.UNACCOUNTED,
            size=observed - self.total,
            basis=weakest(Basis.OBSERVED, self.basis),
            because=f"{observed} were seen, {self.total} are explained",
        )
        return Ledger((*self.entries, rest))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)
