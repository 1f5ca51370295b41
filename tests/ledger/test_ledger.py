import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.ledger import Account, Basis, Entry, Ledger, weakest
from oomph.units import GIB, Bounds
from strategies import bounds


def entry(account: Account, size: Bounds, basis: Basis = Basis.COMPUTED) -> Entry:
    return Entry(account=account, size=size, basis=basis, because="made by a test")


entries = st.builds(entry, st.sampled_from(list(Account)), bounds, st.sampled_from(list(Basis)))


def test_a_ledger_sums_its_entries_and_rests_on_the_weakest() -> None:
    ledger = Ledger(
        (
            entry(Account.WEIGHTS, Bounds(15 * GIB), Basis.COMPUTED),
            entry(Account.GRAPHS, Bounds(GIB, 2 * GIB), Basis.CALIBRATED),
        )
    )

    assert ledger.total == Bounds(16 * GIB, 17 * GIB)
    assert ledger.basis is Basis.CALIBRATED
    assert ledger.of(Account.GRAPHS) == Bounds(GIB, 2 * GIB)


def test_an_account_of_which_nothing_is_known_is_not_zero() -> None:
    assert Ledger().of(Account.DRIVER) is None


def test_an_entry_without_its_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="an entry of weights without its reason"):
        Entry(account=Account.WEIGHTS, size=Bounds(1), basis=Basis.COMPUTED, because="")


@given(st.lists(entries, max_size=6).map(tuple), bounds)
def test_a_balanced_ledger_covers_what_was_seen_and_is_no_surer_than_its_parts(
    parts: tuple[Entry, ...], seen: Bounds
) -> None:
    ledger = Ledger(parts)
    balanced = ledger.balanced(seen)

    assert balanced.total.likely == seen.likely
    assert balanced.total.low <= seen.low
    assert seen.high <= balanced.total.high
    assert balanced.basis.rank >= ledger.basis.rank


@given(st.lists(st.sampled_from(list(Basis)), min_size=1))
def test_more_parts_never_make_a_sum_surer(bases: list[Basis]) -> None:
    assert weakest(*bases).rank == max(basis.rank for basis in bases)
    assert weakest(*bases, Basis.ASSUMED) is Basis.ASSUMED
