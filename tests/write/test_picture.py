from dataclasses import replace

from hypothesis import given

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.ledger import Account
from oomph.units import GIB, MIB
from oomph.write.picture import Fate, Part, Row, picture
from write.forecasts import fits, gib, refused_at_one_request, seed_crash, unsure_at_capture, without_graph_profile
from write.made import forecasts


def row(forecast: Forecast, step: Step) -> Row:
    return next(row for row in picture(forecast).rows if row.step is step)


def test_the_seed_crash_breaks_where_the_device_ends() -> None:
    shown = picture(seed_crash())
    broken = row(seed_crash(), Step.GRAPH_PROFILE)
    weights_end = 450 * MIB + gib(18.47)
    likely = weights_end + 17 * 512 * 3_276_800
    driver, weights, pool, sure, unsure, possible = broken.pieces

    assert (driver.what, driver.begin, driver.end) == (Account.DRIVER, 0, 450 * MIB)
    assert (weights.what, weights.begin, weights.end) == (Account.WEIGHTS, 450 * MIB, weights_end)
    assert (pool.what, pool.begin, pool.end) == (Account.KV_POOL, weights_end, gib(31.35))
    assert (sure.what, sure.begin, sure.end, sure.sure) == (Part.MISSING, gib(31.35), likely - 200 * MIB, True)
    assert (unsure.what, unsure.end, unsure.sure) == (Part.MISSING, likely, False)
    assert (possible.what, possible.end) == (Part.POSSIBLE, likely + 300 * MIB)
    assert broken.fate is Fate.STOPS
    assert shown.reach == broken.pieces[-1].end


def test_what_comes_after_the_crash_is_not_reached() -> None:
    fates = [row.fate for row in picture(seed_crash()).rows]

    assert fates == [Fate.PASSES] * 3 + [Fate.STOPS] + [Fate.NOT_REACHED] * 5


def test_a_pool_too_small_for_one_request_shows_what_is_missing_upon_what_is_there() -> None:
    made = refused_at_one_request()
    gate = made.stopped_at
    broken = row(made, Step.ONE_REQUEST)
    missing = [piece for piece in broken.pieces if piece.what is Part.MISSING]

    assert gate is not None
    assert missing[0].begin == gate.ledger.total.likely
    assert broken.torn
    assert missing[-1].end == picture(made).reach == int(made.device.total * 1.5)


def test_doubt_reaches_beyond_the_device_exactly_where_the_verdict_is_unsure() -> None:
    made = unsure_at_capture()
    gate = next(gate for gate in made.gates if gate.step is Step.CAPTURE)
    end = max(piece.end for piece in row(made, Step.CAPTURE).pieces)

    assert end == made.device.total - gate.spare.low > made.device.total
    assert row(fits(), Step.CAPTURE).pieces[-1].end < fits().device.total


def test_a_gate_that_a_release_does_not_have_has_no_bar() -> None:
    skipped = row(without_graph_profile(), Step.GRAPH_PROFILE)

    assert (skipped.fate, skipped.pieces) == (Fate.SKIPPED, ())


def test_the_budget_is_not_drawn_where_a_given_pool_ignores_it() -> None:
    made = fits()
    given_pool = replace(made.settings["max_num_seqs"], value=8 * GIB)
    ignoring = replace(made, settings=type(made.settings)({**made.settings, "kv_cache_memory_bytes": given_pool}))

    assert picture(made).budget == round(made.device.total * 0.92)
    assert picture(ignoring).budget is None


@given(forecasts())
def test_pieces_are_in_order_and_within_the_picture(forecast: Forecast) -> None:
    shown = picture(forecast)
    for one in shown.rows:
        ends = [end for piece in one.pieces for end in (piece.begin, piece.end)]

        assert ends == sorted(ends)
        assert all(0 <= end <= shown.reach for end in ends)
        assert shown.device <= shown.reach <= max(shown.device * 3 // 2, shown.device)


@given(forecasts())
def test_something_is_missing_wherever_it_stops_and_nowhere_where_it_passes(forecast: Forecast) -> None:
    for one in picture(forecast).rows:
        missing = any(piece.what is Part.MISSING for piece in one.pieces)

        assert missing or one.fate is not Fate.STOPS or one.torn
        assert not missing or one.fate in {Fate.STOPS, Fate.UNSURE}


@given(forecasts())
def test_every_step_has_its_row_and_at_most_one_stops(forecast: Forecast) -> None:
    rows = picture(forecast).rows

    assert [one.step for one in rows] == list(Step)
    assert sum(one.fate is Fate.STOPS for one in rows) == (forecast.verdict is Verdict.OVERFLOWS)


def test_only_accounts_that_are_drawn_in_doubt_are_doubtful() -> None:
    made = unsure_at_capture()
    surely_asked = replace(made, gates=made.gates[:1])

    assert picture(made).doubtful
    assert any(not piece.sure for one in picture(surely_asked).rows for piece in one.pieces)
    assert not picture(surely_asked).doubtful
