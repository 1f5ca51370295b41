"""Many small servers in one process of their own that answer like engines in good and in bad days.

Run as a program: `python replay.py PAGE KIND…` listens for each kind on a port of loopback, prints the ports, and ends
when its standard input does. The page is real exposition text, in which counters go on by the time that passes.
"""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

REAL = Path(__file__).parents[3] / "shared" / "logs" / "vllm_0.32.0_metrics.txt"
BEGUN = time.time()


def figures(kind: str, passed: float) -> dict[str, float]:
    """What differs from the page, by metric, so many seconds after the beginning."""
    busy = {
        "num_requests_running": 8,
        "kv_cache_usage_perc": 0.42,
        "generation_tokens_total": 1_000 + 400 * passed,
        "prompt_tokens_total": 5_000 + 2_000 * passed,
        "prefix_cache_queries_total": 5_000 + 2_000 * passed,
        "prefix_cache_hits_total": 1_000 + 500 * passed,
        "iteration_tokens_total_count": 100 + 50 * passed,
        'request_success_total{engine="0",finished_reason="length"': 10 + passed,
    }
    odd: dict[str, dict[str, float]] = {
        "idle": dict.fromkeys(busy, 0),
        "saturated": {"kv_cache_usage_perc": 0.98, "num_preemptions_total": 3 * passed, "num_requests_running": 30},
        "backlog": {"num_requests_waiting": 5 + 4 * passed, "kv_cache_usage_perc": 0.5},
        "again": {"process_start_time_seconds": BEGUN + (100 if passed > 6 else 0)},
    }
    return busy | odd.get(kind, {})


def page(text: str, kind: str, passed: float) -> bytes:
    """The page at this moment."""
    for name, value in figures(kind, passed).items():
        named = name if name.startswith("process") else f"vllm:{name}"
        pattern = re.escape(named) + (r"(,[^}]*\}|\{[^}]*\})? [^\n]+" if "{" not in named else r"([^}]*\}) [^\n]+")
        text = re.sub(rf"(?m)^{pattern}", lambda found: f"{found[0].rsplit(' ', 1)[0]} {float(value)}", text)  # noqa: B023 - used at once
    return text.encode()


async def answer(kind: str, text: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection: as many questions as come."""
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            path = line.split()[1].decode()
            body = b"ok" if path == "/health" else page(text, kind, time.time() - BEGUN)
            await written(kind, path, body, writer)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def written(kind: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    """An answer as the kind gives it: whole in one chunk, as uvicorn sends it, or in its own bad way."""
    status, begin = "200 OK", b""
    await asyncio.sleep({"hangs": 3600.0, "slow": 0.5}.get(kind, 0.0))
    if kind == "ssh":
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        writer.close()
        return
    if kind == "html":
        body = b"<html><body>it works</body></html>"
    if kind == "error":
        status, body = "500 Internal Server Error", b"no"
    if kind == "moved" and path == "/metrics":  # as old releases did: the page is under /metrics/
        status, begin, body = "307 Temporary Redirect", b"location: /metrics/\r\n", b""
    writer.write(f"HTTP/1.1 {status}\r\ntransfer-encoding: chunked\r\n".encode() + begin + b"\r\n")
    await for_ever(kind, body, writer)
    if writer.is_closing():
        return
    if body:
        writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def for_ever(kind: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    """As two of the kinds go on until nobody listens: a sign at a time, or without end."""
    pieces = {"drips": (body[:1], 0.2), "endless": (b"x" * 0x10000, 0.0)}
    while kind in pieces and not writer.is_closing():
        piece, pause = pieces[kind]
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()
        await asyncio.sleep(pause)


async def serve(text: str, kinds: Sequence[str]) -> None:
    """Until whoever started it goes away."""
    ports = []
    for kind in kinds:
        server = await asyncio.start_server(partial(answer, kind, text), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
    sys.stdout.write(" ".join(map(str, ports)) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextmanager
def replayed(kinds: Sequence[str]) -> Iterator[list[str]]:
    """Their addresses, in order, while the block runs; the process ends with it, also when the test fails."""
    if not REAL.exists():
        pytest.skip("the recorded page is not here")
    process = subprocess.Popen(
        [sys.executable, __file__, str(REAL), *kinds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield [f"127.0.0.1:{port}" for port in process.stdout.readline().split()]
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).read_text(), sys.argv[2:]))
