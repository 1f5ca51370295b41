from dataclasses import replace

from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.proof import conclude
from oomph.diagnose.proof.scenes import KILLERS, hold, killers, trial
from oomph.diagnose.proof.search import Search
from oomph.ledger.proof import Ask, Counted, Failure, Planned
from oomph.ledger.scrape import Scrape
from proofs import ASK, PROMISE, answered, failed, judged, stage


def trial_of(users: int, *, preemptions: int = 0) -> Judged:
    played = stage([answered(user) for user in range(users)], name="trial")
    return judged(replace(played, counted=replace(played.counted, preemptions=preemptions)))


def test_a_load_that_held_says_how_many_and_what_is_left() -> None:
    proof = conclude(PROMISE, ASK, 8, (judged(stage([answered(user) for user in range(8)])),))

    assert (proof.result, proof.held, proof.broke) == (Result.HELD, 8, None)
    # 104 tokens take 4 of 63 blocks; 8 requests take 32, and 31 are left.
    assert (proof.headroom.tokens, proof.headroom.users) == (31 * 32, 7)
    assert proof.notes == ()


def test_trials_that_break_are_what_a_search_is_for() -> None:
    stages = (trial_of(1), trial_of(2), trial_of(4, preemptions=1), trial_of(3, preemptions=1), trial_of(2))
    proof = conclude(PROMISE, ASK, 64, stages, search=Search(most=64, passed=(1, 2, 2), broke=3))

    assert (proof.result, proof.held, proof.broke) == (Result.HELD, 2, 3)


def test_a_search_that_loses_the_server_broke_it() -> None:
    lost = judged(stage([failed(0, Failure.REFUSED)], name="trial", gone="nobody answers /health"))
    proof = conclude(PROMISE, ASK, 64, (trial_of(1), lost), search=Search(most=64, passed=(1,), broke=2))

    assert proof.result is Result.BROKE


def test_one_request_alone_is_no_load_that_held() -> None:
    proof = conclude(PROMISE, ASK, 32, (judged(stage([answered(0)], name="first request")),))

    assert (proof.result, proof.held) == (Result.UNKNOWN, None)
    assert (proof.headroom.kv, proof.headroom.users) == (None, None)


def test_killers_that_were_survived_are_no_load_either() -> None:
    burst = judged(stage([answered(user) for user in range(4)], name="burst", killer=True))

    assert conclude(PROMISE, ASK, 32, (burst,)).result is Result.UNKNOWN


def test_a_load_that_broke_leaves_no_headroom() -> None:
    scrapes = (Scrape(at=1.0, kv_used=0.5, running=2, waiting=0),)
    broken = judged(stage([answered(0), failed(1, Failure.SERVER)], scrapes=scrapes))
    left = conclude(PROMISE, ASK, 2, (broken,)).headroom

    assert (left.kv, left.tokens, left.users) == (None, None, None)


def test_a_hold_that_broke_takes_back_what_its_trials_had_shown() -> None:
    hold_broke = judged(stage([answered(0), answered(1), failed(2, Failure.SERVER)]))
    stages = (trial_of(1), trial_of(2), trial_of(3), trial_of(4, preemptions=1), trial_of(3), hold_broke)
    proof = conclude(PROMISE, ASK, 64, stages, search=Search(most=64, passed=(1, 2, 3, 3), broke=4))

    assert (proof.result, proof.held, proof.broke) == (Result.BROKE, 2, 3)


def test_an_edge_of_which_no_trial_was_ever_at_once_is_not_proved_but_by_a_hold() -> None:
    not_queued = Counted(preemptions=0, queued=0.0)
    one_by_one = judged(stage([answered(0), answered(1, first=5.0)], name="trial", counted=not_queued))
    search = Search(most=2, passed=(1, 2), doubted=frozenset({2}))
    proof = conclude(PROMISE, ASK, 2, (trial_of(1), one_by_one), search=search)

    assert (proof.result, proof.held) == (Result.UNKNOWN, 1)
    held = judged(stage([answered(0), answered(1)]))
    assert conclude(PROMISE, ASK, 2, (trial_of(1), one_by_one, held), search=search).result is Result.HELD


def test_an_interrupted_run_cannot_tell_unless_it_broke_before() -> None:
    held, broke = judged(stage([answered(0)])), judged(stage([failed(0, Failure.SERVER)]))

    assert conclude(PROMISE, ASK, 1, (held,), interrupted=True).result is Result.UNKNOWN
    assert conclude(PROMISE, ASK, 1, (broke,), interrupted=True).result is Result.BROKE


def test_somebody_else_on_the_server_is_noted() -> None:
    other = replace(stage([answered(0)]), counted=Counted(preemptions=0, prompt_tokens=999, answer_tokens=5))

    assert "somebody else uses it" in conclude(PROMISE, ASK, 1, (judged(other),)).notes[0]


def test_the_plan_is_held_against_what_was_seen() -> None:
    planned = Planned(release="0.32.0", length=1024, blocks=63, block_tokens=32, tokens=2016)
    search = Search(most=64, passed=(15, 15), broke=16)
    rows = conclude(PROMISE, ASK, 64, (trial_of(15),), search=search, planned=planned).compared

    assert [(row.what, row.agrees) for row in rows] == [
        ("longest request", True),
        ("block", True),
        ("KV pool", False),
        ("KV pool", False),
        ("release", True),
        ("users of this load", True),
    ]
    assert rows[2].seen == "64 blocks (+1.6%)"


def test_a_plan_that_promises_more_than_held_is_not_refuted_before_anything_broke() -> None:
    planned = Planned(blocks=64, block_tokens=32)
    held = conclude(PROMISE, ASK, 4, (judged(stage([answered(user) for user in range(4)])),), planned=planned)

    assert held.compared[-1].agrees is None


def test_every_killer_has_a_scene_and_none_asks_for_more_than_the_server_takes() -> None:
    scenes = killers(tuple(KILLERS), ASK, 8, PROMISE)

    assert tuple(scene.name for scene in scenes) == tuple(KILLERS)
    assert all(ask.tokens <= 1024 for scene in scenes for ask in (*scene.asks, *scene.after))
    assert all(scene.killer for scene in scenes)
    assert {scene.name: scene.users for scene in scenes}["burst"] == 32


def test_the_hold_and_a_trial_begin_at_once() -> None:
    ask = Ask(prompt=10, answer=2)

    assert (hold(ask, 3, 5.0).ramp, hold(ask, 3, 5.0).seconds, trial(ask, 3).seconds) == (0, 5.0, 0)
