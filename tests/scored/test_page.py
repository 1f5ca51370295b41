import re
from itertools import takewhile
from xml.etree import ElementTree as ET

import pytest

from scored.board import board
from scored.folds import rows
from scored.foreseen import forecast_of, told_of
from scored.page import page, strips
from scored.records import Record
from scored.samples import calibrated
from scored.svg import Strip, picture

SVG = "{http://www.w3.org/2000/svg}"


def test_a_picture_has_a_dot_for_every_error_and_says_how_many_lie_beyond_its_edge() -> None:
    drawn = ET.fromstring(picture([Strip(name="a & b", errors=[0, 0.1, -0.7])], "errors"))  # noqa: S314 - our own

    dots = [float(dot.attrib["cx"]) for dot in drawn.iter(f"{SVG}circle")]
    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert len(dots) == 3
    assert min(dots) == 250  # the left edge
    assert "a & b" in words
    assert "3 start-ups, 1 beyond the edge" in words


def test_a_picture_is_for_light_and_dark() -> None:
    assert "prefers-color-scheme: dark" in picture([], "nothing")


@pytest.fixture(scope="module")
def text(corpus: tuple[Record, ...]) -> str:
    found = board(rows(corpus, calibrate=calibrated, forecast_of=forecast_of, told_of=told_of))
    assert len(strips(found)) == 7
    return page(found)


def test_the_page_keeps_apart_what_is_not_alike(text: str) -> None:
    titles = [line for line in text.splitlines() if line.startswith("## ")]

    assert "## Other builds" in titles
    assert "## Records that do not state their release" in titles
    assert "## Beside other tools" in titles
    assert titles.index("## The headline") < titles.index("## By component") < titles.index("## Verdicts")


def test_every_table_of_the_page_is_whole(text: str) -> None:
    lines = text.splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("|---")]

    assert len(heads) >= 10
    for head in heads:
        table = takewhile(bool, lines[head - 1 :])
        assert {line.count("|") for line in table} == {lines[head].count("|")}


def test_the_outcome_says_on_how_many_of_each_it_rests(text: str) -> None:
    headline = text.partition("## The headline")[2].partition("## ")[0]

    assert re.search(r"outcome: right, where we are sure \| ≥ 92 % \| [\d.]+ % of \d+ \|", headline)
    assert re.search(r"\d+ verdicts: \d+ served, \d+ (was|were) refused, \w+ ran out of memory at start", headline)


def test_weights_without_bounds_are_not_said_to_be_outside_of_them(text: str) -> None:
    table = text.partition("## By component")[2].partition("## ")[0]
    weights = next(line for line in table.splitlines() if line.startswith("| weights"))

    assert re.search(r"\| [\d.]+ % within 0.5 % \|", weights)
    assert re.search(r"\d+ of \d+ agree to the last printed digit", table)
