"""`oomph watch` on a hundred endpoints, one of them the real vLLM; and on a real one, overfull, stopped, gone."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from live.replay import replayed
from live.served import Served, served
from oomph.diagnose.serving.judge import judge
from oomph.engines.vllm.scraped import scrapes
from oomph.ledger.answer import Answer
from oomph.readers.endpoint import endpoint
from oomph.readers.scrape import scraper

OOMPH = [sys.executable, "-m", "oomph", "watch"]
TICKS = os.sysconf("SC_CLK_TCK")


def once(*words: str) -> tuple[int, dict[str, object]]:
    """What it prints for a script, and its exit status."""
    done = subprocess.run(
        [*OOMPH, *words, "--once", "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, json.loads(done.stdout)


def findings(told: dict[str, object]) -> dict[str, dict[str, object]]:
    endpoints = told["endpoints"]
    assert isinstance(endpoints, list)
    every = [each for end in endpoints for part in (end, *end["engines"]) for each in part["findings"]]
    return {each["name"]: each for each in every}


@contextmanager
def on_a_terminal(*words: str) -> Iterator[tuple[int, bytearray]]:
    """The command on a terminal of its own, 40 lines by 120 columns: its number, and all that it draws."""
    ours, its = pty.openpty()
    size = {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen([*OOMPH, *words], stdin=its, stdout=its, stderr=its, env=os.environ | size)
    os.close(its)
    drawn = bytearray()
    reader = threading.Thread(target=_drain, args=(ours, drawn), daemon=True)
    reader.start()
    try:
        yield process.pid, drawn
    finally:
        process.kill()
        process.wait()
        reader.join(5)
        os.close(ours)


def _drain(terminal: int, drawn: bytearray) -> None:
    with suppress(OSError):
        while chunk := os.read(terminal, 65_536):
            drawn += chunk


def spent(pid: int) -> float:
    """Seconds of CPU so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def held(pid: int) -> float:
    """MiB of memory at the most so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def test_a_hundred_endpoints_cost_little_and_the_stuck_ones_delay_nobody(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = ["well"] * 90 + ["saturated"] * 3 + ["hangs"] * 3 + ["drips", "html", "error"]
    with replayed(kinds) as urls:
        fleet = tmp_path / "fleet"
        fleet.write_text("\n".join([server.url, *urls]))
        with on_a_terminal(f"@{fleet}") as (pid, drawn):
            time.sleep(8)  # its imports are paid once
            begun, before = time.monotonic(), spent(pid)
            time.sleep(25)
            share = (spent(pid) - before) / (time.monotonic() - begun)
            memory = held(pid)
    with capsys.disabled():
        print(f"\n  watching 100 endpoints every 5 s: {share:.1%} of a core, {memory:.0f} MiB", end="")  # noqa: T201 - the figure

    assert b"94 engines, 6 without an answer" in drawn
    assert b"pool-saturated" in drawn
    assert share < 0.03
    assert memory < 60


def test_an_endpoint_that_hangs_never_delays_the_others() -> None:
    with replayed(["hangs", "drips", "slow", *["well"] * 10]) as urls:
        process = subprocess.Popen(
            [*OOMPH, *urls, "--interval", "1", "--for", "8", "--json"], stdout=subprocess.PIPE, text=True
        )
        said, _ = process.communicate(timeout=60)
    rounds = [json.loads(line) for line in said.splitlines()]
    told = {end["endpoint"]: end for end in rounds[-1]["endpoints"]}
    screens = [after["at"] - before["at"] for before, after in pairwise(rounds)]

    assert len(rounds) >= 8
    assert sorted(screens)[len(screens) // 2] < 1.2  # seconds: one second apart, on a machine that others use too
    assert max(screens[:-1]) < 2  # the last waits for everybody
    assert all(told[url]["engines"][0]["looks"] >= len(rounds) - 1 for url in urls[2:])  # asked in every round
    assert all(told[url]["trouble"] == "silent" for url in urls[:2])


def test_every_bad_server_has_its_finding() -> None:
    kinds = ["well", "saturated", "backlog", "hangs", "html", "error", "again"]
    with replayed(kinds) as urls:
        status, told = once(*urls, "127.0.0.1:1", "--interval", "2", "--for", "12")

    assert status == 1
    assert (told["schema"], told["state"]) == ("oomph.watch/1", "findings")
    assert set(findings(told)) == {
        "pool-saturated",
        "backlog",
        "restarted",
        "endpoint-silent",
        "endpoint-garbage",
        "endpoint-refused",
        "endpoint-unreachable",
    }


def test_all_well_is_zero_and_nothing_to_read_is_three() -> None:
    with replayed(["well", "idle", "moved"]) as urls:
        assert once(*urls)[0] == 0
    status, told = once("127.0.0.1:1")

    assert (status, told["state"]) == (3, "unread")


def ask(server: Served, tokens: int) -> None:
    body = {"model": server.model, "prompt": "a b c d", "max_tokens": tokens, "ignore_eos": True}
    question = urllib.request.Request(  # noqa: S310 - loopback
        f"{server.url}/v1/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with suppress(OSError), urllib.request.urlopen(question, timeout=120) as answer:  # noqa: S310 - loopback
        answer.read()


@contextmanager
def asked(server: Served, *, requests: int, tokens: int) -> Iterator[None]:
    threads = [threading.Thread(target=ask, args=(server, tokens), daemon=True) for _ in range(requests)]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(120)


def preemptions(server: Served) -> int:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as page:  # noqa: S310 - loopback
        (scrape,) = scrapes(page.read().decode(), at=0.0)
    assert scrape.preemptions is not None
    return scrape.preemptions


def test_an_overfull_engine_is_told_with_the_preemptions_that_it_counts(server: Served) -> None:
    before = preemptions(server)
    with asked(server, requests=24, tokens=900):  # 24 requests of 29 blocks each, and the pool has 63
        status, told = once(server.url, "--interval", "1", "--for", "6")
    after = preemptions(server)
    counted = told["endpoints"][0]["engines"][0]  # type: ignore[index]  # as the contract has it

    assert status == 1
    assert "pool-saturated" in findings(told)
    assert before < counted["preemptions"] <= after
    assert counted["pool"] == {**counted["pool"], "tokens": 2048, "blocks": 64, "block_tokens": 32}


async def looks(url: str) -> tuple[Answer, ...]:
    """Four looks at a server, a second apart and told as if they were twenty; the last asks for its health too."""
    async with scraper(patience=5.0) as client:
        seen = []
        for number in range(4):
            answer = await client.ask(endpoint(url))
            at = 20.0 * number
            seen.append(replace(answer, at=at, scrapes=tuple(replace(each, at=at) for each in answer.scrapes)))
            await asyncio.sleep(1)
        return (*seen[:-1], replace(seen[-1], healthy=await client.healthy(endpoint(url))))


def test_an_engine_that_is_stopped_and_then_gone_is_told_though_health_answers(engine: None) -> None:  # noqa: ARG001 - or skip
    with served(blocks=64) as own:
        with asked(own, requests=2, tokens=900):
            time.sleep(1)
            os.kill(own.engine_pid, signal.SIGSTOP)
            try:
                stood = judge(own.url, asyncio.run(looks(own.url)))
            finally:
                os.kill(own.engine_pid, signal.SIGCONT)
        assert [notice.name for notice in stood.every_notice] == ["engine-stuck"]
        assert "though /health answers" in stood.every_notice[0].summary

        os.kill(own.pid, signal.SIGKILL)
        status, told = once(own.url, "--interval", "1", "--for", "1")
        assert status == 3
        assert set(findings(told)) == {"endpoint-unreachable"}
