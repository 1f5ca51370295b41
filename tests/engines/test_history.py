import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import Release, Since, release, span
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownRelease
from oomph.ledger.ledger import Basis
from strategies import releases

SHARE = Since({"0.6.0": 0.90, "0.20.0": 0.92})


def test_releases_are_ordered_by_number_and_not_by_letter() -> None:
    written = ["0.8.5", "0.8.5.post1", "0.9.0rc1", "0.9.0", "0.9.0.1", "0.9.1", "0.10.0", "0.10.1.1", "0.32.0"]

    assert sorted(map(release, written)) == [release(text) for text in written]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("v0.19.1", "0.19.1"),
        ("0.19.1+cu129", "0.19.1"),
        ("0.20.1rc1.dev134+g1a2b3c", "0.20.1rc1.dev134"),
        ("0.8.5.post1", "0.8.5.post1"),
    ],
)
def test_a_release_is_read_as_images_and_logs_write_it(text: str, name: str) -> None:
    assert str(release(text)) == name


@pytest.mark.parametrize("text", ["", "latest", "0", "0.19.x", "0.19.1-cu129", "1.2.3.4.5", "٠.١", "0." + "9" * 50])
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(UnknownRelease, match="not a release"):
        release(text)


def test_a_build_between_two_releases_is_before_the_one_it_leads_to() -> None:
    assert release("0.20.0rc1.dev3") < release("0.20.0")
    assert not release("0.20.0rc1").final
    assert release("0.20.0").final


@pytest.mark.parametrize(("text", "share"), [("0.6.0", 0.90), ("0.19.1", 0.90), ("0.20.0", 0.92), ("0.99.0", 0.92)])
def test_a_fact_stays_until_it_changes(text: str, share: float) -> None:
    assert SHARE.at(release(text)) == share


def test_nothing_is_said_of_a_release_before_the_first_line() -> None:
    with pytest.raises(UnknownRelease, match=r"not known for 0\.5\.5: what is known of it begins with 0\.6\.0"):
        SHARE.at(release("0.5.5"))


@pytest.mark.parametrize("changes", [{}, {"0.20.0": 1, "0.6.0": 2}, {"0.6.0": 1, "v0.6.0": 2}])
def test_changes_are_listed_oldest_first_and_once(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="oldest first"):
        Since(changes)


@given(st.sets(releases, min_size=1), releases)
def test_the_last_change_not_after_a_release_is_the_one_that_counts(changes: set[Release], asked: Release) -> None:
    lines = [line for line in HISTORY.releases if line in changes]
    table = Since({str(line): line for line in lines})
    earlier = [line for line in lines if line <= asked]

    if earlier:
        assert table.at(earlier[-1]) == table.changed(earlier[-1]) == earlier[-1]
        assert table.at(asked) == earlier[-1]
    else:
        with pytest.raises(UnknownRelease):
            table.at(asked)


def test_a_span_has_its_first_release_and_not_the_one_that_dropped_it() -> None:
    swap_space = span("0.6.0", "0.18.0")

    assert release("0.6.0") in swap_space
    assert release("0.17.1") in swap_space
    assert release("0.18.0") not in swap_space
    assert "0.17.1" not in swap_space
    assert str(swap_space) == "0.6.0 up to, without, 0.18.0"


def test_releases_older_than_the_first_one_read_are_refused_by_name() -> None:
    with pytest.raises(UnknownRelease, match=r"vLLM 0\.5\.5 is older than the first release that was read, 0\.6\.0"):
        HISTORY.release("0.5.5")


@pytest.mark.parametrize(("text", "why"), [("0.33.0", "newer than 0.32.0"), ("0.19.2.dev3", "no published release")])
def test_what_was_not_read_is_assumed_and_says_so(text: str, why: str) -> None:
    asked = HISTORY.release(text)

    assert HISTORY.basis(asked) is Basis.ASSUMED
    assert why in (HISTORY.warning(asked) or "")


def test_what_was_read_is_computed_without_a_word() -> None:
    assert all(HISTORY.basis(known) is Basis.COMPUTED for known in HISTORY.releases)
    assert not any(HISTORY.warning(known) for known in HISTORY.releases)
