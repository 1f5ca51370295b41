"""Rules on running engines: each fires on what it is for, says figures that were worked by hand, and else is silent."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.serving.looks import answers, course, scrape
from oomph.diagnose.serving import (
    backlog,
    engine_stuck,
    memory_creeps,
    not_answering,
    pool_saturated,
    prefix_cache,
    restarted,
    turned_away,
)
from oomph.diagnose.serving.course import KEPT_OLDER, KEPT_RECENT, Course, courses, remember
from oomph.diagnose.serving.judge import OF_ENDPOINTS, OF_ENGINES, judge
from oomph.diagnose.serving.notice import Level
from oomph.ledger.answer import Answer, Trouble
from oomph.ledger.scrape import Scrape
from oomph.units import GIB, MIB, Bytes


def test_an_engine_that_works_is_left_in_peace() -> None:
    standing = judge("e:1", answers(course(count=40)))

    assert standing.every_notice == ()


def test_an_idle_engine_is_left_in_peace() -> None:
    still = course(
        running=lambda _: 0,
        kv_used=lambda _: 0.0,
        generation_tokens=lambda _: 5,
        prompt_tokens=lambda _: 5,
        finished=lambda _: {"stop": 1},
        steps=lambda _: 5,
    )

    assert judge("e:1", answers(still)).every_notice == ()


def test_a_full_pool_that_throws_requests_out_is_told_with_how_many_it_would_hold() -> None:
    full = course(preemptions=int, kv_used=lambda _: 0.98, running=lambda _: 20)
    notice = pool_saturated.check(full)

    assert notice is not None
    assert notice.level is Level.ERROR
    assert notice.summary == "the pool was 98 % full and threw out 60 requests in 60 s, each to be computed again"
    # At the last look 106,000 + 26,000 tokens were of 130 requests: 1,016 each, and 16 × 1,000 tokens hold 15 of them.
    assert "the pool holds 16,000 tokens: 15 requests of the average 1,016" in notice.evidence
    assert notice.do[0].startswith("--max-num-seqs 15:")


def test_a_preemption_now_and_then_is_a_warning() -> None:
    notice = pool_saturated.check(course(preemptions=lambda at: int(at >= 30), kv_used=lambda _: 0.95))

    assert notice is not None
    assert notice.level is Level.WARNING


def test_preemptions_of_long_ago_are_forgotten() -> None:
    assert pool_saturated.check(course(count=40, preemptions=lambda at: min(50, int(at)))) is None


def test_who_waits_before_a_full_pool_is_told_so() -> None:
    notice = backlog.check(
        course(waiting=lambda at: 3 + int(at), kv_used=lambda _: 0.96, running=lambda at: 8 + at % 2)
    )

    assert notice is not None
    assert notice.level is Level.ERROR
    assert notice.summary == "63 requests waiting, and more and more: the pool is full"
    assert "waiting 33 → 63 in 30 s" in notice.evidence
    assert "at 2 finished a second, the last of them begins in 32 s" in notice.evidence


def test_who_waits_for_a_seat_is_told_how_many_seats_the_pool_has_room_for() -> None:
    notice = backlog.check(course(waiting=lambda _: 5, kv_used=lambda _: 0.45, running=lambda _: 8))

    assert notice is not None
    assert notice.level is Level.WARNING
    assert notice.summary == "5 requests waiting: all 8 seats seem to be taken, and the pool is not full"
    assert notice.do[0].startswith("--max-num-seqs 16 ")  # 8 × 0.90 / 0.45


def test_who_was_deferred_does_not_wait_for_room() -> None:
    notice = backlog.check(course(waiting=lambda _: 5, waiting_by=lambda _: {"capacity": 1, "deferred": 4}))

    assert notice is not None
    assert notice.summary == "5 requests waiting: most were deferred, not for want of room"
    assert "by reason: capacity 1, deferred 4" in notice.evidence


def test_who_waits_though_nothing_is_short_waits_for_prompts() -> None:
    notice = backlog.check(course(waiting=lambda _: 5, running=lambda at: 8 + int(at) % 2))

    assert notice is not None
    assert "--max-num-batched-tokens" in notice.do[0]


def test_a_short_queue_that_comes_and_goes_is_no_backlog() -> None:
    assert backlog.check(course(waiting=lambda at: int(at) % 10)) is None


def test_one_look_tells_of_a_queue_only_before_a_full_pool() -> None:
    assert backlog.check(course(count=1, waiting=lambda _: 5)) is None
    assert backlog.check(course(count=1, waiting=lambda _: 5, kv_used=lambda _: 0.99)) is not None


@pytest.mark.parametrize(("hits", "words"), [(0, "none"), (1_000, "under 1 %"), (4_900, "under 1 %")])
def test_a_prefix_cache_that_finds_nothing_is_a_note_and_no_reason_to_act(hits: int, words: str) -> None:
    notice = prefix_cache.check(course(prefix_queries=lambda _: 500_000, prefix_hits=lambda _: hits))

    assert notice is not None
    assert (notice.name, notice.wrong) == ("prefix-cache-useless", False)
    assert notice.summary == f"the prefix cache finds {words} of what prompts ask it for"


def test_a_prefix_cache_that_finds_most_is_precious() -> None:
    notice = prefix_cache.check(course(prefix_queries=lambda _: 500_000, prefix_hits=lambda _: 400_000))

    assert notice is not None
    assert (notice.name, notice.wrong) == ("prefix-cache-precious", False)
    assert notice.summary == "the prefix cache saves 80 % of the work on prompts"


def test_a_prefix_cache_that_a_full_pool_gives_away_is_being_lost() -> None:
    lost = course(
        prefix_queries=lambda at: 500_000 + int(1_000 * at), prefix_hits=lambda at: 400_000 + int(100 * at),
        kv_used=lambda _: 0.97,
    )  # fmt: skip
    notice = prefix_cache.check(lost)

    assert notice is not None
    assert (notice.name, notice.level) == ("prefix-cache-lost", Level.WARNING)
    assert notice.summary == "the prefix cache finds 10 % where it found 80 %: the pool is full"


def test_little_is_concluded_from_little() -> None:
    assert prefix_cache.check(course(prefix_queries=lambda _: 9_000, prefix_hits=lambda _: 0)) is None
    assert prefix_cache.check(course(prefix_queries=lambda _: None)) is None


def frozen(count: int, **more: object) -> Course:
    """The same figures at every look."""
    return Course.of([replace(scrape(100.0, **more), at=5.0 * number) for number in range(count)], healthy=True)


def test_an_engine_that_stands_still_with_requests_is_stuck_though_its_server_answers() -> None:
    notice = engine_stuck.check(frozen(13))

    assert notice is not None
    assert notice.level is Level.ERROR
    assert notice.summary == "nothing moved in 60 s with 8 running and 0 waiting, though /health answers"


@pytest.mark.parametrize(
    "quiet",
    [
        frozen(12),
        frozen(20, running=0),
        frozen(20, asleep=True),
        frozen(20, steps=None, generation_tokens=None, prompt_tokens=None, finished={}),
        course(every=5.0),
        course(every=1.0, count=4),
    ],
    ids=["too soon", "nothing to do", "asleep", "counts nothing", "works", "looked at quickly"],
)
def test_an_engine_is_not_called_stuck_for_less(quiet: Course) -> None:
    assert engine_stuck.check(quiet) is None


def test_an_engine_whose_steps_go_on_is_not_stuck_while_it_reads_a_long_prompt() -> None:
    reading = course(
        generation_tokens=lambda _: 5,
        prompt_tokens=lambda _: 5,
        finished=lambda _: {"stop": 1},
        steps=int,
    )

    assert engine_stuck.check(reading) is None


def test_an_engine_that_only_takes_blocks_is_reading_a_long_prompt() -> None:
    looks = [replace(scrape(100.0, kv_used=0.1 + 0.02 * number), at=5.0 * number) for number in range(20)]

    assert engine_stuck.check(Course.of(looks)) is None


def test_counters_that_fell_are_of_a_new_process() -> None:
    anew = course(generation_tokens=lambda at: int(400 * (at if at < 30 else at - 30)), started=lambda _: None)
    notice = restarted.check(anew)

    assert notice is not None
    assert (notice.name, notice.level) == ("restarted", Level.WARNING)
    assert notice.summary == "began anew 30 s ago; 8 requests ran before"
    assert len(anew.current) == 7


def test_a_later_beginning_is_a_new_process_and_twice_is_no_accident() -> None:
    notice = restarted.check(course(started=lambda at: 1_000.0 + 100 * (at // 25)))

    assert notice is not None
    assert notice.level is Level.ERROR
    assert "for the 2 times that was seen" in notice.summary


def test_a_restart_is_told_by_when_the_process_says_that_it_began_and_for_a_quarter_of_an_hour() -> None:
    looks = [scrape(at, started=5.0 if at < 100 else 90.0) for at in (0.0, 60.0, 300.0, 600.0, 980.0, 1_000.0)]

    notice = restarted.check(Course.of(looks[:3]))
    assert notice is not None
    assert notice.summary.startswith("began anew 4 min ago")  # 300 - 90 s
    assert restarted.check(Course.of(looks[:5])) is not None
    assert restarted.check(Course.of(looks)) is None


def test_servers_that_take_turns_are_not_taken_for_one_that_falls_over() -> None:
    standing = judge(
        "e:1", answers(course(started=lambda at: 1_000.0 + at % 10, preemptions=lambda at: int(at * 7) % 50))
    )

    assert [notice.name for notice in standing.every_notice] == ["servers-take-turns"]


def test_rates_are_of_the_process_that_runs_now() -> None:
    anew = course(preemptions=lambda at: 900 if at < 30 else 0)

    assert anew.gain("preemptions") == 0
    assert anew.rate("generation_tokens") == 400.0


def test_an_endpoint_that_fell_silent_is_told_with_since_when() -> None:
    looks = (
        *answers(course(count=3)),
        *(Answer(at=at, trouble=Trouble.SILENT, words="no answer") for at in (15.0, 45.0)),
    )
    standing = judge("e:1", looks)

    assert [notice.name for notice in standing.every_notice] == ["endpoint-silent"]
    assert standing.notices[0].summary == "no answer, for 30 s"
    assert standing.notices[0].evidence == ("2 looks without an answer", "it last answered 35 s ago")


@pytest.mark.parametrize("trouble", Trouble)
def test_every_trouble_has_something_to_do(trouble: Trouble) -> None:
    notice = not_answering.check([Answer(at=0.0, trouble=trouble)])

    assert notice is not None
    assert notice.name == f"endpoint-{trouble}"
    assert notice.do


def test_memory_that_grows_all_the_time_creeps() -> None:
    leaking = course(every=30.0, count=40, resident=lambda at: Bytes(2 * GIB + int(at) * MIB))
    notice = memory_creeps.check(answers(leaking))

    assert notice is not None
    assert notice.summary.startswith("host memory of the server's process grows: 2.18 GiB → 2.95 GiB in 20 min")


def warming_up(at: float) -> Bytes:
    return Bytes(2 * GIB + min(int(at), 300) * MIB)


def one_step(at: float) -> Bytes:
    return Bytes((2 + (at > 600)) * GIB)


def level(_: float) -> Bytes:
    return Bytes(2 * GIB)


@pytest.mark.parametrize("resident", [warming_up, one_step, level])
def test_memory_that_levels_off_does_not_creep(resident: Callable[[float], Bytes]) -> None:
    assert memory_creeps.check(answers(course(every=30.0, count=40, resident=resident))) is None


def test_memory_is_not_compared_with_that_of_a_process_that_is_gone() -> None:
    anew = course(
        every=30.0, count=40, started=lambda at: float(at // 400), resident=lambda at: Bytes(2 * GIB + int(at) * MIB)
    )

    assert memory_creeps.check(answers(anew)) is None


def test_a_device_that_fills_up_says_when_it_will_be_full() -> None:
    points = [(60.0 * minute, (60 * GIB) + minute * 100 * MIB) for minute in range(31)]
    notice = memory_creeps.creeping(points, what="memory of GPU 0", limit=80 * GIB)

    assert notice is None  # 3 GiB of 60 are less than a twentieth
    notice = memory_creeps.creeping(
        [(at, size - 30 * GIB) for at, size in points], what="memory of GPU 0", limit=40 * GIB
    )
    assert notice is not None
    assert notice.summary == "memory of GPU 0 grows: 30.44 GiB → 32.44 GiB in 30 min; at this pace it ends in 71 min"


def test_requests_that_fail_or_are_refused_are_told() -> None:
    notice = turned_away.check(
        course(
            finished=lambda at: {"stop": int(at), "error": int(at / 10)},
            rejected=lambda at: {"max_num_queued_reqs": int(at)},
        )
    )

    assert notice is not None
    assert notice.level is Level.ERROR
    assert notice.summary == "6 requests ended in an error and 60 requests refused at the door in 60 s"


def test_what_is_kept_is_bounded_keeps_the_newest_and_reaches_far_back() -> None:
    kept: tuple[Answer, ...] = ()
    for second in range(5_000):
        kept = remember(kept, Answer(at=float(second)))

    assert len(kept) <= KEPT_RECENT + KEPT_OLDER
    assert [answer.at for answer in kept[-KEPT_RECENT:]] == [
        float(second) for second in range(5_000 - KEPT_RECENT, 5_000)
    ]
    assert kept[0].at == 0.0
    assert sorted(kept, key=lambda answer: answer.at) == list(kept)


def test_a_slow_leak_is_found_and_stays_found_however_long_it_is_watched() -> None:
    kept: tuple[Answer, ...] = ()
    found = []
    for look in range(3_600):  # five hours
        at = 5.0 * look
        leaking = scrape(at, resident=Bytes(2 * GIB + int(at * GIB / 7_200)))  # half a GiB an hour
        kept = remember(kept, Answer(at=at, scrapes=(leaking,)))
        if memory_creeps.check(kept) is not None:
            found.append(look)

    assert found[0] < 12 * 45  # 256 MiB take half an hour, and are told by the middles of the outer thirds
    assert found == list(range(found[0], 3_600))


@given(st.integers(2, 1_500), st.floats(0.5, 3_600))
def test_no_third_of_the_time_is_ever_left_without_a_look(count: int, every: float) -> None:
    kept: tuple[Answer, ...] = ()
    for number in range(count + 1):
        kept = remember(kept, Answer(at=number * every))

    assert {min(2, int(3 * answer.at / kept[-1].at)) for answer in kept} == {0, 1, 2}


def test_engines_behind_one_endpoint_are_judged_apart() -> None:
    looks = tuple(
        Answer(at=at, scrapes=(scrape(at), scrape(at, engine="1", preemptions=int(at), kv_used=0.99)))
        for at in (0.0, 5.0, 10.0)
    )
    standing = judge("e:1", looks)

    assert [len(engine.notices) for engine in standing.engines] == [0, 1]
    assert [each.last.engine for each in courses("e:1", looks)] == ["0", "1"]


counts = st.none() | st.integers(0, 1 << 50)
shares = st.none() | st.floats(0, 1)
scrapes = st.builds(
    Scrape,
    at=st.floats(0, 1e9),
    started=st.none() | st.floats(0, 1e10),
    resident=st.none() | st.integers(0, 1 << 45).map(Bytes),
    kv_used=shares,
    running=counts,
    waiting=counts,
    waiting_by=st.dictionaries(st.sampled_from(["capacity", "deferred"]), st.integers(0, 99)),
    preemptions=counts,
    prefix_queries=counts,
    prefix_hits=counts,
    prompt_tokens=counts,
    generation_tokens=counts,
    finished=st.dictionaries(st.sampled_from(["stop", "error"]), st.integers(0, 99)),
    rejected=st.dictionaries(st.sampled_from(["x"]), st.integers(0, 99)),
    steps=counts,
    blocks=counts,
    block_tokens=counts,
)


@given(st.lists(scrapes, min_size=1, max_size=30))
def test_no_figures_however_odd_stop_the_judging(looks: list[Scrape]) -> None:
    ordered = sorted(looks, key=lambda each: each.at)
    standing = judge("e:1", [Answer(at=each.at, scrapes=(each,)) for each in ordered])

    assert standing.answer.at == ordered[-1].at
    assert all(notice.summary and notice.do for notice in standing.every_notice)


GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "watch.md"
RULES = Path(pool_saturated.__file__).parent


def test_each_name_of_a_notice_has_its_place_in_the_guide() -> None:
    text = GUIDE.read_text()
    names = {match for file in RULES.glob("*.py") for match in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', file.read_text())}
    names |= {"backlog", "restarted", *(f"endpoint-{trouble}" for trouble in Trouble)}

    assert len(names) >= 13
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_every_file_of_a_rule_is_asked() -> None:
    asked = {rule.__module__ for rule in (*OF_ENGINES, *OF_ENDPOINTS)}
    files = {f"oomph.diagnose.serving.{file.stem}" for file in RULES.glob("*.py") if "def check(" in file.read_text()}

    assert files == asked
