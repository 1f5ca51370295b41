"""Pages that one server gives to who drives it."""

import asyncio

import pytest

from live.replay import replayed
from oomph.errors import UnreadableError
from oomph.live.load.wire import wire


async def asked(url: str) -> str:
    async with wire(url) as connected:
        return await connected.text("/metrics")


def test_a_page_without_end_is_refused() -> None:
    with replayed(["endless"]) as (url,), pytest.raises(UnreadableError, match="more than 32 MiB, as no page has"):
        asyncio.run(asked(url))
