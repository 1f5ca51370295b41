"""Engines asked over HTTP: what each kind of server makes of it, and that none keeps the others waiting."""

import asyncio
import time

import pytest

from live.replay import replayed
from oomph.errors import UnreadableError
from oomph.ledger.answer import Answer, Trouble
from oomph.readers.endpoint import endpoint
from oomph.readers.scrape import scrape_once, scraper
from oomph.readers.trace import read_traffic

PATIENCE = 1.5
EXPECTED = {
    "well": None,
    "moved": None,
    "hangs": (Trouble.SILENT, "no answer in 1.5 s"),
    "drips": (Trouble.SILENT, "no answer in 1.5 s"),
    "endless": (Trouble.GARBAGE, "more than 16 MiB, as no page of metrics is"),
    "html": (Trouble.GARBAGE, "a web page, not metrics"),
    "error": (Trouble.REFUSED, "HTTP 500"),
    "ssh": (Trouble.GARBAGE, "something that is not HTTP"),
}


async def _ask(urls: list[str]) -> list[Answer]:
    async with scraper(patience=PATIENCE) as client:
        return list(await asyncio.gather(*(client.ask(endpoint(url)) for url in urls)))


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    with replayed(list(EXPECTED)) as urls:
        return dict(zip(EXPECTED, asyncio.run(_ask(urls)), strict=True))


@pytest.mark.parametrize("kind", EXPECTED)
def test_each_kind_of_server_is_told_for_what_it_is(answers: dict[str, Answer], kind: str) -> None:
    answer, expected = answers[kind], EXPECTED[kind]

    if expected is None:
        assert answer.trouble is None
        assert [scrape.running for scrape in answer.scrapes] == [8]
    else:
        assert (answer.trouble, answer.words) == expected
        assert answer.scrapes == ()


def test_those_who_hang_are_given_up_in_time_and_the_others_answer_at_once(answers: dict[str, Answer]) -> None:
    assert answers["well"].took < PATIENCE
    assert PATIENCE * 0.9 < answers["hangs"].took < PATIENCE + 2


def test_the_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sk-y")
    asked: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.close()

    async def look() -> None:
        server = await asyncio.start_server(note, "127.0.0.1", 0)
        async with server, scraper(patience=PATIENCE) as client:
            await client.ask(endpoint(f"127.0.0.1:{server.sockets[0].getsockname()[1]}"))

    asyncio.run(look())

    assert "Authorization: Bearer sk-y" in asked[0]


def test_nobody_there_is_said_in_the_words_of_the_system() -> None:
    refused, unknown = asyncio.run(_ask(["127.0.0.1:1", "no-such-host.invalid:1"]))

    assert (refused.trouble, refused.words) == (Trouble.UNREACHABLE, "Connection refused")
    assert unknown.trouble in {Trouble.UNREACHABLE, Trouble.SILENT}
    assert unknown.words


def test_the_traffic_of_a_running_engine_is_read_by_its_address() -> None:
    with replayed(["well"]) as (url,):
        traffic = read_traffic(f"http://{url}")

    assert (traffic.prompt.p50, traffic.prompt.p99, traffic.prompt.count) == (1, 10, 2)
    assert (traffic.answer.p50, traffic.answer.p99) == (10, 20)
    assert traffic.at_once == 8


def test_an_address_without_an_engine_is_refused_with_why() -> None:
    with replayed(["html"]) as (url,), pytest.raises(UnreadableError, match="a web page, not metrics"):
        scrape_once(url)


def test_an_endless_page_is_cut_off_long_before_patience_ends() -> None:
    begun = time.monotonic()
    with replayed(["endless"]) as urls:
        (answer,) = asyncio.run(_ask(urls))

    assert answer.trouble is not None
    assert time.monotonic() - begun < 30
