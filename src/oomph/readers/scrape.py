"""Running engines asked over HTTP: `/metrics` → what each engine says, or what went wrong.

Knows addresses as people type them, and that a server may hang, answer without end, or answer something else. Reads so
much and waits so long and no more; no answer raises. Does not know what the answers mean.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from oomph.engines.vllm.scraped import LONGEST, scrapes
from oomph.errors import UnreadableError
from oomph.ledger.answer import Answer, Trouble
from oomph.ledger.scrape import Scrape
from oomph.readers.endpoint import Endpoint, endpoint
from oomph.readers.other_pages import looks_like
from oomph.readers.printable import printable
from oomph.readers.session import EndlessError, session, whole_page
from oomph.readers.strict_json import read_object

if TYPE_CHECKING:
    from aiohttp import ClientSession

_PLAIN: Final = {"Accept": "text/plain"}
_KEPT: Final = 15.0  # seconds that an idle connection is kept, for the next look
_ONCE: Final = 10.0  # seconds to wait for one page that a person asked for
_OK: Final = 200


class Scraper:
    """Asks endpoints; keeps its connections from one time to the next."""

    def __init__(self, session: "ClientSession", *, patience: float) -> None:
        self._session = session
        self._patience = patience

    async def ask(self, endpoint: Endpoint, *, histograms: bool = False) -> Answer:
        """What its engines say now."""
        at, begun = time.time(), time.monotonic()
        status, body = await self._get(endpoint.metrics)
        took = time.monotonic() - begun
        if isinstance(status, Trouble):
            return Answer(at=at, took=took, trouble=status, words=body.decode())
        text = body.decode(errors="replace")
        if status != _OK:
            return Answer(at=at, took=took, trouble=Trouble.REFUSED, words=f"HTTP {status}")
        found = scrapes(text, at=at, histograms=histograms)
        if not found:
            return Answer(at=at, took=took, trouble=Trouble.GARBAGE, words=looks_like(text))
        return Answer(at=at, took=took, scrapes=found)

    async def healthy(self, endpoint: Endpoint) -> bool | None:
        """What `/health` says; None where it says nothing."""
        status, _ = await self._get(endpoint.health)
        return None if isinstance(status, Trouble) else status == _OK

    async def longest(self, endpoint: Endpoint) -> int | None:
        """How many tokens a request may have, as `/v1/models` says; None where it does not."""
        status, body = await self._get(endpoint.models)
        if status != _OK:
            return None
        try:
            listed = read_object(body, file="the list of models").get("data")
        except UnreadableError:
            return None
        entries = listed if isinstance(listed, list) else []
        found = [each.get("max_model_len") for each in entries if isinstance(each, dict)]
        return max((each for each in found if isinstance(each, int) and each > 0), default=None)

    async def _get(self, url: str) -> tuple[int | Trouble, bytes]:
        """Status and body, or the trouble and its words."""
        from aiohttp import ClientError, ClientResponseError, ClientTimeout, TooManyRedirects  # noqa: PLC0415 - it is here

        limit = ClientTimeout(total=self._patience)
        try:
            async with self._session.get(url, headers=_PLAIN, timeout=limit, max_redirects=3) as response:
                return response.status, await whole_page(response, LONGEST)
        except TimeoutError:
            return Trouble.SILENT, f"no answer in {self._patience:g} s".encode()
        except EndlessError:
            return Trouble.GARBAGE, f"more than {LONGEST >> 20} MiB, as no page of metrics is".encode()
        except TooManyRedirects:
            return Trouble.REFUSED, b"it sends us on and on"
        except ClientResponseError:  # bytes came
            return Trouble.GARBAGE, b"something that is not HTTP"
        except (ClientError, OSError, ValueError) as met:
            return Trouble.UNREACHABLE, _said(met).encode()


def _said(met: Exception) -> str:
    """In the system's own words, without the address, which the reader knows."""
    cause = getattr(met, "os_error", None) or met
    number = getattr(cause, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return printable(getattr(cause, "strerror", None) or str(cause) or type(cause).__name__, 120)


@asynccontextmanager
async def scraper(*, patience: float) -> AsyncIterator[Scraper]:
    """A scraper while it is needed."""
    async with session(kept=_KEPT) as opened:
        yield Scraper(opened, patience=patience)


def scrape_once(where: str) -> tuple[int | None, tuple[Scrape, ...]]:
    """How long a request may be, and what each engine at that address says, histograms with it."""
    return asyncio.run(_scrape_once(endpoint(where)))


async def _scrape_once(asked: Endpoint) -> tuple[int | None, tuple[Scrape, ...]]:
    async with scraper(patience=_ONCE) as client:
        answer = await client.ask(asked, histograms=True)
        if answer.trouble is not None:
            message = f"{asked.metrics} tells nothing of an engine: {answer.words} (is it the address of vLLM?)"
            raise UnreadableError(message)
        return await client.longest(asked), answer.scrapes
