"""Nouns that several contracts hold, as objects of JSON: whole bytes, every key always there."""

from oomph.ledger.ledger import Entry
from oomph.units import Bounds


def bounds(size: Bounds) -> dict[str, int]:
    """A size with its two ends."""
    return {"low": int(size.low), "likely": int(size.likely), "high": int(size.high)}


def entry(each: Entry) -> dict[str, object]:
    """One line of a ledger."""
    return {
        "account": each.account,
        "size": bounds(each.size),
        "basis": each.basis,
        "because": each.because,
    }
