"""A proof as text, as JSON and as a page."""

import json
import re
from dataclasses import replace

from oomph.diagnose.proof.judge import Judged
from oomph.diagnose.proof.proof import Proof, conclude
from oomph.diagnose.proof.scenes import trial
from oomph.diagnose.proof.search import Search
from oomph.ledger.proof import Failure, Planned
from oomph.ledger.scrape import Scrape
from oomph.write.chart import Band, Chart, Curve, chart
from oomph.write.proof_html import proof_html
from oomph.write.proof_json import proof_json
from oomph.write.proof_sentences import outcome, seconds
from oomph.write.proof_text import proof_text
from proofs import ASK, PROMISE, answered, failed, judged, stage


def held(users: int = 8) -> Judged:
    scrapes = (
        Scrape(at=1.0, kv_used=0.5, running=users, waiting=0),
        Scrape(at=2.0, kv_used=0.25, running=0, waiting=0),
    )
    return judged(stage([answered(user) for user in range(users)], scrapes=scrapes))


def proof(*stages: Judged) -> Proof:
    return conclude(PROMISE, ASK, 8, stages or (held(),), planned=Planned(blocks=64, block_tokens=32))


def test_the_answer_is_the_first_line() -> None:
    assert proof_text(proof()).splitlines()[0] == "Held 8 at once for 10 s."


def test_a_broken_load_says_where_and_why_first() -> None:
    broken = proof(judged(stage([answered(0), failed(1, Failure.SERVER, "503 too busy")])))

    assert outcome(broken) == "Broke at 2 at once: 1 of 2 requests: server error (503 too busy)"
    assert "requests      2 sent = 1 finished + 1 failed" in proof_text(broken)


def test_a_lost_server_comes_before_everything_else_and_what_was_not_run_is_said() -> None:
    lost = judged(stage([failed(0, Failure.CUT)], gone="nobody answers /health"))
    said = conclude(PROMISE, ASK, 8, (held(), lost), not_run=(trial(ASK, 4),))

    assert outcome(said) == "Broke at 1 at once: the server is gone: nobody answers /health"
    assert "not run: the server was lost before" in proof_text(said)


def test_a_search_says_what_holds_and_what_breaks() -> None:
    played = judged(stage([answered(user) for user in range(8)], name="trial"))
    broken = stage([answered(user) for user in range(9)], name="trial")
    broke = judged(replace(broken, counted=replace(broken.counted, preemptions=2)))
    said = conclude(PROMISE, ASK, 64, (played, broke), search=Search(most=64, passed=(8, 8), broke=9))

    assert outcome(said).startswith("Holds 8 at once and breaks at 9: the engine preempted 2 times")


def test_a_search_that_met_no_end_says_so() -> None:
    said = conclude(PROMISE, ASK, 8, (held(),), search=Search(most=8, passed=(8,)))

    assert outcome(said) == "Held 8 at once, and more were not tried"


def test_one_request_alone_is_not_called_a_load_that_held() -> None:
    alone = proof(judged(stage([answered(0)], name="first request")))

    assert outcome(alone) == "Cannot tell: no load was held, for --for 0 and --ramp 0 ask for none"


def test_a_ramp_alone_says_what_it_was() -> None:
    played = stage([answered(user) for user in range(8)], name="ramp")
    ramp = judged(replace(played, scene=replace(played.scene, ramp=5.0)))

    assert outcome(proof(ramp)) == "Held 8 who joined one by one over 5 s"


def test_what_was_not_run_says_that_somebody_interrupted() -> None:
    said = conclude(PROMISE, ASK, 8, (held(),), not_run=(trial(ASK, 4),), interrupted=True)

    assert outcome(said) == "Cannot tell: interrupted before all was played"
    assert "not run: interrupted before" in proof_text(said)
    assert "interrupted before" in proof_html(said)


def test_every_line_keeps_within_a_narrow_screen() -> None:
    assert max(len(line) for line in proof_text(proof(), width=60).splitlines()) <= 60


def test_the_json_has_every_key_and_whole_numbers() -> None:
    said = json.loads(proof_json(proof()))

    assert said["schema"] == "oomph.proof/1"
    assert (said["result"], said["users"]) == ("held", {"asked": 8, "held": 8, "broke": None})
    assert said["accounts"]["sent"] == said["accounts"]["finished"] == 8
    assert said["stages"][0]["samples"][0] == {"at": 1.0, "kv": 0.5, "running": 8, "waiting": 0}
    assert said["stages"][0]["latency"]["first_token"]["p99"] == 0.1
    assert set(said) == {
        *("schema", "result", "users", "server", "load", "room", "stages", "not_run"),
        *("headroom", "accounts", "plan", "notes"),
    }


def test_the_page_stands_alone_and_no_name_becomes_markup() -> None:
    nasty = replace(proof(), promise=replace(PROMISE, model="<script>alert(1)</script>"))
    page = proof_html(nasty)

    assert "<script" not in page
    assert "http-equiv" in page
    assert page.count("<svg") == 6  # three charts, wide and narrow
    assert "Held 8 at once for 10 s." in page
    assert "thead th{white-space:nowrap}" in page  # else a narrow column breaks "users" in two


def test_a_curve_reaches_from_the_left_to_the_right_and_from_the_ground_to_the_top() -> None:
    curve = Curve(name="pool", look="c-pool", points=((0.0, 0.0), (10.0, 1.0)))
    drawn = chart(Chart(curves=(curve,), bands=(), end=10.0, top=1.0))

    assert 'd="M56.0 160.0L872.0 30.0"' in drawn.shapes


def test_the_longest_stages_are_named_though_a_short_one_begins_before_them() -> None:
    spans = {"first request": (0.0, 0.4), "ramp": (0.4, 5.0), "hold": (5.0, 40.0), "burst": (40.0, 41.0)}
    bands = tuple(Band(name=name, begin=begin, end=end, look="c-even") for name, (begin, end) in spans.items())
    of = Chart(curves=(), bands=bands, end=41.0, named=True)

    said = {
        narrow: [
            word for word in re.findall(r"<text[^>]*>([^<]+)</text>", chart(of, narrow=narrow).shapes) if word in spans
        ]
        for narrow in (False, True)
    }
    assert said == {False: ["ramp", "hold", "burst"], True: ["hold", "burst"]}


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    assert chart(Chart(curves=(), bands=(), end=0.0)).height > 0


def test_seconds_are_short() -> None:
    assert (seconds(0.00345), seconds(0.25), seconds(61.44)) == ("3.45 ms", "250 ms", "61.4 s")
