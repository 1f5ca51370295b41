"""Which expression answers which question, in which release."""

import re

import pytest

from oomph.engines.history import release
from oomph.engines.vllm.metrics import METRICS, shown
from oomph.engines.vllm.monitoring.expression import Gauge, Quantile, Rate, Scope, Share
from oomph.engines.vllm.monitoring.questions import Question, answers
from oomph.engines.vllm.monitoring.sources import NAMES, Source, scraped
from oomph.engines.vllm.releases import HISTORY

SCOPE = Scope(by=("instance", "engine"), where=('model_name="m"',))


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("0.6.0", "vllm:gpu_cache_usage_perc"),
        ("0.9.1", "vllm:gpu_cache_usage_perc"),
        ("0.9.2", "vllm:kv_cache_usage_perc"),  # both are shown; the one that stays is asked
        ("0.32.0", "vllm:kv_cache_usage_perc"),
    ],
)
def test_the_pool_is_asked_by_the_name_that_the_release_shows(number: str, name: str) -> None:
    assert scraped(Source.KV_USED, release(number)) == name


@pytest.mark.parametrize(
    ("number", "silent"),
    [
        ("0.6.0", {"waiting_for_capacity", "waiting_deferred", "rejected", "queued", "prefix_queries", "prefix_hits"}),
        ("0.8.5", {"waiting_for_capacity", "waiting_deferred", "rejected"}),
        ("0.20.0", {"rejected"}),
        ("0.32.0", set()),
    ],
)
def test_what_a_release_does_not_tell_is_not_answered(number: str, silent: set[str]) -> None:
    answered = answers(release(number), job="vllm")
    of_server = {"answered", "server_errors", "server_error_share"} if number == "0.6.0" else set()

    assert {str(question) for question in Question if question not in answered} == silent | of_server


def test_every_name_is_a_metric_of_the_table_and_counters_carry_their_suffix() -> None:
    known = {metric.scraped for metric in METRICS}

    assert {name for names in NAMES.values() for name in names} <= known
    assert scraped(Source.PREEMPTIONS, release("0.32.0")) == "vllm:num_preemptions_total"


@pytest.mark.parametrize("asked", HISTORY.releases, ids=str)
def test_no_answer_reads_a_name_that_its_release_does_not_show(asked: object) -> None:
    one = HISTORY.release(str(asked))
    names = {metric.scraped for metric in shown(one)}
    texts = [answer.text(SCOPE) for answer in answers(one, job="vllm").values()]
    read = {name.removesuffix("_bucket") for text in texts for name in re.findall(r"vllm:\w+", text)}

    assert len(texts) > 12
    assert read <= names


def test_a_share_is_made_of_folded_rates() -> None:
    share = Share(part=Rate(name="hits_total"), whole=Rate(name="asked_total"))

    assert share.text(SCOPE) == (
        'sum by (instance, engine) (rate(hits_total{model_name="m"}[5m]))'
        ' / (sum by (instance, engine) (rate(asked_total{model_name="m"}[5m])) > 0)'
    )


def test_a_quantile_is_made_of_folded_buckets() -> None:
    quantile = Quantile(name="wait_seconds", share=0.99)

    assert quantile.text(Scope(by=("model_name",))) == (
        "histogram_quantile(0.99, sum by (le, model_name) (rate(wait_seconds_bucket[5m])))"
    )
    assert quantile.operation == "p99"


def test_a_series_that_appears_with_its_first_count_is_none_until_then() -> None:
    errors = Rate(name="http_requests_total", where=('status="5xx"',), among=('job="vllm"',))

    assert errors.text(Scope(by=())) == (
        '(sum(rate(http_requests_total{job="vllm",status="5xx"}[5m]))'
        ' or 0 * sum(rate(http_requests_total{job="vllm"}[5m])))'
    )


def test_a_gauge_is_folded_as_it_must_be() -> None:
    assert Gauge(name="used", fold="max").text(Scope(by=("engine",))) == "max by (engine) (used)"
