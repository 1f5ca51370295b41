"""An HTTP session with running engines: the key of the environment, connections without a limit, pages with one.

Knows what every question of ours has in common, whether one page is asked for or a load is driven. Does not know what
is asked. The client is aiohttp (the extra `live`): against bare streams of asyncio it costs a quarter more CPU a page
and 15 MiB, and it knows redirects, chunks and TLS.
"""

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from oomph.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import ClientResponse, ClientSession

_KEYS: Final = ("VLLM_API_KEY", "OPENAI_API_KEY")  # of the environment, in this order
_PLAIN: Final = {"Accept-Encoding": "identity", "User-Agent": "oomph"}


class EndlessError(Exception):
    """More came than any page has."""


@asynccontextmanager
async def session(*, kept: float) -> "AsyncIterator[ClientSession]":
    """While it is needed; an idle connection is kept for so many seconds."""
    try:
        import aiohttp  # noqa: PLC0415 - an extra, and only running engines need it
    except ImportError:
        message = "asking a running engine needs aiohttp, which is not installed (pip install 'oomph[live]')"
        raise UnreadableError(message) from None
    key = next((os.environ[name] for name in _KEYS if os.environ.get(name)), None)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=60, keepalive_timeout=kept),
        headers=_PLAIN if key is None else {**_PLAIN, "Authorization": f"Bearer {key}"},
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as opened:
        yield opened


async def whole_page(response: "ClientResponse", limit: int) -> bytes:
    """The body, as far as a page may be long; beyond that it is none."""
    chunks, read = [], 0
    async for chunk in response.content.iter_any():
        read += len(chunk)
        if read > limit:
            raise EndlessError
        chunks.append(chunk)
    return b"".join(chunks)
