import pytest

from oomph.engines.history import Release, release
from oomph.engines.vllm.metrics import METRICS, Kind, shown
from oomph.engines.vllm.releases import HISTORY


def names(text: str) -> set[str]:
    return {metric.scraped for metric in shown(release(text))}


@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("0.6.0", {"vllm:gpu_cache_usage_perc", "vllm:cpu_cache_usage_perc"}),
        ("0.9.0", {"vllm:gpu_cache_usage_perc"}),  # the CPU's is hidden since 0.8.3
        ("0.9.2", {"vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"}),
        ("0.12.0", {"vllm:kv_cache_usage_perc"}),
        ("0.32.0", {"vllm:kv_cache_usage_perc"}),
    ],
)
def test_the_use_of_the_pool_has_had_several_names(text: str, usage: set[str]) -> None:
    assert {
        name for name in names(text) if name.endswith("cache_usage_perc") and ":kv_o" not in name and ":hi" not in name
    } == usage


@pytest.mark.parametrize("known", HISTORY.releases, ids=str)
def test_every_release_tells_queue_preemptions_and_pool(known: Release) -> None:
    told = {metric.scraped for metric in shown(known)}

    assert {"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:num_preemptions_total"} <= told
    assert {"vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"} & told


def test_a_counter_is_scraped_with_total_behind() -> None:
    preemptions = next(metric for metric in METRICS if metric.name == "vllm:num_preemptions")

    assert (preemptions.kind, preemptions.scraped) == (Kind.COUNTER, "vllm:num_preemptions_total")


def test_what_is_gone_is_told_by_something_that_is_not() -> None:
    successors = {metric.now for metric in METRICS if metric.now}

    assert successors <= {metric.name for metric in METRICS if metric.span.until is None}
    assert "vllm:kv_cache_usage_perc" in successors


def test_each_metric_stands_once() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
