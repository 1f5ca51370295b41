"""Pages of `/metrics` as a release would write them, by the library that it writes them with."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from oomph.engines.history import release, span
from oomph.engines.vllm.metrics import Kind, shown

EXTRA = {
    "vllm:num_requests_waiting_by_reason": {"reason": "capacity"},
    "vllm:request_success": {"finished_reason": "stop"},
    "vllm:engine_sleep_state": {"sleep_state": "awake"},
    "vllm:admission_rejections": {"reason": "max_num_queued_reqs"},
    "vllm:cache_config_info": {"num_gpu_blocks": "500", "block_size": "16", "enable_prefix_caching": "True"},
}


def page(number: str, values: Mapping[str, float], *, engines: int = 1, model: str = "m") -> str:
    """Every metric that the release shows, with these values by their names, and one for those without a value.

    The n-th engine of several has n more of everything that is counted. Releases before 0.8.3 have no label `engine`.
    """
    registry = CollectorRegistry()
    named = release(number) in span("0.8.3")
    for metric in shown(release(number)):
        extra = EXTRA.get(metric.name, {})
        labels = {"model_name": model} | ({"engine": ""} if named else {}) | extra
        kind = {Kind.COUNTER: Counter, Kind.GAUGE: Gauge, Kind.HISTOGRAM: Histogram}[metric.kind]
        family = kind(metric.name, "what it is", list(labels), registry=registry)
        for engine in range(engines):
            sample = family.labels(**labels | ({"engine": str(engine)} if named else {}))
            value = values.get(metric.name, 1)
            if isinstance(sample, Histogram):
                sample.observe(value)
            elif isinstance(sample, Counter):
                sample.inc(value + engine)
            elif isinstance(sample, Gauge):
                sample.set(value)
    return generate_latest(registry).decode()
