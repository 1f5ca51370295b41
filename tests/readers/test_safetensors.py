import json
import struct
from pathlib import Path

import pytest

from oomph.errors import UnreadableError
from oomph.ledger.checkpoint import Tensor
from oomph.ledger.dtype import Dtype
from oomph.readers.safetensors import HEADER_LIMIT, header_length, read_file, read_header
from readers.files import SMALL, entries, packed, safetensors

MEBIBYTE = 1 << 20


def read(header: str | bytes, data: int = 1 << 40) -> tuple[Tensor, ...]:
    raw = header.encode() if isinstance(header, str) else header
    return read_header(raw, size=8 + len(raw) + data, file="x.safetensors")


def one(**said: object) -> str:
    entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} | said
    return json.dumps({"t": entry}, separators=(",", ":"))


def test_a_file_on_disk_gives_its_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(SMALL, metadata={"format": "pt", "note": 'braces } and "quotes" {'}))

    assert read_file(path) == (
        Tensor(name="embed.weight", dtype=Dtype.BF16, shape=(8, 4)),
        Tensor(name="norm.weight", dtype=Dtype.F32, shape=(4,)),
        Tensor(name="scale", dtype=Dtype.F32, shape=()),
    )


@pytest.mark.parametrize("dtype", list(Dtype))
def test_every_format_of_the_ledger_is_read(dtype: Dtype) -> None:
    said = one(dtype=dtype, data_offsets=[0, dtype.size(6)])

    assert read(said) == (Tensor(name="t", dtype=dtype, shape=(2, 3)),)


@pytest.mark.parametrize("dtype", ["F6_E9M9", "f32", "", 7, None])
def test_an_unknown_format_is_refused_by_its_name(dtype: object) -> None:
    with pytest.raises(UnreadableError, match=f"tensor 't' has the format '{dtype}'.*it knows F64"):
        read(one(dtype=dtype))


def test_whitespace_escapes_and_another_order_of_keys_are_read_alike() -> None:
    plain = json.dumps(entries(SMALL), separators=(",", ":"))
    spaced = json.dumps(entries(SMALL), indent=1)
    escaped = plain.replace("norm", "\\u006eorm")
    sorted_keys = json.dumps(entries(SMALL), sort_keys=True)

    assert read(spaced) == read(escaped) == read(plain)
    assert set(read(sorted_keys)) == set(read(plain))


def test_a_name_may_be_in_any_script() -> None:
    assert read('{"层.é":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}  ')[0].name == "层.é"
    assert read('{ "层.é\\n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}')[0].name == "层.é\n"


def test_a_header_may_hold_no_tensor() -> None:
    assert read("{}") == read("{ } ") == read('{"__metadata__":{}}') == ()


def test_tensors_may_overlap_and_have_no_elements() -> None:
    both = '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}'

    assert len(read(both, data=6)) == 2
    assert read(one(shape=[0, 5], data_offsets=[3, 3]))[0].elements == 0


@pytest.mark.parametrize(
    ("header", "met"),
    [
        ("", "begins with ''"),
        ("[1]", "begins with '\\[1\\]'"),
        ('{"t":1}', "instead of a tensor"),
        ('{"t":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},}', "instead of a tensor"),
        ('{"t":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}', "instead of a tensor"),
        (one() + "{", "after its header stands '{'"),
        ('{"t":{"dtype":"F32"}}', "instead of a tensor"),
        ('{"t":{"dtype":"F32","dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}', "instead of a tensor"),
        ('{"\\ud800":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}', "instead of a tensor"),
        (one(shape=[-2, -3]), "has the shape \\[-2, -3\\]"),
        (one(shape=[2, True]), "has the shape"),
        (one(shape=[2, 3.0]), "has the shape"),
        (one(shape=6), "has the shape 6"),
        (one(shape="23"), "has the shape 23"),
        ('{"t":{"dtype":"F32","shape":[2,,3],"data_offsets":[0,24]}}', "has the shape"),
        (one(shape=[float("nan")]), "instead of a tensor"),
        (one(shape=[10**30, 10**30]), "stands at 0 to 24, and its format and shape take"),
        (one(data_offsets=[0, 23]), "stands at 0 to 23, and its format and shape take 24 B"),
        (one(data_offsets=[24, 0]), "stands at 24 to 0"),
        (one(data_offsets=[-24, 0]), "stands at -24 to 0"),
        (one(data_offsets=[0, 24.0]), "stands at 0 to 24.0"),
        (one(data_offsets=[0]), "instead of a tensor"),
        (one(data_offsets=None), "instead of a tensor"),
        ('{"t":{"dtype":"F32","shape":' + "[" * 3000 + ',"data_offsets":[0,24]}}', "instead of a tensor"),
        ('{"__metadata__":' + "[" * 99999, "instead of a tensor"),
        ('{"__metadata__":{"a":' + "[" * 99999, "__metadata__ is no map of texts"),
        ('{"__metadata__":{},"__metadata__":{}}', "'__metadata__' stands twice"),
        ('{"__metadata__":{"a":1}}', "__metadata__ is no map of texts"),
        ('{"__metadata__":{"a":"' + "x" * (2 * MEBIBYTE) + '"}}', "__metadata__ is no map of texts within 1.00 MiB"),
        ('{"__metadata__":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}', "__metadata__ is no map of texts"),
        (b'{"\xff":{}}', "byte 2 of its header is not UTF-8"),
    ],
)
def test_a_broken_header_is_refused_with_what_was_met(header: str | bytes, met: str) -> None:
    with pytest.raises(UnreadableError, match=met):
        read(header)


def test_a_tensor_may_stand_only_once() -> None:
    twice = one()[:-1] + "," + one()[1:]

    with pytest.raises(UnreadableError, match="'t' stands twice"):
        read(twice)


def test_a_tensor_beyond_the_end_means_an_unfinished_download(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(SMALL)[:-1])

    with pytest.raises(UnreadableError, match=r"'scale' stands at 80 to 84, and the file ends at 83.*not complete"):
        read_file(path)


@pytest.mark.parametrize(
    ("content", "met"),
    [
        (b"", "ends after 0 bytes"),
        (b"1234567", "ends after 7 bytes"),
        (packed(b"{}", 0)[:-1], "header shall be 2 bytes, and the whole file is 9"),
        (struct.pack("<Q", 2**64 - 1) + b"{}", "header shall be 18446744073709551615 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        (b"\x80\x02}q\x00(X\x03\x00\x00\x00", "header shall be"),
    ],
)
def test_a_file_that_is_no_safetensors_file_is_refused(tmp_path: Path, content: bytes, met: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)

    with pytest.raises(UnreadableError, match=met):
        read_file(path)


def test_a_header_beyond_the_limit_is_not_read() -> None:
    with pytest.raises(UnreadableError, match=r"more than 8\.00 MiB"):
        header_length(struct.pack("<Q", HEADER_LIMIT + 1), size=1 << 40, file="x")


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        read_file(tmp_path / "model.safetensors")
