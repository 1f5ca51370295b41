import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given

from oomph.diagnose.finding import Finding
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step, Verdict
from oomph.write.plan_html import plan_html
from oomph.write.plan_svg import plan_svg
from write.forecasts import SIX, seed_crash, seed_findings
from write.made import HOSTILE, findings, forecasts

SHAPES = {"svg", "defs", "pattern", "rect", "path", "line", "text"}
KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "figure", "h1", "h2", "p", "span"),
    *("strong", "code", "ol", "ul", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("details", "summary"),
    *SHAPES,
}


class Page(HTMLParser):
    """Which elements there are, whether each is closed, and what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


@given(forecasts(), findings)
def test_only_our_own_elements_are_there_whatever_the_names_are(forecast: Forecast, found: tuple[Finding, ...]) -> None:
    page = read(plan_html(forecast, found))

    assert set(page.tags) <= KNOWN
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert all(sign == "\n" or sign.isprintable() for sign in "".join(page.words))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_name_stays_text(hostile: str) -> None:
    text = plan_html(replace(seed_crash(), model=hostile))

    assert "<script" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", SIX)
def test_nothing_is_fetched_and_nothing_runs(name: str) -> None:
    forecast, found = SIX[name]
    text = plan_html(forecast(), found)

    assert not re.search(r"https?:|//|\bsrc=|\bhref=|<script|<link|@import|url\((?!#)", text)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in read(text).attributes


def test_it_says_everything_that_one_needs() -> None:
    words = " ".join(read(plan_html(seed_crash(), seed_findings())).words)

    for said in (
        "Fails at graph-profile, 14.13 GiB short.",
        "--max-cudagraph-capture-size 192",
        "at most 32 requests at once instead of 256; the rest wait",
        "the pool is made before any budget is",
        "--weights 18.47GiB",
        "speculative_config",
    ):
        assert said in words


def test_it_can_be_read_aloud_and_on_a_phone_and_at_night() -> None:
    text = plan_html(seed_crash(), seed_findings())
    attributes = read(text).attributes
    ids = [value for name, value in attributes if name == "id"]

    assert ("lang", "en") in attributes
    assert ("name", "viewport") in attributes
    assert len([value for name, value in attributes if name == "aria-label"]) == 2
    assert len(ids) == len(set(ids)) == 2
    assert "@media(max-width:640px)" in text
    assert "@media(prefers-color-scheme:dark)" in text


@pytest.mark.parametrize("name", SIX)
def test_the_same_forecast_is_the_same_file(name: str) -> None:
    forecast, found = SIX[name]

    assert plan_html(forecast(), found) == plan_html(forecast(), found)


def test_where_nothing_starts_it_nothing_is_said_to_do() -> None:
    (found,) = seed_findings()
    moving = replace(found.remedies[0], verdict=Verdict.OVERFLOWS, fails_at=Step.CAPTURE)
    page = plan_html(seed_crash(), (replace(found, remedies=(moving,)),))

    assert "What to do" not in page
    assert "Passes this gate, next it fails at capture." in page
    assert "max-cudagraph" not in plan_svg(seed_crash(), (replace(found, remedies=(moving,)),))
