"""The screen of `oomph watch`: by hand, within its width and height, and harmless whatever names it is given."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.serving.looks import answers, course, scrape
from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.fleet import Fleet, State, fleet
from oomph.ledger.answer import Answer, Trouble
from oomph.ledger.memory import Memory
from oomph.units import GIB, Bytes
from oomph.write.span import ascii_only, cells, joined
from oomph.write.watch_json import watch_json
from oomph.write.watch_text import watch_lines
from write.watched import PICTURE, picture

WELL = answers(course(count=3))
FULL = answers(course(count=3, preemptions=int, kv_used=lambda _: 0.995, running=lambda _: 20))
GONE = (Answer(at=0.0, trouble=Trouble.UNREACHABLE, words="Connection refused"),)


def seen(looks: dict[str, tuple[Answer, ...]]) -> Fleet:
    return fleet(looks, at=10.0, interval=5.0)


def shown(of: Fleet, width: int = 80, height: int | None = None) -> list[str]:
    return [joined(line) for line in watch_lines(of, width=width, height=height, clock="12:00:00")]


def test_one_engine_that_is_well_by_hand() -> None:
    assert shown(seen({"localhost:8000": WELL})) == [
        "oomph watch  1 engine  ✓ 1   running 8  waiting 0  400 tokens/s         12:00:00",
        "",
        "  engine          pool                   run wait  pre/s prefix  prompt answer",
        "✓ localhost:8000  ███████░░░░░░░░░  40%    8    0      0    25%   1,600    400",
        "                  ▄▄▄                pool of 16,000 tokens, 1,000 blocks of 16",
    ]


def test_who_is_in_trouble_comes_first_with_why_and_what_to_do() -> None:
    lines = shown(seen({"a:1": WELL, "b:2": FULL, "c:3": GONE}))

    assert [line[:5] for line in lines[3:8:1] if line[2:4] in {"a:", "b:", "c:"}] == ["✗ b:2", "✗ c:3", "✓ a:1"]
    assert "✗ pool-saturated  b:2" in lines
    assert any(line.startswith("    why  preemptions 10, 10 of them") for line in lines)
    assert any(line.startswith("    do   --max-num-seqs") for line in lines)
    assert any("Connection refused" in line for line in lines)


def test_who_does_not_answer_is_not_counted_as_an_engine() -> None:
    lines = shown(seen({"a:1": WELL, "b:2": FULL, "c:3": GONE, "d:4": GONE}), width=100)

    assert lines[0].startswith("oomph watch  2 engines, 2 without an answer  ✓ 1  ✗ 3")


def test_of_many_who_do_not_answer_one_speaks_for_all_endpoints() -> None:
    lines = shown(seen({f"h{number}:1": GONE for number in range(9)}), width=100, height=40)

    assert any(line.startswith("✗ endpoint-unreachable  9 endpoints: h0:1, h1:1") for line in lines)


def test_a_pool_that_is_nearly_full_is_not_called_full() -> None:
    assert any(" 99%" in line for line in shown(seen({"b:2": FULL})))


def test_what_does_not_fit_is_counted() -> None:
    looks = {f"host-{number}:8000": WELL for number in range(100)} | {"worst:8000": FULL}
    lines = shown(seen(looks), width=120, height=24)

    assert len(lines) <= 24
    assert lines[3].startswith("✗ worst:8000")
    assert any("more, all well, pool 40% at the most" in line for line in lines)


def test_of_many_alike_one_speaks_for_all() -> None:
    lines = shown(seen({f"h{number}:1": FULL for number in range(9)}), width=100, height=40)

    assert sum("pool-saturated" in line for line in lines) == 1
    assert any(line.startswith("✗ pool-saturated  9 engines: h0:1, h1:1") for line in lines)


def test_engines_behind_one_address_have_their_numbers() -> None:
    looks = tuple(Answer(at=at, scrapes=(scrape(at), scrape(at, engine="1"))) for at in (0.0, 5.0))

    assert [line[2:8] for line in shown(seen({"a:1": looks}))[3:] if " #" in line] == ["a:1 #0", "a:1 #1"]


def test_devices_are_lines_and_one_that_fills_up_is_told() -> None:
    memory = [
        (Memory(at=60.0 * n, index=0, name="H100", total=Bytes(80 * GIB), used=Bytes((10 + n) * GIB)),)
        for n in range(30)
    ]
    watched = fleet({"a:1": WELL}, at=10.0, interval=60.0, memory=memory)

    assert watched.state is State.FINDINGS
    assert "  GPU 0 H100  39.00 GiB used of 80.00 GiB" in shown(watched)
    assert any("memory of GPU 0 grows" in line for line in shown(watched))


@pytest.mark.parametrize("trouble", [None, *Trouble])
def test_the_state_says_whether_anything_was_read(trouble: Trouble | None) -> None:
    looks = WELL if trouble is None else (Answer(at=0.0, trouble=trouble),)

    assert seen({"a:1": looks}).state is (State.WELL if trouble is None else State.UNREAD)
    assert seen({"a:1": looks, "b:2": WELL}).state is (State.WELL if trouble is None else State.FINDINGS)


names = st.text(min_size=1, max_size=60)
kinds = st.sampled_from(
    [WELL, FULL, GONE, (), answers(course(count=1, kv_used=lambda _: None, running=lambda _: None))]
)


@given(st.dictionaries(names, kinds, min_size=1, max_size=30), st.integers(60, 200), st.none() | st.integers(12, 80))
def test_no_line_is_wider_nor_the_screen_higher_than_it_is(
    looks: dict[str, tuple[Answer, ...]], width: int, height: int | None
) -> None:
    lines = shown(seen(looks), width=width, height=height)

    assert max(cells(line) for line in lines) <= width
    assert height is None or len(lines) <= height
    assert all(line.isprintable() for line in lines)


@given(names)
def test_a_model_may_call_itself_anything(name: str) -> None:
    odd = Course.of([replace(each, model=name) for each in course(count=2).scrapes])
    lines = shown(seen({"a:1": answers(odd)}), width=120)

    assert max(map(cells, lines)) <= 120
    assert all(line.isprintable() for line in lines)


def test_a_terminal_without_unicode_is_not_given_question_marks() -> None:
    rising = answers(course(count=12, kv_used=lambda at: at / 55))

    assert not any("?" in ascii_only(line) for line in shown(seen({"a:1": rising, "b:2": FULL})))


def test_the_contract_has_every_key_and_its_own_sizes() -> None:
    told = json.loads(watch_json(seen({"a:1": WELL, "c:3": GONE})))
    engine = told["endpoints"][0]["engines"][0]

    assert (told["schema"], told["state"]) == ("oomph.watch/1", "findings")
    assert engine["pool"] == {"used": 0.4, "tokens": 16_000, "blocks": 1_000, "block_tokens": 16}
    assert (engine["generation_tokens_per_second"], engine["requests_per_second"]) == (400.0, 2.0)
    assert told["endpoints"][1]["trouble"] == "unreachable"
    assert told["endpoints"][1]["engines"] == []
    assert told["endpoints"][0].keys() == told["endpoints"][1].keys()
    assert watch_json(seen({"a:1": WELL}), one_of_many=True).count("\n") == 1


def test_the_picture_in_the_guide_is_the_screen_and_loads_nothing() -> None:
    drawn = PICTURE.read_text()

    assert drawn == picture()
    assert "pool-saturated" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
