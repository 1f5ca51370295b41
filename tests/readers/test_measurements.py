"""What was learned, kept in files and found again."""

import json
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oomph.errors import OomphError
from oomph.ledger.device import Capability, Device
from oomph.ledger.measurement import Measurement
from oomph.ledger.observation import Quantity
from oomph.ledger.settings import Flags
from oomph.readers import measurements
from oomph.readers.data_home import home
from oomph.readers.measurements import keep, kept, model_name
from oomph.units import GIB, Bounds, Bytes
from strategies import bounds

RUN = Measurement(
    engine="vLLM",
    model="a/b",
    release="0.19.1",
    device=Device(name="NVIDIA L4", total=Bytes(22 * GIB), capability=Capability(major=8, minor=9)),
    flags=Flags({"max_num_seqs": 8, "gpu_memory_utilization": 0.8, "cudagraph_capture_sizes": (1, 2), "dtype": "half"}),
    settings={"max_num_batched_tokens": 2048},
    config={"quantization": "awq"},
    learned="2026-11-15T10:21:03+00:00",
    figures={Quantity.WEIGHTS: {"Worker_TP0": Bounds(5, 9, 7), "Worker_TP1": Bounds(6)}},
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OOMPH_DATA", str(tmp_path))
    return tmp_path / "measurements"


def test_what_is_kept_is_found_again(data: Path) -> None:
    path = keep(RUN)

    assert path.parent == data
    assert kept("a/b") == ((RUN,), ())
    assert kept("a/c") == ((), ())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(Quantity), st.dictionaries(st.text(max_size=9), bounds, min_size=1), min_size=1))
def test_every_figure_survives(data: Path, figures: dict[Quantity, dict[str, Bounds]]) -> None:
    run = replace(RUN, figures=figures, device=None, release=None)
    keep(run)
    found, notes = kept("a/b")

    assert run in found
    assert notes == ()
    assert len(list(data.iterdir())) == 1


def test_the_same_start_up_replaces_what_was_learned_of_it(data: Path) -> None:
    keep(RUN)
    again = replace(RUN, figures={Quantity.WEIGHTS: {"": Bounds(1)}}, learned="2026-11-16T00:00:00+00:00")
    other = replace(RUN, flags=RUN.flags.but(max_num_seqs=9))
    keep(again)
    keep(other)

    assert set(map(repr, kept("a/b")[0])) == {repr(again), repr(other)}
    assert len(list(data.iterdir())) == 2


def test_a_file_is_written_whole_or_not_at_all(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = keep(RUN)
    before = path.read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OomphError, match="No space left"):
        keep(replace(RUN, learned="later"))

    assert path.read_bytes() == before
    assert [each.name for each in data.iterdir()] == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX")
def test_only_the_user_may_read_it(data: Path) -> None:
    path = keep(RUN)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


WHOLE = json.loads(json.dumps(measurements._written(RUN)))  # noqa: SLF001 - the contract itself is tried


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\xff\xfe\x00garbage", "not JSON"),
        (b"[1, 2]", "not an object"),
        (b"[" * 200_000, "nests"),
        (b'{"a": ' * 20_000, "nests"),
        (b" " * 300_000, "larger"),
        (json.dumps({**WHOLE, "schema": "oomph.measurement/2"}).encode(), "oomph.measurement/2"),
        (json.dumps({**WHOLE, "figures": {}}).encode(), "without a figure"),
        (json.dumps({**WHOLE, "figures": {"mass": {"": {"low": 1, "likely": 1, "high": 1}}}}).encode(), "mass"),
        (json.dumps({**WHOLE, "figures": {"weights": {"": {"low": 2, "likely": 1, "high": 1}}}}).encode(), "order"),
        (json.dumps({**WHOLE, "figures": {"weights": {"": {"low": 1.5, "likely": 2, "high": 3}}}}).encode(), "whole"),
        (json.dumps({**WHOLE, "device": {"name": "x", "total": -1, "capability": None}}).encode(), "no memory"),
        (json.dumps({**WHOLE, "device": {"name": "x", "total": 9, "capability": [1]}}).encode(), "unpack"),
        (json.dumps({**WHOLE, "flags": {"dtype": {"a": 1}}}).encode(), "no value of a flag"),
        (json.dumps({name: value for name, value in WHOLE.items() if name != "flags"}).encode(), "flags"),
        (json.dumps({**WHOLE, "model": None}).encode(), "text should be"),
    ],
)
def test_a_file_that_is_no_use_is_passed_over_with_a_note(content: bytes, words: str, data: Path) -> None:
    path = keep(RUN)
    broken = data / (path.name.partition("-")[0] + "-broken.json")
    broken.write_bytes(content)
    found, (note,) = kept("a/b")

    assert found == (RUN,)
    assert str(broken) in note
    assert words in note


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_no_content_breaks_it(data: Path, content: bytes) -> None:
    path = keep(RUN)
    (data / (path.name.partition("-")[0] + "-x.json")).write_bytes(content)

    assert RUN in kept("a/b")[0]


def test_a_file_of_another_model_under_this_ones_name_is_not_believed(data: Path) -> None:
    path = keep(RUN)
    text = json.dumps({**WHOLE, "model": "c/d"})
    (data / (path.name.partition("-")[0] + "-moved.json")).write_text(text)

    assert kept("a/b")[0] == (RUN,)


def test_where_nothing_can_be_written_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OOMPH_DATA", str(tmp_path / "file"))

    with pytest.raises(OomphError, match="set OOMPH_DATA"):
        keep(RUN)
    assert kept("a/b") == ((), ())


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {"OOMPH_DATA": "/d", "XDG_DATA_HOME": "/x"}, "/d/measurements"),
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/oomph/measurements"),
        ("linux", {"HOME": "/h"}, "/h/.local/share/oomph/measurements"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/oomph/measurements"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/oomph/measurements"),
    ],
)
def test_each_system_keeps_it_where_it_keeps_such_things(
    platform: str, variables: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OOMPH_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)

    assert home() == Path(place)


def test_one_model_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "other.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    cached = str(Path("cache") / "models--Qwen--Qwen3-8B" / "snapshots" / "0a1b")

    assert model_name("./tiny") == model_name("tiny/") == model_name("tiny/config.json") == str(folder.resolve())
    assert model_name("tiny/other.json") == str(folder.resolve() / "other.json")
    assert model_name(cached) == "Qwen/Qwen3-8B"
    assert model_name("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"
    assert model_name("a\0b") == "a\0b"
