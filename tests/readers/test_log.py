"""Logs as people have them: compressed, coloured, wrapped, endless, or no logs at all."""

import gzip
import io
import json
import os
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.vllm.hearing import FIRST_HINTS, HINTS
from oomph.engines.vllm.transcript import transcript
from oomph.errors import UnreadableError, UsageError
from oomph.ledger.observation import Observation, Quantity
from oomph.readers.log import read_log
from oomph.units import GIB, Bounds
from tidy.repository import ROOT

SHARED = ROOT.parent / "shared"
WEIGHTS = "Model loading took 18.47 GiB memory and 10.990096 seconds"
LINE = f"(EngineCore pid=258) INFO 04-24 10:21:03 [gpu_model_runner.py:4820] {WEIGHTS}"
ACCESS = '(APIServer pid=1) INFO:     127.0.0.1:5000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'


def lines(path: Path | str) -> list[tuple[int, str]]:
    return list(read_log(str(path), hints=HINTS, first_hints=FIRST_HINTS))


def heard(path: Path) -> Observation:
    (only,) = transcript(lines(path))
    return only


def likely(observation: Observation, quantity: Quantity) -> float | None:
    reading = observation.reading(quantity)
    return round(reading.value.likely / GIB, 4) if reading and isinstance(reading.value, Bounds) else None


@pytest.fixture
def write(tmp_path: Path) -> "Write":
    return Write(tmp_path / "vllm.log")


class Write:
    """Writes a log and says where it is."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, content: str | bytes) -> Path:
        self.path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.path


def test_only_lines_that_are_worth_reading_are_given_with_their_numbers(write: Write) -> None:
    assert lines(write(ACCESS * 3 + LINE + "\n" + ACCESS + "CUDA out of memory\n")) == [
        (4, LINE),
        (6, "CUDA out of memory"),
    ]


def test_numbers_are_right_far_into_a_log_of_many_blocks(write: Write) -> None:
    path = write(ACCESS * 20_000 + LINE + "\n" + ACCESS * 20_000 + LINE)

    assert [number for number, _ in lines(path)] == [20_001, 40_002]


@pytest.mark.parametrize(
    "wrapped",
    [
        LINE,
        LINE + "\r",
        "\x1b[1;36m(EngineCore pid=258)\x1b[0;0m \x1b[32mINFO\x1b[0m 04-24 10:21:03 [x.py:1] " + WEIGHTS,
        "2026-04-24T10:21:03.123456789Z " + LINE,
        "2026-04-24T10:21:03.123456789Z stderr F " + LINE,
        "vllm-1  | " + LINE,
        "[pod/vllm-0/server] " + LINE,
        "Apr 24 10:21:03 host docker[811]: " + LINE,
        LINE.replace("[", "\\[").replace("]", "\\]").replace("_", "\\_"),
        json.dumps({"log": LINE + "\n", "stream": "stderr", "time": "2026-04-24T10:21:03Z"}),
        json.dumps({"asctime": "x", "processName": "EngineCore", "process": 258, "message": WEIGHTS}),
        "2026-04-24T10:21:03Z stdout F " + json.dumps({"level": "info", "msg": LINE}),
        json.dumps({"message": f"first line\n{LINE}\nlast line"}),
        "Loading shards:  50%|█████     | 1/2\rLoading shards: 100%|██████████| 2/2\r" + LINE,
    ],
)
def test_what_wraps_a_line_is_taken_off(wrapped: str, write: Write) -> None:
    told = heard(write(wrapped + "\n"))

    assert list(told.ranks) == ["EngineCore"]
    reading = told.ranks["EngineCore"][Quantity.WEIGHTS]
    assert (likely(told, Quantity.WEIGHTS), reading.line, reading.text) == (18.47, 1, WEIGHTS)


def test_gzip_is_known_by_its_content_and_may_have_several_members(write: Write) -> None:
    path = write(gzip.compress((ACCESS + LINE + "\n").encode()) + gzip.compress(LINE.encode()))

    assert [number for number, _ in lines(path)] == [2, 3]


def test_a_log_from_a_windows_shell_is_read(write: Write) -> None:
    assert likely(heard(write((ACCESS + LINE + "\r\n").encode("utf-16"))), Quantity.WEIGHTS) == 18.47


@pytest.mark.parametrize("cut", [12, 40, -4])
def test_damaged_gzip_is_refused_with_words(cut: int, write: Write) -> None:
    whole = gzip.compress(os.urandom(4_000))

    with pytest.raises(UnreadableError, match="cut off or damaged"):
        lines(write(whole[:cut]))


def test_a_dash_is_what_is_piped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(LINE.encode()))))
    monkeypatch.setattr(sys, "stdin", piped)

    assert lines("-") == [(1, LINE)]
    assert not piped.closed


@pytest.mark.parametrize(("where", "words"), [(".", "directory"), ("no/such.log", "no such file"), ("a\0b", "no log")])
def test_what_is_no_log_is_refused_with_words(where: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lines(where)


def test_a_line_of_megabytes_is_read_around_what_is_found(write: Write) -> None:
    path = write("x" * 5_000_000 + " " + LINE + " " + "y" * 5_000_000 + "\n" + LINE)
    found = lines(path)

    assert [number for number, text in found if WEIGHTS in text] == [1, 2]
    assert max(len(text) for _, text in found) < 140_000


def test_nothing_that_moves_a_cursor_or_turns_text_around_comes_through(write: Write) -> None:
    ((_, text),) = lines(write("\x1b]0;title\x07\x1b[2Jmemory\x00\x08 \u202eevil\u2066 \x9b31m <b>\n"))

    assert text == "memory evil  <b>"


@given(st.binary(max_size=3_000))
def test_no_bytes_break_it(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.log"
    path.write_bytes(b"\n" + raw + b"\n" + LINE.encode())

    assert likely(transcript(lines(path))[-1], Quantity.WEIGHTS) is not None


def test_memory_and_time_are_bounded_by_no_length_of_the_log(write: Write) -> None:
    hostile = "(Worker pid=1) memory GiB KV cache size: blocks " * 2_000 + "\n"
    path = write(ACCESS * 100_000 + hostile * 20 + LINE)
    begin = time.process_time()
    tracemalloc.start()
    told = transcript(lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert likely(told[-1], Quantity.WEIGHTS) == 18.47
    assert peak < 40_000_000
    assert time.process_time() - begin < 30


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        if os.environ.get("CI"):
            pytest.fail("the shared evidence is not beside this checkout")
        pytest.skip("the shared evidence is not beside this checkout")
    return SHARED


def test_the_first_seed_gives_every_figure_of_its_failure(shared: Path) -> None:
    (seed,) = (shared / "seeds").glob("000_*.txt")
    told = heard(seed)
    said = {quantity: likely(told, quantity) for quantity in Quantity if likely(told, quantity) is not None}
    outside = told.ranks["EngineCore"][Quantity.OUTSIDE].value

    assert said == {
        Quantity.WEIGHTS: 18.47,
        Quantity.TRIED: 1.56,
        Quantity.DEVICE_TOTAL: 31.36,
        Quantity.DEVICE_FREE: 1.37,
        Quantity.IN_USE: 29.98,
        Quantity.ALLOCATED: 24.95,
        Quantity.RESERVED: 0.7409,  # 758.67 MiB
        Quantity.OUTSIDE: 4.2891,
    }
    assert isinstance(outside, Bounds)
    assert outside.doubt < 0.021 * GIB
    assert told.ranks["EngineCore"][Quantity.BLOCKS_OVERRIDDEN].value == 512


def test_the_second_seed_gives_its_failure_too(shared: Path) -> None:
    (seed,) = (shared / "seeds").glob("003_*.txt")
    told = heard(seed)

    assert likely(told, Quantity.TRIED) == 1.53
    assert likely(told, Quantity.DEVICE_TOTAL) == 23.0
    assert likely(told, Quantity.DEVICE_FREE) == 1.49
    assert likely(told, Quantity.IN_USE) == 21.59


@pytest.mark.parametrize(
    ("name", "quantity", "figure"),
    [
        ("default.log", Quantity.TOKENS, 524_288),
        ("cgauto.log", Quantity.TOKENS, 815_744),
        ("cgauto.log", Quantity.CONCURRENCY, 398.31),
        ("nofit.log", Quantity.FITTING_LENGTH, 896),
        ("nofit_auto.log", Quantity.TOKENS, 1_024),
        ("noram.log", Quantity.SHARE, 0.999),
        ("kvp.log", Quantity.TOKENS, 8_192),
        ("oom_cg.log", Quantity.STEP_TOKENS, 4_096),
    ],
)
def test_what_a_real_vllm_printed_here_is_read(name: str, quantity: Quantity, figure: float, shared: Path) -> None:
    told = heard(shared / "logs" / name)
    reading = told.reading(quantity)

    assert told.release == "0.32.0"
    assert told.model in {"./tiny", "./bigvocab"}
    assert reading is not None
    assert reading.value == figure


def whole(path: Path, *, after: int = 0) -> list[tuple[int, str]]:
    return list(read_log(str(path), hints=HINTS, first_hints=FIRST_HINTS, after=after, ends=True))


def test_how_a_log_begins_and_ends_is_given_whatever_it_says(write: Write) -> None:
    found = whole(write("first\n" + ACCESS * 10_000 + LINE + "\n" + ACCESS * 10_000 + "last"))

    assert found[0] == (1, "first")
    assert found[-1] == (20_003, "last")
    assert (10_002, LINE) in found
    assert len(found) < 12_000


def test_lines_after_one_that_holds_a_hint_are_given_too(write: Write) -> None:
    found = whole(write(ACCESS * 10_000 + f"{LINE}\none\ntwo\nthree\n" + ACCESS * 10_000), after=2)
    middle = [line for line in found if 10_000 < line[0] <= 10_004]

    assert middle == [(10_001, LINE), (10_002, "one"), (10_003, "two")]


def test_a_block_in_which_most_lines_matter_is_given_whole(write: Write) -> None:
    found = whole(write(ACCESS * 10_000 + f"{LINE}\n" * 8_000 + ACCESS * 10_000))

    assert sum(text == LINE for _, text in found) == 8_000


def test_a_log_of_the_journal_gives_its_messages(write: Write) -> None:
    record = json.dumps({"MESSAGE": LINE, "PRIORITY": "6", "_PID": "12"})

    assert whole(write(f"{record}\n")) == [(1, LINE)]


def test_a_message_inside_another_record_is_found(write: Write) -> None:
    record = json.dumps({"insertId": "x", "jsonPayload": {"message": LINE}, "timestamp": "2026-04-24T10:21:03Z"})

    assert whole(write(f"{record}\n")) == [(1, LINE)]
