"""A server on loopback that passes everything on to another, but for every so manieth completion, which it fails.

Knows how to pass on. Does not know what is passed.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientSession, web


@contextmanager
def flaky(url: str, *, every: int) -> Iterator[tuple[str, list[int]]]:
    """Its address, and how many it has failed so far."""
    injected, ready, loop = [0], threading.Event(), asyncio.new_event_loop()
    where: list[int] = []
    over = asyncio.Event()

    async def serve() -> None:
        asked = 0
        async with ClientSession(auto_decompress=False) as session:

            async def passed(request: web.Request) -> web.StreamResponse:
                nonlocal asked
                asked += request.path == "/v1/completions"
                if request.path == "/v1/completions" and asked % every == 0:
                    injected[0] += 1
                    return web.json_response({"error": {"message": "injected"}}, status=503)
                body = await request.read()
                kind = {"Content-Type": request.content_type}
                async with session.request(request.method, url + request.path_qs, data=body, headers=kind) as answer:
                    reply = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.content_type})
                    await reply.prepare(request)
                    async for chunk in answer.content.iter_any():
                        await reply.write(chunk)
                    await reply.write_eof()
                    return reply

            app = web.Application()
            app.router.add_route("*", "/{path:.*}", passed)
            runner = web.AppRunner(app)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            where.append(runner.addresses[0][1])
            ready.set()
            await over.wait()
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield f"http://127.0.0.1:{where[0]}", injected
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()
