from dataclasses import replace

import pytest

from oomph.diagnose.proof.judge import Result, at_once, waited
from oomph.ledger.proof import Counted, Failure, Wishes
from oomph.ledger.scrape import Scrape
from proofs import answered, failed, judged, stage


def test_a_stage_in_which_all_are_answered_together_held() -> None:
    found = judged(stage([answered(user) for user in range(8)]))

    assert (found.result, found.why, found.fatal) == (Result.HELD, (), False)


@pytest.mark.parametrize("failure", [each for each in Failure if each not in {Failure.REJECTED, Failure.OURS}])
def test_one_failed_request_breaks_it_and_is_told_by_its_kind(failure: Failure) -> None:
    found = judged(stage([answered(0), failed(1, failure, "503 busy")]))

    assert found.result is Result.BROKE
    assert found.why == (f"1 of 2 requests: {failure} (503 busy)",)


def test_a_killer_that_is_turned_away_was_refused_but_a_load_that_is_turned_away_tells_nothing() -> None:
    outcomes = [failed(0, Failure.REJECTED, "400 too many")]

    assert judged(stage(outcomes, name="logprobs", killer=True)).result is Result.REFUSED
    assert judged(stage(outcomes)).result is Result.UNKNOWN


@pytest.mark.parametrize("name", ["hold", "burst"])
def test_what_this_machine_could_not_send_is_not_held_against_the_server(name: str) -> None:
    outcomes = [answered(0), failed(1, Failure.OURS, "Too many open files"), failed(2, Failure.CUT)]
    found = judged(stage(outcomes, name=name, killer=name == "burst"))

    assert (found.result, found.ours, found.fatal) == (Result.UNKNOWN, True, False)
    assert found.why[0].startswith("1 of 3 requests were never sent, by a limit of this machine: Too many open files")


def test_a_load_of_which_nobody_counted_preemptions_tells_nothing_unless_they_do_not_matter() -> None:
    silent = stage([answered(0)], counted=Counted())

    assert judged(silent).result is Result.UNKNOWN
    assert "did not say how often it preempted" in judged(silent).why[0]
    assert judged(silent, Wishes(may_preempt=True)).result is Result.HELD
    assert judged(stage([answered(0)], counted=Counted(), name="burst", killer=True)).result is Result.HELD
    assert judged(stage([answered(0)], counted=Counted(), name="first request")).result is Result.HELD


def test_a_trial_that_was_never_all_at_once_says_so_unless_waiting_does_not_matter() -> None:
    not_queued = Counted(preemptions=0, queued=0.0)
    apart = stage([answered(0), answered(1, first=5.0)], name="trial", counted=not_queued)

    assert judged(apart).result is Result.UNKNOWN
    assert judged(apart).why == ("answered, but never all 2 at the same time, so that many were not tried",)
    assert judged(apart, Wishes(may_wait=True)).result is Result.HELD


def test_preemption_breaks_a_load_unless_it_is_allowed_and_never_a_killer() -> None:
    once = Counted(preemptions=1)

    assert judged(stage([answered(0)], counted=once)).why[0].startswith("the engine preempted once")
    assert judged(stage([answered(0)], counted=once), Wishes(may_preempt=True)).result is Result.HELD
    assert judged(stage([answered(0)], counted=once, killer=True)).result is Result.HELD


def test_who_begins_after_another_has_ended_has_waited() -> None:
    late = stage([answered(0), answered(1), answered(2, first=0.6)])

    assert waited(late) == 1
    assert "1 of 3 waited until others had ended" in judged(late).why[0]
    assert judged(late, Wishes(may_wait=True)).result is Result.HELD


def test_who_only_seems_late_because_the_server_is_short_of_cpu_has_not_waited() -> None:
    late = stage([answered(0), answered(1), answered(2, first=0.6)])

    # The first ends after 0.5 s: whoever waited for that has waited about as long inside the engine.
    assert waited(replace(late, counted=replace(late.counted, queued=0.05))) == 0
    assert waited(replace(late, counted=replace(late.counted, queued=0.45))) == 1
    assert not at_once(late)
    assert at_once(stage([answered(0), answered(1, first=0.45)]))


def test_an_answer_that_came_in_one_piece_does_not_say_when_it_began() -> None:
    whole = replace(answered(1, first=0.6), pieces=1, gaps=())

    assert waited(stage([answered(0), whole])) == 0


def test_waiting_while_the_pool_has_no_room_for_one_more_prompt_counts_even_if_only_sampled() -> None:
    outcomes = [answered(0), answered(1)]
    full = Scrape(at=1.0, kv_used=60 / 63, waiting=1)  # three blocks are free, and a prompt of 100 tokens needs four
    roomy = Scrape(at=1.0, kv_used=59 / 63, waiting=1)

    assert judged(stage(outcomes, scrapes=(full,))).result is Result.BROKE
    assert judged(stage(outcomes, scrapes=(roomy,))).result is Result.HELD


def test_a_wish_is_missed_at_the_99th_of_a_hundred() -> None:
    slow = stage([answered(user, first=2.0 if user < 2 else 0.1, gap=1.0) for user in range(100)])

    missed = judged(slow, Wishes(first_token=1.5, may_wait=True)).why
    granted = judged(slow, Wishes(first_token=2.5, may_wait=True)).why

    assert missed == ("the first token took 2 s at p99; the wish was 1.5 s",)
    assert granted == ()


def test_a_server_that_is_gone_or_hangs_breaks_everything_that_follows() -> None:
    gone = judged(stage([failed(0, Failure.CUT)], gone="nobody answers /health", killer=True))
    hung = judged(stage([failed(0, Failure.SILENT)], hung=60.2))

    assert (gone.result, gone.fatal, hung.fatal) == (Result.BROKE, True, True)
    assert hung.why[0] == "the engine hangs: no token and no step for 60 s, while /health answers 200"
