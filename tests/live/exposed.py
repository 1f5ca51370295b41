"""A server on loopback that shows what a release of vLLM would show, under load: every counter moves at every scrape.

Names and kinds are those of our own tables, written by the library that vLLM writes them with.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from oomph.engines.history import Release
from oomph.engines.vllm.metrics import Kind, shown
from oomph.engines.vllm.monitoring.sources import ANSWERING, NUMBERED

# Labels besides model and engine, one set for each series.
SETS: Final[Mapping[str, tuple[dict[str, str], ...]]] = {
    "vllm:num_requests_waiting_by_reason": ({"reason": "capacity"}, {"reason": "deferred"}),
    "vllm:request_success": ({"finished_reason": "stop"}, {"finished_reason": "length"}),
    "vllm:cache_config_info": ({"num_gpu_blocks": "500", "block_size": "16"},),
}
LEAST: Final = 0.5  # of what a gauge shows


class Shown:
    """The metrics of one release."""

    def __init__(self, release: Release) -> None:
        self.registry = CollectorRegistry()
        self._samples: list[Counter | Gauge | Histogram] = []
        for metric in shown(release):
            kind = {Kind.COUNTER: Counter, Kind.GAUGE: Gauge, Kind.HISTOGRAM: Histogram}[metric.kind]
            common = {"model_name": "m"} | ({"engine": "0"} if release in NUMBERED else {})
            sets = [common | extra for extra in SETS.get(metric.name, ({},))]
            family = kind(metric.name, "what it is", list(sets[0]), registry=self.registry)
            self._samples += [family.labels(**labels) for labels in sets]
        if release in ANSWERING:
            answers = Counter("http_requests", "what it is", ["handler", "status"], registry=self.registry)
            self._samples.append(answers.labels("/v1/completions", "2xx"))
        started = Gauge("process_start_time_seconds", "what it is", registry=self.registry)
        started.set(1_700_000_000)

    def page(self) -> bytes:
        """As it is now; a moment of load later than the last."""
        for sample in self._samples:
            if isinstance(sample, Histogram):
                sample.observe(LEAST)
            elif isinstance(sample, Counter):
                sample.inc()
            else:
                sample.set(LEAST)
        return generate_latest(self.registry)


@contextmanager
def exposed(release: Release) -> Iterator[str]:
    """Its address, as HOST:PORT."""
    metrics = Shown(release)

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = metrics.page()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_words: object) -> None:
            """Not said."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
