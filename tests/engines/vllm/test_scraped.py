"""What is read from a page of metrics: what Prometheus' own parser reads, of every release, no harm from rubbish."""

import time
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from engines.vllm.pages import page
from oomph.engines.vllm import scraped
from oomph.engines.vllm.metrics import METRICS
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.sample import labelled
from oomph.engines.vllm.scraped import scrapes

REAL = Path(__file__).parents[4] / "shared" / "logs" / "vllm_0.32.0_metrics.txt"
SMALL = """\
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="500"} 1.0
vllm:request_prompt_tokens_bucket{engine="0",le="10.0",model_name="m"} 2.0
vllm:request_prompt_tokens_bucket{engine="0",le="+Inf",model_name="m"} 5.0
vllm:request_prompt_tokens_sum{engine="0",model_name="m"} 400.0
"""


@pytest.fixture(scope="module")
def real() -> str:
    if not REAL.exists():
        pytest.skip("the recorded page is not here")
    return REAL.read_text()


def test_a_small_page_by_hand() -> None:
    (scrape,) = scrapes(SMALL, at=7.0)

    assert (scrape.at, scrape.engine, scrape.model) == (7.0, "0", "m")
    assert (scrape.running, scrape.kv_used, scrape.tokens) == (3, 0.25, 16 * 500)
    assert scrape.prompt_lengths is not None
    assert (scrape.prompt_lengths.edges, scrape.prompt_lengths.counts) == ((10.0, inf), (2, 5))
    assert scrape.prompt_lengths.mean == 80.0
    assert scrape.waiting is scrape.preemptions is scrape.requests is scrape.started is None


def test_a_real_page_says_what_the_parser_of_prometheus_reads(real: str) -> None:
    (scrape,) = scrapes(real, at=0.0)
    read = {
        (sample.name, *(sample.labels.get(by) for by in ("reason", "finished_reason", "le"))): sample.value
        for family in text_string_to_metric_families(real)
        for sample in family.samples
    }

    for field, names in [*scraped.SHARES.items(), *scraped.COUNTS.items()]:
        assert getattr(scrape, field) == read.get((names[0], None, None, None)), field
    for field, (name, _) in scraped.SORTED.items():
        said = {key[1] or key[2]: value for key, value in read.items() if key[0] == name}
        assert dict(getattr(scrape, field)) == said, field
    for field, names in scraped.HISTOGRAMS.items():
        buckets = {float(str(key[3])): value for key, value in read.items() if key[0] == f"{names[0]}_bucket"}
        histogram = getattr(scrape, field)
        assert dict(zip(histogram.edges, histogram.counts, strict=True)) == buckets, field
        assert histogram.total == read[f"{names[0]}_sum", None, None, None], field
        assert histogram.count == read[f"{names[0]}_count", None, None, None], field
    assert scrape.started == read["process_start_time_seconds", None, None, None]
    assert scrape.resident == read["process_resident_memory_bytes", None, None, None]
    assert (scrape.blocks, scrape.block_tokens, scrape.pool_tokens) == (16, 128, 2048)
    assert (scrape.prefix_caching, scrape.asleep) == (True, False)


def test_a_real_page_is_read_much_faster_than_by_a_whole_parser(real: str, capsys: pytest.CaptureFixture[str]) -> None:
    def cost(rounds: int, *, ours: bool) -> float:
        begun = time.process_time()
        for _ in range(rounds):
            if ours:
                scrapes(real, at=0.0)
            else:
                list(text_string_to_metric_families(real))
        return (time.process_time() - begun) / rounds

    ours, theirs = (min(cost(5, ours=ours) for _ in range(4)) for ours in (True, False))
    with capsys.disabled():
        print(f"\n  one page of /metrics: {ours * 1e3:.2f} ms; a whole parser: {theirs * 1e3:.2f} ms", end="")  # noqa: T201 - the figure

    assert ours < theirs / 4
    assert ours < 0.005  # seconds; some 0.0006 on a quiet machine


@pytest.mark.parametrize("release", HISTORY.releases, ids=str)
def test_every_release_tells_of_pool_queue_tokens_and_lengths(release: object) -> None:
    said = {
        "vllm:kv_cache_usage_perc": 0.5,
        "vllm:gpu_cache_usage_perc": 0.5,
        "vllm:num_requests_running": 7,
        "vllm:num_requests_waiting": 3,
        "vllm:num_preemptions": 11,
        "vllm:generation_tokens": 1000,
        "vllm:request_prompt_tokens": 4.0,
        "vllm:inter_token_latency_seconds": 0.3,
        "vllm:time_per_output_token_seconds": 0.3,
        "vllm:gpu_prefix_cache_hit_rate": 0.75,
    }
    (scrape,) = scrapes(page(str(release), said), at=0.0)

    assert (scrape.kv_used, scrape.running, scrape.waiting) == (0.5, 7, 3)
    assert (scrape.preemptions, scrape.generation_tokens) == (11, 1000)
    assert (scrape.blocks, scrape.block_tokens, dict(scrape.finished)) == (500, 16, {"stop": 1})
    assert scrape.prompt_lengths is not None
    assert scrape.prompt_lengths.count == 1
    assert scrape.between_tokens is not None
    assert scrape.between_tokens.total == 0.3
    assert scrape.prefix_queries == 1 or scrape.prefix_hit_rate == 0.75


def test_every_name_that_is_looked_for_is_of_some_release() -> None:
    known = {metric.scraped for metric in METRICS}
    pairs = [*scraped.SHARES.values(), *scraped.COUNTS.values(), *scraped.HISTOGRAMS.values()]
    looked_for = {name for names in pairs for name in names} | {name for name, _ in scraped.SORTED.values()}
    looked_for |= {scraped.CONFIG, scraped.SLEEP, scraped.REJECTED}

    assert {name.removesuffix("_count") if "iteration" in name else name for name in looked_for} <= known


def test_engines_behind_one_endpoint_are_told_apart_and_in_order() -> None:
    engines = scrapes(page("0.32.0", {"vllm:num_preemptions": 10}, engines=12), at=0.0)

    assert [scrape.engine for scrape in engines] == [str(number) for number in range(12)]
    assert [scrape.preemptions for scrape in engines] == [10 + number for number in range(12)]
    assert {scrape.blocks for scrape in engines} == {500 // 12}  # the label is their sum
    assert {scrape.steps for scrape in engines} == {1}
    assert {scrape.prompt_lengths and scrape.prompt_lengths.count for scrape in engines} == {1}


def test_a_page_without_remarks_is_read_like_one_with_them() -> None:
    whole = page("0.32.0", {}, engines=3)
    bare = "\n".join(line for line in whole.splitlines() if not line.startswith("#"))

    assert scrapes(bare, at=0.0) == scrapes(whole, at=0.0)


def test_where_two_pools_have_one_number_nobody_is_given_either() -> None:
    text = SMALL + SMALL.replace('"m"', '"n"').replace("500", "900")
    grouped = "\n".join(sorted(text.splitlines()))

    assert [(scrape.model, scrape.blocks) for scrape in scrapes(grouped, at=0.0)] == [("m", None), ("n", None)]


@pytest.mark.parametrize(
    ("value", "running"),
    [
        ("3", 3),
        ("3e0", 3),
        ("3.0 1700000000000", 3),
        ("NaN", None),
        ("+Inf", None),
        ("-1", None),
        ("1_0", None),
        ("", None),
        ("1e300", None),
    ],
)
def test_a_count_is_a_count_or_nothing(value: str, running: int | None) -> None:
    text = f'vllm:num_requests_running{{model_name="m"}} {value}\nvllm:num_requests_waiting{{model_name="m"}} 1\n'

    assert [scrape.running for scrape in scrapes(text, at=0.0)] == [running]


def test_a_model_may_have_any_name() -> None:
    for name in ("a} b", 'a"b', "a\\b", "a\nb", "ü,{}=", ""):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        (scrape,) = scrapes(f'vllm:num_requests_running{{model_name="{escaped}",engine="0"}} 1\n', at=0.0)

        assert (scrape.model, scrape.engine) == (name, "0")


def test_labels_that_are_not_closed_are_none() -> None:
    assert labelled('a="b') is None
    assert labelled('a="b",c') is None
    assert labelled('a="b", c="d",') == {"a": "b", "c": "d"}


def test_more_engines_than_there_can_be_are_not_kept() -> None:
    lines = (f'vllm:num_requests_running{{engine="{number}"}} 1' for number in range(5_000))

    assert len(scrapes("\n".join(lines), at=0.0)) == 1024


NAMES = sorted({name for names in (*scraped.SHARES.values(), *scraped.COUNTS.values()) for name in names})
SCRAPS = ["{", "}", '"', "\\", "\n", " ", ",", "=", "le", "1e9", "-1", "NaN", "\r", "\x00", "٣", "}" * 50, "# TYPE "]
LABELS = ['engine="0"', 'model_name="m"', 'le="+Inf"', 'le="x"']
PIECES = st.sampled_from([*NAMES, "vllm:request_prompt_tokens_bucket", scraped.CONFIG, *SCRAPS, *LABELS])


@given(st.lists(PIECES | st.text(max_size=5), max_size=60))
def test_no_page_raises(pieces: list[str]) -> None:
    for scrape in scrapes("".join(pieces), at=0.0):
        assert scrape.kv_used is None or 0 <= scrape.kv_used <= 1
        assert scrape.running is None or scrape.running >= 0


@given(st.data())
def test_a_page_that_was_cut_or_bitten_says_nothing_that_the_whole_did_not(data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(SMALL)))
    (whole,) = scrapes(SMALL, at=0.0)

    for scrape in scrapes(SMALL[:cut].rpartition("\n")[0], at=0.0):
        assert scrape.running in {None, whole.running}
        assert scrape.kv_used in {None, whole.kv_used}
        assert scrape.blocks in {None, whole.blocks}


def test_a_hostile_page_takes_no_longer_than_its_length() -> None:
    rubbish = 'vllm:num_requests_running{a="' + "\\" * 15_000 + "\n"

    begun = time.process_time()
    scrapes(rubbish * 200, at=0.0)
    assert time.process_time() - begun < 5
