from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.proof.judge import Result
from oomph.diagnose.proof.search import Search


def tried(breaking: int, most: int) -> tuple[Search, list[int]]:
    """All trials against an engine that breaks from so many users on."""
    search, trials = Search(most=most), []
    while (users := search.users) is not None:
        trials.append(users)
        assert len(trials) < 100
        search = search.after(users, Result.BROKE if users >= breaking else Result.HELD)
    return search, trials


def test_it_doubles_until_it_breaks_then_halves_the_gap_and_tries_the_edge_again() -> None:
    search, trials = tried(13, 64)

    assert (search.held, search.broke) == (12, 13)
    assert trials == [1, 2, 4, 8, 16, 12, 14, 13, 12]


def test_an_edge_that_breaks_the_second_time_was_luck() -> None:
    search = Search(most=64, passed=(1, 2, 4, 8, 12), broke=13).after(12, Result.BROKE)

    assert (search.held, search.broke, search.users) == (8, 12, 10)  # 11 was never tried


def test_an_edge_is_sure_only_after_two_trials_of_its_own() -> None:
    search = Search(most=64, passed=(8, 12), broke=13).after(12, Result.BROKE)
    search = search.after(10, Result.HELD).after(11, Result.HELD)

    assert search.users == 11
    assert search.after(11, Result.HELD).users is None


def test_a_trial_that_showed_nothing_is_gone_past_but_remembered_until_one_shows_something() -> None:
    search = Search(most=2).after(1, Result.HELD).after(2, Result.UNKNOWN)

    assert (search.held, search.users, search.doubted) == (2, None, frozenset({2}))
    assert search.after(2, Result.HELD).doubted == frozenset()
    assert search.after(2, Result.HELD).after(2, Result.UNKNOWN).doubted == frozenset()


def test_one_user_who_breaks_it_is_the_breaking_load() -> None:
    search, trials = tried(1, 64)

    assert (search.held, search.broke, trials) == (0, 1, [1])


@given(breaking=st.integers(1, 5000), most=st.integers(1, 4000))
def test_it_always_finds_the_edge_in_few_trials(breaking: int, most: int) -> None:
    search, trials = tried(breaking, most)

    assert search.held == min(breaking - 1, most)
    assert search.broke == (breaking if breaking <= most else None)
    assert len(trials) <= 2 * most.bit_length() + 2
