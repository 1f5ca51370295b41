"""How the claims of guides are judged, and the program as it is run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from oomph.fit.holds import first
from oomph.fit.question import Question
from oomph.ledger.rest import Rest
from oomph.units import GIB
from rederived import article, checklist, guide
from rederived.asking import (
    Users,
    in_sixteen_bits,
    least,
    longest,
    most,
    sent_at_once,
    smallest,
    start,
    users,
    weights,
    workload,
)
from rederived.claim import Claim, Verdict, about, differs, minimum, off
from rederived.shapes import CONFIGS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "explain" / "sizing-rederived.md"
CARD: Final = "rtx-4090"
EIGHT: Final = "Llama-3.1-8B"


def by(claims: tuple[Claim, ...], words: str) -> Claim:
    return next(claim for claim in claims if words in claim.says)


@pytest.fixture(scope="module")
def told() -> tuple[Claim, ...]:
    return (*checklist.claims(), *guide.claims(), *article.claims())


@pytest.mark.parametrize(
    ("said", "found", "verdict", "words"),
    [
        (140, 141.1, Verdict.RIGHT, "exact to 1 %"),
        (80, 85.9, Verdict.RIGHT, "7 % too little"),
        (4, 5.8, Verdict.WRONG, "31 % too little"),
        (16, 13.5, Verdict.WRONG, "19 % too much"),
    ],
)
def test_a_figure_is_right_within_ten_percent(said: float, found: float, verdict: Verdict, words: str) -> None:
    assert about(said, found) is verdict
    assert differs(said, found) == words
    assert off(found, found) == 0


@pytest.mark.parametrize(
    ("said", "found", "verdict"),
    [(70, 70.1, Verdict.RIGHT), (16, 17.1, Verdict.PARTLY), (16, 17.3, Verdict.WRONG), (28, 20.0, Verdict.WRONG)],
)
def test_less_than_the_least_is_no_minimum(said: float, found: float, verdict: Verdict) -> None:
    assert minimum(said, found) is verdict


def test_the_smallest_device_has_room_for_weights_and_users() -> None:
    one, many = smallest(EIGHT, 4096, 1), smallest(EIGHT, 4096, 32)
    user = 2 * 32 * 8 * 128 * 2 * 4096  # keys and values, layers, KV heads, width, bytes, tokens

    assert one is not None
    assert many is not None
    assert weights(start(EIGHT, CARD).forecast()) + user < one
    assert many - one == pytest.approx(31 * user, rel=0.05)


def test_eight_requests_of_32k_of_70b_are_80_gib_by_hand(told: tuple[Claim, ...]) -> None:
    by_hand = 2 * 80 * 8 * 128 * 2 * 32_768 * 8  # keys and values, layers, KV heads, width, bytes, tokens, requests

    found = by(told, "eight sequences")

    assert by_hand == 80 * GIB
    assert "85.9 GB (80.00 GiB)" in found.found
    assert found.verdict is Verdict.RIGHT


def test_the_pool_is_called_wrong_where_it_does_not_move(told: tuple[Claim, ...]) -> None:
    still = ("sizes the KV pool", "8 times less", "prefix caching reserves", "distinct prefixes", "--block-size 8")

    assert {by(told, words).verdict for words in still} == {Verdict.WRONG}
    assert {by(told, words).verdict for words in ("70B in fp16", "7B in FP16", "share to 1.0")} == {Verdict.RIGHT}


def test_one_number_of_users_stands_for_two_that_are_the_same() -> None:
    assert Users(sure=4, likely=4).words == "4"
    assert Users(sure=0, likely=1).words == "0 (likely 1)"


def test_nothing_is_rounded_where_sixteen_bits_are_asked_for() -> None:
    small = Question(startup=start(EIGHT, "rtx-5080"), workload=workload(4096, 1))
    large = Question(startup=start(EIGHT, CARD), workload=workload(4096, 1))
    rounded, plain = first(small), in_sixteen_bits(large)

    assert rounded is not None
    assert rounded.startup.flags["quantization"] == "fp8"
    assert in_sixteen_bits(small) is None
    assert plain is not None
    assert {"quantization", "kv_cache_dtype"}.isdisjoint(plain.startup.flags)


def test_the_most_users_are_held_and_one_more_is_not() -> None:
    begun = start(EIGHT, CARD)
    found = most(begun, 8192, Rest.SURE)

    def held(count: int) -> bool:
        return in_sixteen_bits(Question(startup=begun, workload=workload(8192, count))) is not None

    assert found > 0
    assert held(found)
    assert not held(found + 1)


def test_the_longest_request_is_held_and_a_longer_one_is_not() -> None:
    begun = start("Llama-3.1-70B-AWQ", "a100-40gb")
    tokens = longest(begun, Rest.SURE)

    assert 0 < tokens < longest(begun, Rest.LIKELY)
    assert first(Question(startup=begun, workload=workload(tokens, 1))) is not None
    assert first(Question(startup=begun, workload=workload(tokens + 256, 1))) is None


def test_flags_that_do_not_start_hold_nobody() -> None:
    refused = start("Llama-3.1-70B-AWQ", "a100-40gb", gpu_memory_utilization=0.88, max_model_len=8192)

    assert users(refused, 8192) == Users(sure=0, likely=0)


def test_the_least_memory_that_holds_something_grows_with_the_users() -> None:
    one, many, rounded = (
        least(EIGHT, 4096, count, rounded=narrow) for count, narrow in ((1, False), (32, False), (1, True))
    )

    assert one is not None
    assert many is not None
    assert rounded is not None
    assert rounded.memory < one.memory < many.memory


def test_a_burst_waits_and_is_answered() -> None:
    seen = sent_at_once(start(EIGHT, CARD, max_model_len=8192), 8192, 64)

    assert all(each.ended is not None for each in seen.served)
    assert seen.peak_running < 64
    assert seen.peak_waiting > 0


def test_a_figure_that_is_kept_wrongly_is_an_error_and_is_the_only_one(tmp_path: Path) -> None:
    kept = tmp_path / "page.md"
    kept.write_text(PAGE.read_text().replace("# Three sizing guides", "# Four sizing guides"))
    command = [sys.executable, str(ROOT / "scripts" / "rederive"), "--check", "--page", str(kept)]

    found = subprocess.run(command, capture_output=True, text=True, check=False)

    changed = [line for line in found.stderr.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
    assert found.returncode == 1
    assert changed == ["-# Four sizing guides, derived again", "+# Three sizing guides, derived again"]


def test_the_shapes_can_be_written_and_asked_for_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "rederive"), "--shapes", str(tmp_path)]
    subprocess.run(command, check=True)

    assert {folder.name for folder in tmp_path.iterdir()} == set(CONFIGS)
    assert json.loads((tmp_path / EIGHT / "config.json").read_text()) == CONFIGS[EIGHT]
