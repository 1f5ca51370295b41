from dataclasses import replace
from math import inf

from oomph.diagnose.proof.accounts import accounts, as_one, counted
from oomph.ledger.histogram import Histogram
from oomph.ledger.proof import Counted, Failure
from oomph.ledger.scrape import Scrape
from proofs import answered, failed, stage

BEFORE = Scrape(at=0, started=7.0, preemptions=3, prompt_tokens=1000, generation_tokens=500, finished={"length": 9})
AFTER = replace(BEFORE, at=1, preemptions=5, prompt_tokens=1200, generation_tokens=510, finished={"length": 11})


def test_sent_is_finished_and_failed_by_kind() -> None:
    sums = accounts([stage([answered(0), answered(1), failed(2, Failure.CUT)]), stage([failed(0, Failure.CUT)])])

    assert (sums.sent, sums.finished, sums.failed, sums.balanced) == (4, 2, {Failure.CUT: 2}, True)
    assert (sums.prompt_tokens, sums.answer_tokens) == (200, 10)


def test_tokens_agree_with_the_server_only_where_they_are_the_same() -> None:
    same = stage([answered(0), answered(1)])
    others = replace(same, counted=Counted(preemptions=0, prompt_tokens=201, answer_tokens=10, finished=2))

    assert accounts([same]).agrees is True
    assert accounts([others]).agrees is False
    assert accounts([replace(same, counted=Counted())]).agrees is None
    assert accounts([stage([answered(0), failed(1, Failure.CUT)])]).agrees is None


def test_a_request_for_several_answers_reads_its_prompt_once_for_each() -> None:
    outcome = answered(0)
    several = replace(outcome, ask=replace(outcome.ask, answers=3), answer_tokens=15)

    assert accounts([stage([several])]).prompt_tokens == 300


def test_what_the_server_counted_is_the_difference_of_two_looks() -> None:
    expected = Counted(preemptions=2, prompt_tokens=200, answer_tokens=10, finished=2, rejected=0)

    assert counted(BEFORE, AFTER) == expected
    waited = Histogram(edges=(inf,), counts=(2,), total=3.0)
    assert counted(BEFORE, replace(AFTER, queued=waited)).queued == 3.0
    assert counted(replace(BEFORE, queued=replace(waited, total=1.0)), replace(AFTER, queued=waited)).queued == 2.0


def test_a_server_that_began_anew_has_counted_nothing_that_can_be_compared() -> None:
    assert counted(BEFORE, replace(AFTER, started=8.0)) == Counted()
    assert counted(BEFORE, None) == Counted()
    assert counted(AFTER, BEFORE).preemptions is None


def test_engines_behind_one_endpoint_are_added_and_the_fullest_pool_counts() -> None:
    queued = Histogram(edges=(1.0, inf), counts=(1, 2), total=0.5)
    first = replace(BEFORE, kv_used=0.25, running=3, waiting=0, queued=queued)
    more = replace(queued, counts=(2, 3), total=2.0)
    one = as_one((first, replace(AFTER, kv_used=0.5, running=4, waiting=1, queued=more)))

    assert one is not None
    assert (one.kv_used, one.running, one.waiting, one.preemptions, one.requests) == (0.5, 7, 1, 8, 20)
    assert one.queued is not None
    assert (one.queued.counts, one.queued.total) == ((3, 5), 2.5)
    assert as_one(()) is None
    assert as_one((first,)) is first
