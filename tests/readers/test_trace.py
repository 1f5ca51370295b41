"""Traffic read from traces and pages: by hand, in every common form, of any size, and refused by line."""

import io
import json
import sys
import time
import tracemalloc
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vllm.pages import page
from oomph.errors import OomphError, UnreadableError, UsageError
from oomph.ledger.traffic import Traffic
from oomph.readers.trace import read_traffic
from oomph.readers.trace_line import request

LENGTHS: dict[str, object] = {"prompt_tokens": 1, "completion_tokens": 1}


def written(folder: Path, lines: Iterable[object]) -> str:
    file = folder / "trace.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(file)


def test_a_small_trace_by_hand(tmp_path: Path) -> None:
    lines = [{"prompt_tokens": 10 * n, "completion_tokens": n, "timestamp": n, "duration": 2.5} for n in range(1, 101)]
    traffic = read_traffic(written(tmp_path, lines))

    assert (traffic.prompt.p50, traffic.prompt.p99, traffic.prompt.most) == (500, 990, 1_000)
    assert (traffic.answer.p50, traffic.answer.p99, traffic.answer.most) == (50, 99, 100)
    assert traffic.prompt.samples[:3] == (10, 20, 30)
    assert traffic.at_once == 3  # one begins each second and lasts two and a half
    assert traffic.per_second == 1.0
    assert (traffic.refused_count, traffic.prompt.count) == (0, 100)


@pytest.mark.parametrize(
    "line",
    [
        {"prompt_tokens": 7, "completion_tokens": 3},
        {"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}, "id": "chatcmpl-1"},
        {"response": {"body": {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}}, "custom_id": "a"},
        {"timestamp": 27482, "input_length": 7, "output_length": 3, "hash_ids": [46, 47]},
        {"prompt_len": 7, "output_len": 3},
        {"prompt": "words", "input_tokens": 7.0, "output_tokens": 3},
    ],
)
def test_each_common_form_is_read(line: dict[str, object]) -> None:
    assert (request(line).prompt, request(line).answer) == (7, 3)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"prompt_tokens": 7}, "has prompt_tokens but no length of the answer"),
        ({"output_len": 7}, "has output_len but no length of the prompt"),
        ({}, "says no lengths"),
        ({"prompt_tokens": -1, "completion_tokens": 1}, "has prompt_tokens -1, which is no count of tokens"),
        ({"prompt_tokens": True, "completion_tokens": 1}, "no count of tokens"),
        ({"prompt_tokens": 1.5, "completion_tokens": 1}, "no count of tokens"),
        ({"prompt_tokens": 10**400, "completion_tokens": 1}, "no count of tokens"),
        ({"prompt_tokens": "7", "completion_tokens": 1}, "no count of tokens"),
    ],
)
def test_what_says_no_lengths_is_refused_with_why(line: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        request(line)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ({"timestamp": 1_700_000_000}, 1.7e9),
        ({"timestamp": 1_700_000_000_000}, 1.7e9),
        ({"timestamp": 1_700_000_000_000_000}, 1.7e9),
        ({"created": 1_700_000_000.5}, 1_700_000_000.5),
        ({"timestamp": "2023-11-14T22:13:20Z"}, 1.7e9),
        ({"timestamp": "2023-11-14T22:13:20"}, 1.7e9),
        ({"timestamp": 3000, "input_length": 1, "output_length": 1}, 3.0),
        ({"timestamp": "yesterday"}, None),
        ({}, None),
    ],
)
def test_times_are_read_in_their_units(line: dict[str, object], seconds: float | None) -> None:
    assert request(line if "input_length" in line else line | LENGTHS).at == seconds


def test_a_few_bad_lines_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    lines: list[object] = [LENGTHS] * 300
    lines[6], lines[200] = "{not json", {"prompt": "only words"}
    traffic = read_traffic(written(tmp_path, lines))

    assert traffic.prompt.count == 298
    assert traffic.refused_count == 2
    assert traffic.refused[0] == "line 7: is no JSON"
    assert traffic.refused[1].startswith("line 201: says no lengths")


def test_more_than_one_bad_line_in_a_hundred_refuses_the_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"4 of 300 lines of .* more than one in a hundred: line 1: is no JSON"):
        read_traffic(written(tmp_path, ["x"] * 4 + [LENGTHS] * 296))


@pytest.mark.parametrize(
    ("lines", "words"),
    [([], "holds no request"), ([""], "holds no request"), (["[1, 2]"], "line 1: is no JSON object in braces")],
)
def test_a_file_without_requests_is_refused(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(UnreadableError, match=words):
        read_traffic(written(tmp_path, lines))


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_traffic("/nowhere/trace.jsonl")


def test_how_many_at_once_is_not_told_where_nothing_says_when_they_ended(tmp_path: Path) -> None:
    lines = [LENGTHS | {"timestamp": n / 2} for n in range(10)]
    traffic = read_traffic(written(tmp_path, lines))

    assert (traffic.at_once, traffic.per_second) == (None, 2.0)


def test_how_many_at_once_is_not_told_of_a_trace_that_is_not_in_order(tmp_path: Path) -> None:
    lines = [LENGTHS | {"timestamp": n, "duration": 1} for n in (5, 3, 9)]

    assert read_traffic(written(tmp_path, lines)).at_once is None


def test_what_is_piped_in_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(LENGTHS).encode())))

    assert read_traffic("-").prompt.count == 1


def test_a_long_trace_is_read_in_little_memory_and_always_alike(tmp_path: Path) -> None:
    kinds = [json.dumps({"prompt_tokens": 37 * n % 9_973, "completion_tokens": n % 700}) for n in range(5_000)]
    where = written(tmp_path, islice(cycle(kinds), 25_000))

    tracemalloc.start()
    first = read_traffic(where)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 << 20
    assert first == read_traffic(where)
    assert first.prompt.count == 25_000
    assert len(first.prompt.samples) == len(first.answer.samples) == 4_096
    assert first.prompt.most == max(37 * n % 9_973 for n in range(5_000))


def test_lengths_of_more_kinds_than_are_kept_are_rounded_up_and_never_down(tmp_path: Path) -> None:
    lines = [json.dumps({"prompt_tokens": n, "completion_tokens": 1}) for n in range(70_000)]
    prompt = read_traffic(written(tmp_path, lines)).prompt

    assert 34_999 <= prompt.p50 <= 35_003
    assert 69_299 <= prompt.p99 <= 69_303
    assert prompt.most == 69_999


def test_a_page_of_metrics_in_a_file_gives_the_upper_edges(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    file.write_text(
        page("0.32.0", {"vllm:request_prompt_tokens": 3.0, "vllm:request_generation_tokens": 0.4}, engines=2)
    )
    traffic = read_traffic(str(file))

    assert (traffic.prompt.p50, traffic.prompt.p99, traffic.prompt.count) == (5, 5, 2)
    assert traffic.at_once == 4  # two engines, each with one running and one waiting
    assert traffic.at_once_basis is not None
    assert "the peak may be higher" in traffic.at_once_basis


def test_two_models_behind_one_page_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    both = page("0.32.0", {}, model="a").splitlines() + page("0.32.0", {}, model="b").splitlines()
    file.write_text("\n".join(sorted(line for line in both if not line.startswith("#"))))

    with pytest.raises(UnreadableError, match=r"several models are served there \(a, b\)"):
        read_traffic(str(file))


def test_a_page_without_a_finished_request_knows_no_lengths(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    file.write_text('vllm:num_requests_running{model_name="m"} 1\n')

    with pytest.raises(UnreadableError, match="has finished no request yet"):
        read_traffic(str(file))


PIECES = [b'{"prompt_tokens":', b"1", b"}", b"[", b"\n", b"1e999", b"NaN", b'"usage":', b"{", b",", b"# ", b"vllm:"]


@given(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_no_bytes_do_more_than_be_refused(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    file.write_bytes(raw)

    try:
        assert isinstance(read_traffic(str(file)), Traffic)
    except OomphError as refused:
        assert str(refused)  # noqa: PT017 - either outcome is right


def test_a_hostile_line_is_given_up_quickly(tmp_path: Path) -> None:
    begun = time.process_time()

    with pytest.raises(UnreadableError):
        read_traffic(written(tmp_path, ["[" * 200_000] * 50))
    assert time.process_time() - begun < 5
