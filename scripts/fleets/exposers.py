"""Many engines behind a few addresses: pages that name each engine by its own labels.

A page is kept in pieces between its numbers, so that the next one, in which every counter has moved, is one join.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.sources import Source, scraped

MODELS: Final = 40  # of as many tenants: engines of a fleet serve a few dozen models
BUCKETS: Final = {  # of 0.32.0, v1/metrics/loggers.py
    Source.QUEUED: 22,
    Source.FIRST_TOKEN: 23,
    Source.BETWEEN_TOKENS: 20,
    Source.WHOLE_REQUEST: 22,
}
_NUMBER: Final = b"\x00"  # where the counters stand in a page
_GAUGES: Final = {Source.KV_USED: "0.7", Source.RUNNING: "20", Source.WAITING: "0", Source.UP: "1"}
_COUNTERS: Final = (
    Source.PREEMPTIONS,
    Source.GENERATED,
    Source.PROMPTED,
    Source.PREFIX_QUERIES,
    Source.PREFIX_HITS,
)


def lines(engine: int, release: Release) -> Iterator[str]:
    """Every series of one engine that a rule or a panel reads."""
    model = engine % MODELS
    where = f'job="vllm",namespace="team-{model}",pod="m-{engine}",instance="10.{engine >> 8}.{engine & 255}.1:8000"'
    who = f'{where},model_name="model-{model}",engine="0"'
    number = _NUMBER.decode()
    for source, value in _GAUGES.items():
        yield f"{scraped(source, release)}{{{where if source is Source.UP else who}}} {value}"
    for source in _COUNTERS:
        yield f"{scraped(source, release)}{{{who}}} {number}"
    for reason in ("capacity", "deferred"):
        yield f'{scraped(Source.WAITING_BY_REASON, release)}{{{who},reason="{reason}"}} 0'
    for reason in ("stop", "length", "abort", "error", "repetition"):
        yield f'{scraped(Source.FINISHED, release)}{{{who},finished_reason="{reason}"}} {number}'
    for reason in ("max_num_queued_reqs", "max_num_queued_tokens"):
        yield f'{scraped(Source.REJECTED, release)}{{{where},model_name="model-{model}",reason="{reason}"}} 0'
    for status in ("2xx", "4xx"):
        yield f'{scraped(Source.ANSWERED, release)}{{{where},handler="/v1/completions",status="{status}"}} {number}'
    for source, edges in BUCKETS.items():
        for edge in (*(str(1 << place) for place in range(edges - 1)), "+Inf"):
            yield f'{scraped(source, release)}_bucket{{{who},le="{edge}"}} {number}'
    yield f"{scraped(Source.STARTED, release)}{{{where}}} 1700000000"
    yield f'{scraped(Source.POOL, release)}{{{where},engine="0",num_gpu_blocks="25679",block_size="16"}} 1'


@contextmanager
def exposing(engines: range, release: Release) -> Iterator[str]:
    """The address of a page of all these engines, as HOST:PORT."""
    page = "".join(f"{line}\n" for engine in engines for line in lines(engine, release)).encode()
    pieces, scrape = page.split(_NUMBER), count(1)

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = str(next(scrape) * 1000).encode().join(pieces)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            with suppress(ConnectionError):  # Prometheus is ended while it is sent
                self.wfile.write(text)

        def log_message(self, *_words: object) -> None:
            """Not said."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
