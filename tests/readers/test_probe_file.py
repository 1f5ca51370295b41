"""A probe, saved and taken back; and files that are none, or were made to hurt."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.errors import UnreadableError, UsageError
from oomph.ledger.device import Capability
from oomph.ledger.probe import Gpu, Host, Maker, Probe, Process, Seen, Slice
from oomph.readers.printable import printable
from oomph.readers.probe_file import read_probe
from oomph.units import Bytes
from oomph.write.probe_json import probe_json

sizes = st.none() | st.integers(0, 1 << 50).map(Bytes)
words = st.none() | st.text(max_size=20).map(printable)
truths = st.none() | st.booleans()
seens = st.none() | st.builds(
    Seen,
    free=st.integers(0, 1 << 50).map(Bytes),
    total=st.integers(0, 1 << 50).map(Bytes),
    device_total=sizes,
    cost=sizes,
    seconds=st.none() | st.floats(0, 100),
    integrated=truths,
    virtual_memory=truths,
)
processes = st.lists(
    st.builds(
        Process,
        pid=st.integers(0, 1 << 22),
        name=words,
        command=words,
        holds=sizes,
        parent=st.none() | st.integers(0, 1 << 22),
        parent_name=words,
        own_namespace=truths,
        graphics=st.booleans(),
    ),
    max_size=2,
).map(tuple)
slices = st.lists(
    st.builds(Slice, uuid=words, name=words, total=sizes, free=sizes, used=sizes, processes=processes, seen=seens),
    max_size=2,
).map(tuple)
gpus = st.builds(
    Gpu,
    index=st.integers(0, 63),
    uuid=words,
    bus=words,
    name=words,
    maker=st.sampled_from(Maker),
    total=sizes,
    free=sizes,
    used=sizes,
    reserved=sizes,
    limit=sizes,
    capability=st.none() | st.builds(Capability, major=st.integers(0, 99), minor=st.integers(0, 9)),
    processes=processes,
    listed=st.booleans(),
    slices=slices,
    mig=st.booleans(),
    display=truths,
    ecc=truths,
    virtual=words,
    exclusive=truths,
    unified=st.booleans(),
    coherent=st.booleans(),
    seen=seens,
    error=words,
)
probes = st.builds(
    Probe,
    gpus=st.lists(gpus, max_size=2).map(tuple),
    host=st.builds(Host, total=sizes, available=sizes, limit=sizes, shm_free=sizes, wsl=st.booleans(), board=words),
    environment=st.dictionaries(st.text(max_size=9).map(printable), st.text(max_size=9).map(printable), max_size=3),
    driver=words,
    cuda=words,
    notes=st.lists(st.text(max_size=20).map(printable), max_size=2).map(tuple),
    taken=words,
)


@given(probes)
def test_what_is_written_is_read_back_the_same(tmp_path_factory: pytest.TempPathFactory, probe: Probe) -> None:
    file = tmp_path_factory.getbasetemp() / "round.json"
    file.write_text(probe_json(probe))

    assert read_probe(str(file)) == probe


def test_the_contract_has_every_key_and_whole_bytes() -> None:
    written = json.loads(
        probe_json(Probe(gpus=(Gpu(index=0, total=Bytes(7), capability=Capability(major=8, minor=6)),)))
    )

    assert list(written) == ["schema", "gpus", "host", "environment", "driver", "cuda", "notes", "taken"]
    assert written["schema"] == "oomph.probe/1"
    assert written["gpus"][0]["total"] == 7
    assert written["gpus"][0]["capability"] == "8.6"
    assert written["gpus"][0]["free"] is None
    assert len(written["gpus"][0]) == 23
    assert len(written["host"]) == 14


def saved(folder: Path, **changes: object) -> str:
    file = folder / "probe.json"
    file.write_text(json.dumps({"schema": "oomph.probe/1"} | changes))
    return str(file)


def test_a_key_of_a_newer_oomph_is_passed_over_and_a_missing_one_is_not_known(tmp_path: Path) -> None:
    probe = read_probe(saved(tmp_path, judgement={"verdict": "fits"}, gpus=[{"index": 3, "colour": "red"}]))

    assert probe == Probe(gpus=(Gpu(index=3),))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": "oomph.plan/1"}, "its schema is 'oomph.plan/1'"),
        ({"gpus": {}}, "'gpus' is {}, not a list"),
        ({"gpus": [[]]}, "'gpus' is [], not an object"),
        ({"gpus": [{}]}, "'index' is None, not a whole number"),
        ({"gpus": [{"index": True}]}, "'index' is True, not a whole number"),
        ({"gpus": [{"index": 0, "total": -1}]}, "'total' is -1, not a size"),
        ({"gpus": [{"index": 0, "total": 1.5}]}, "'total' is 1.5, not a size"),
        ({"gpus": [{"index": 0, "total": 1 << 70}]}, "not a size in whole bytes"),
        ({"gpus": [{"index": 0, "maker": "acme"}]}, "'acme' is not a valid Maker"),
        ({"gpus": [{"index": 0, "capability": "8"}]}, "'capability' is '8', not two numbers"),
        ({"gpus": [{"index": 0, "seen": {"free": 1}}]}, "'seen' without"),
        ({"gpus": [{"index": 0, "seen": {"free": 1, "total": 2, "seconds": float("inf")}}]}, "'seconds' is inf"),
        ({"gpus": [{"index": 0, "processes": [{"pid": "1"}]}]}, "'pid' is '1', not a whole number"),
        ({"gpus": [{"index": 0}] * 5000}, "a list of at most 4096"),
        ({"host": []}, "'host' is [], not an object"),
        ({"host": {"wsl": "no"}}, "'wsl' is 'no', not true or false"),
        ({"environment": {"A": 1}}, "'A' is 1, not a text"),
        ({"notes": [1]}, "'notes' is 1, not a text"),
    ],
)
def test_a_value_of_a_wrong_kind_is_refused_by_name(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_probe(saved(tmp_path, **changes))

    assert said in str(refused.value)


def test_texts_of_a_stranger_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    probe = read_probe(saved(tmp_path, gpus=[{"index": 0, "name": "a\x1b[2J\nb"}], notes=["\x07x"], driver="1" * 9999))

    assert probe.gpus[0].name == "a [2J b"
    assert probe.notes == ("x",)
    assert len(probe.driver or "") == 4096


def test_a_file_that_is_too_large_or_absent_or_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large.json").write_bytes(b" " * (2 * 1024 * 1024 + 1))
    (tmp_path / "text.json").write_text("GPU 0: fine")
    (tmp_path / "deep.json").write_text("[" * 100_000)

    for name in ("large.json", "text.json", "deep.json", "."):
        with pytest.raises(UnreadableError):
            read_probe(str(tmp_path / name))
    with pytest.raises(UsageError, match="there is no such file"):
        read_probe(str(tmp_path / "absent.json"))
