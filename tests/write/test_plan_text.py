from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.ledger import Account
from oomph.ledger.settings import Value
from oomph.units import GIB, Bounds
from oomph.write.bars import bars, letter
from oomph.write.picture import picture
from oomph.write.plan_text import plan_lines, plan_text
from oomph.write.sentences import change, result
from oomph.write.span import ascii_only, cells, joined
from write import golden
from write.forecasts import SIX, device, forecast, on_device, seed_crash, seed_findings, weights
from write.forecasts import settings as settings_of
from write.made import findings, forecasts


@pytest.mark.parametrize("name", sorted(path.name for path in golden.FOLDER.iterdir()))
def test_the_whole_answer_is_as_it_was_reviewed(name: str) -> None:
    case, kind, _ = name.split(".")

    assert golden.made(case, kind) == (golden.FOLDER / name).read_text(encoding="utf-8"), golden.__doc__


def test_every_forecast_has_a_reviewed_answer() -> None:
    assert {path.name.partition(".")[0] for path in golden.FOLDER.iterdir()} == set(SIX)


def test_answer_picture_and_first_remedy_are_on_one_screen() -> None:
    lines = plan_text(seed_crash(), seed_findings(), width=80).splitlines()

    assert lines[0] == "Fails at graph-profile, 14.13 GiB short."
    assert lines[1] == "QuantTrio/Qwen3.6-27B-AWQ on NVIDIA GeForce RTX 5090, vLLM 0.19.1"
    assert any("╳" in line and line.startswith("✗ graph-profile") for line in lines[:12])
    assert "  do       --max-cudagraph-capture-size 192" in lines[:32]


@given(forecasts(), findings, st.integers(40, 200), st.booleans())
def test_no_line_is_wider_than_the_screen(
    forecast: Forecast,
    found: tuple[Finding, ...],
    width: int,
    whole: bool,  # noqa: FBT001 - hypothesis draws it
) -> None:
    for line in plan_lines(forecast, found, width=width, whole=whole):
        assert cells(joined(line)) <= width


@given(forecasts(), findings)
def test_no_name_can_command_a_terminal(forecast: Forecast, found: tuple[Finding, ...]) -> None:
    text = plan_text(forecast, found, whole=True)

    assert all(sign == "\n" or sign.isprintable() for sign in text)


@pytest.mark.parametrize("name", SIX)
def test_accounts_are_told_apart_without_colour_and_without_unicode(name: str) -> None:
    make, found = SIX[name]
    serving = ascii_only(plan_text(make(), found, width=120))
    bars = [line for line in serving.splitlines() if line[2:17].strip() in {"load", "one-request", "graph-profile"}]

    assert serving.isascii()
    assert any("W###" in line for line in bars)
    assert any("K+" in line for line in bars)


def test_a_tiny_shortage_is_still_seen() -> None:
    card = device("a card", 192)
    made = forecast(card, (on_device(Step.LOAD, card, weights(191.99)),), settings_of())
    load = next(line for line in plan_text(made, width=40).splitlines() if line.startswith("✗ load"))

    assert made.verdict is Verdict.OVERFLOWS
    assert "╳" in load


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("max_num_seqs", 16, "--max-num-seqs 16"),
        ("enforce_eager", True, "--enforce-eager"),
        ("enable_prefix_caching", False, "--no-enable-prefix-caching"),
        ("cudagraph_capture_sizes", (1, 2, 4), "--cudagraph-capture-sizes 1 2 4"),
        ("speculative_config", '{"method": "mtp"}', """--speculative-config '{"method": "mtp"}'"""),
        ("speculative_config", None, "no --speculative-config"),
        ("release", "0.26.0", "vLLM 0.26.0"),
        ("VLLM_USE_V1", "0", "VLLM_USE_V1=0"),
    ],
)
def test_a_change_is_written_as_it_is_typed(name: str, value: Value, typed: str) -> None:
    remedy = Remedy(change={name: value}, price="some", verdict=Verdict.FITS)

    assert change(remedy, "vLLM") == typed


def test_spare_memory_is_promised_rounded_down_and_only_where_it_is_sure() -> None:
    sure = Remedy(change={}, price="some", verdict=Verdict.FITS, spare=Bounds(2 * GIB - 1, 3 * GIB))
    unsure = Remedy(change={}, price="some", verdict=Verdict.UNSURE, spare=Bounds(-1, 3 * GIB))

    assert result(sure) == "it starts; 1.99 GiB to spare at that gate"
    assert result(unsure) == "it may start"


def test_a_remedy_that_only_moves_the_failure_on_says_where_to() -> None:
    moving = Remedy(
        change={"max_num_seqs": 1},
        price="some",
        verdict=Verdict.OVERFLOWS,
        spare=Bounds(GIB),
        fails_at=Step.LOAD,
    )

    assert result(moving) == "passes this gate, next it fails at load"


@given(forecasts(), st.integers(40, 200))
def test_the_legend_explains_what_is_drawn_and_nothing_else(forecast: Forecast, width: int) -> None:
    shown = [joined(line) for line in bars(picture(forecast), width)]
    rows, legend = shown[: shown.index("")], " ".join(shown[shown.index("") + 1 :])
    drawn = "".join(row[17 : width - (19 if width >= 60 else 0)] for row in rows)

    for sign, words in {"░": "likely", "╌": "asked for", "╳": "does not fit", "·": "possible"}.items():
        assert (f"{sign} {words}" in legend) == (sign in drawn)
    for account in Account:
        assert (f"{letter(account)} {account}" in legend) == (letter(account) in drawn)


def test_what_only_moves_the_failure_on_is_not_said_to_be_done() -> None:
    (found,) = seed_findings()
    moving = replace(found.remedies[1], verdict=Verdict.OVERFLOWS, fails_at=Step.CAPTURE)
    told = plan_text(seed_crash(), (replace(found, remedies=(moving,), beyond=("no flag starts this",)),)).splitlines()

    assert "  partly   --max-num-seqs 32" in told
    assert "  note     no flag starts this" in told
    assert not any(line.startswith(("  do ", "  or ")) for line in told)


def test_what_is_left_out_is_counted_without_nothing() -> None:
    (found,) = seed_findings()
    vain = {f"--flag-{number}": "inert" for number in range(5)}
    more = (*found.remedies, *found.remedies)

    assert "  more     2 not to do: --all" in plan_text(seed_crash(), (replace(found, unhelpful=vain),))
    assert "  more     4 to do: --all" in plan_text(seed_crash(), (replace(found, remedies=more),))
    assert "  more     4 to do, 2 not to do: --all" in plan_text(
        seed_crash(), (replace(found, remedies=more, unhelpful=vain),)
    )
