from collections.abc import Callable

from scouting.metrics import Metric, metrics
from scouting.source import Package

Write = Callable[[dict[str, str]], Package]

LOGGERS = """
    class Prometheus:
        def __init__(self, show_hidden_metrics):
            labelnames = ["model_name", "engine"]
            self.running = self._gauge_cls(
                name="vllm:num_requests_running", documentation="like vllm:nothing", labelnames=labelnames)
            self.reason = self._gauge_cls(name="vllm:by_reason", documentation="", labelnames=labelnames + ["reason"])
            self.plain = Counter("vllm:plain", "words", ["operation"])
            if show_hidden_metrics:
                self.old = self._counter_cls(name="vllm:old", documentation="", labelnames=labelnames)

        def info(self, kind):
            if kind == "cache_config":
                name = "vllm:cache_config_info"
            self._gauge_cls(name=name, documentation="", labelnames=self.keys())

        def table(self, labelnames):
            for name, doc in [("vllm:drafts", "d"), ("vllm:accepted", "a")]:
                self._counter_cls(name=name, documentation=doc, labelnames=labelnames)

    def read(metric):
        if metric.name == "vllm:compared_only":
            return 0
        for name in [x]:
            self._histogram_cls(name=f"vllm:tier_{name}", documentation="")
"""


def by_name(package: Package) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics(package)}


def test_a_metric_is_named_by_its_builder_and_not_by_its_documentation(write: Write) -> None:
    found = by_name(write({"v1/metrics/loggers.py": LOGGERS}))

    assert found["vllm:num_requests_running"] == Metric(
        name="vllm:num_requests_running",
        kind="gauge",
        labels=("model_name", "engine"),
        hidden=False,
        file="v1/metrics/loggers.py",
    )
    assert not {"vllm:nothing", "vllm:compared_only"} & set(found)


def test_labels_are_added_up_or_admitted_unknown(write: Write) -> None:
    found = by_name(write({"v1/metrics/loggers.py": LOGGERS}))

    assert found["vllm:by_reason"].labels == ("model_name", "engine", "reason")
    assert found["vllm:plain"].labels == ("operation",)
    assert found["vllm:cache_config_info"].labels is None
    assert found["vllm:drafts"].labels is None


def test_a_name_that_waits_in_a_variable_takes_the_kind_of_the_only_builder(write: Write) -> None:
    found = by_name(write({"v1/metrics/loggers.py": LOGGERS}))

    assert found["vllm:cache_config_info"].kind == "gauge"
    assert found["vllm:drafts"].kind == found["vllm:accepted"].kind == "counter"


def test_a_metric_behind_the_hidden_switch_is_marked(write: Write) -> None:
    found = by_name(write({"v1/metrics/loggers.py": LOGGERS}))

    assert found["vllm:old"].hidden
    assert not found["vllm:by_reason"].hidden


def test_a_name_with_a_hole_is_kept_as_a_template(write: Write) -> None:
    assert by_name(write({"v1/metrics/loggers.py": LOGGERS}))["vllm:tier_{}"].kind == "histogram"


def test_a_constant_takes_its_kind_from_the_table_next_door(write: Write) -> None:
    found = by_name(
        write(
            {
                "v1/offload/common.py": """
                    class Names:
                        USAGE = "vllm:offload_usage"
                        FAILED = "vllm:offload_failed"
                        TIME = "vllm:offload_time"
                """,
                "v1/offload/spec.py": """
                    def definitions():
                        table = {Names.USAGE: GaugeMetadata(documentation="")}
                        table[Names.FAILED] = CounterMetadata(documentation="", labelnames=("tier",))
                        Histogram(name=Names.TIME, documentation="", labelnames=["tier"])
                """,
            }
        )
    )

    assert [(name, metric.kind, metric.labels) for name, metric in found.items()] == [
        ("vllm:offload_failed", "counter", None),
        ("vllm:offload_time", "histogram", ("tier",)),
        ("vllm:offload_usage", "gauge", None),
    ]


def test_a_name_that_two_engines_declare_is_listed_for_each(write: Write) -> None:
    one = 'gauge = Gauge(name="vllm:running", documentation="")'
    found = metrics(write({"engine/metrics.py": one, "v1/metrics/loggers.py": one}))

    assert [metric.file for metric in found] == ["engine/metrics.py", "v1/metrics/loggers.py"]


def test_a_mere_mention_is_dropped_where_the_metric_is_declared(write: Write) -> None:
    found = metrics(
        write(
            {
                "v1/metrics/loggers.py": 'gauge = Gauge(name="vllm:running", documentation="")',
                "entrypoints/orca.py": 'WANTED = ["vllm:running"]',
                "benchmarks/serve.py": 'PREFIX = ["vllm:spec"]',
            }
        )
    )

    assert [metric.file for metric in found] == ["v1/metrics/loggers.py"]
