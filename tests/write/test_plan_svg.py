import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from oomph.diagnose.finding import Finding
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Account
from oomph.write.drawing import drawing, meanings, wide
from oomph.write.palette import ACCOUNTS, DARK, LIGHT, Palette
from oomph.write.picture import picture
from oomph.write.plan_svg import plan_svg
from write.forecasts import SIX, seed_crash, seed_findings
from write.made import HOSTILE, findings, forecasts

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own file


@given(forecasts(), findings)
def test_it_is_valid_xml_whatever_the_names_are(forecast: Forecast, found: tuple[Finding, ...]) -> None:
    root = parsed(plan_svg(forecast, found))

    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "style", "rect", "g", "defs", "pattern", "path", "line", "text")
    }


@pytest.mark.parametrize("name", SIX)
def test_the_same_forecast_is_the_same_file(name: str) -> None:
    forecast, found = SIX[name]

    assert plan_svg(forecast(), found) == plan_svg(forecast(), found)


def test_it_stands_alone() -> None:
    text = plan_svg(seed_crash(), seed_findings())

    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|<image|<use|<foreignObject|@import|@font-face|url\((?!#)", text)
    assert "@media(prefers-color-scheme:dark)" in text


def test_it_says_the_answer_and_the_first_remedy() -> None:
    words = [element.text for element in parsed(plan_svg(seed_crash(), seed_findings())).iter(f"{SVG}text")]

    assert "Fails at graph-profile, 14.13 GiB short." in words
    assert "--max-cudagraph-capture-size 192" in words
    assert "14.13 GiB short" in words


@given(forecasts(), findings)
def test_no_text_and_no_bar_leaves_the_sheet(forecast: Forecast, found: tuple[Finding, ...]) -> None:
    root = parsed(plan_svg(forecast, found))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter(f"{SVG}text"):
        x, size = 28 + float(element.attrib["x"]), float(element.attrib["font-size"])
        room = wide(element.text or "", size)
        share = {"middle": 0.5, "end": 1.0}.get(element.attrib.get("text-anchor", ""), 0.0)

        assert x - share * room >= 0
        assert x + (1 - share) * room <= width
        assert float(element.attrib["y"]) <= height
    for element in root.iter(f"{SVG}rect"):
        assert float(element.attrib.get("x", 0)) + float(element.attrib["width"]) <= width


@pytest.mark.parametrize("narrow", [False, True])
def test_names_of_patterns_are_unique_among_the_sheets_of_one_page(narrow: bool) -> None:  # noqa: FBT001 - a parameter
    shown = picture(seed_crash())

    assert 'id="o-missing-880"' in drawing(shown).shapes
    assert ('id="o-missing-880"' in drawing(shown, narrow=narrow).shapes) is not narrow


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_name_stays_text(hostile: str) -> None:
    text = plan_svg(replace(seed_crash(), model=hostile))

    assert "<script" not in text
    assert "\x1b" not in text


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", [LIGHT, DARK], ids=["light", "dark"])
def test_every_word_stands_out_from_its_ground(ground: Palette) -> None:
    for ink in (ground.ink, ground.faint, ground.fits, ground.overflows, ground.unsure, ground.flag):
        assert contrast(ink, ground.ground) >= 4.5
        assert contrast(ink, ground.raised) >= 4.5


@pytest.mark.parametrize("account", Account)
def test_every_bar_stands_out_from_both_grounds_and_carries_its_words(account: Account) -> None:
    colour, ink = ACCOUNTS[account]

    assert contrast(colour, ink) >= 4.5
    assert min(contrast(colour, ground) for ground in (LIGHT.raised, DARK.raised)) >= 2.5


@given(forecasts())
def test_a_swatch_of_the_legend_is_found_in_some_bar(forecast: Forecast) -> None:
    shown = picture(forecast)
    swatches = {swatch for swatch, _ in meanings(shown)}
    root = parsed(f"<g>{drawing(shown).shapes}</g>")
    looks = [element.get("class") for element in root.iter("rect")]

    assert all(looks.count(swatch) + looks.count(f"{swatch} o-likely") > 1 for swatch in swatches)
    assert any((look or "").endswith(" o-likely") for look in looks) == bool(shown.doubtful)
