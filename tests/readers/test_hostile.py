"""What strangers may have written, twenty thousand times over: read, or refused by one of our errors, within bounds."""

import json
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.errors import OomphError
from oomph.ledger.checkpoint import Checkpoint
from oomph.readers.model import read_model
from oomph.readers.safetensors import HEADER_LIMIT, read_header
from oomph.readers.strict_json import LIMIT, read_object
from oomph.readers.weight_files import read_shards
from readers.files import BITS, CONFIG, SMALL, entries, index, lay, safetensors, sharded

CASES = 20_000
MEMORY_LIMIT = 64 << 20

Target = Callable[[bytes], None]


@contextmanager
def little_memory(limit: int = MEMORY_LIMIT) -> Iterator[None]:
    """Whatever is allocated inside stays within the limit."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= limit


def header(raw: bytes) -> None:
    Checkpoint(read_header(raw, size=1 << 50, file="x")).size.__str__()


def config(raw: bytes) -> None:
    json.dumps(read_object(raw, file="x"), ensure_ascii=False).encode()


def shards(raw: bytes) -> None:
    read_shards(raw, file="x")


def refusal(target: Target, raw: bytes) -> str:
    """What was said against it; nothing, if it was read."""
    try:
        target(raw)
    except OomphError as error:
        return str(error)
    return ""


SEEDS: dict[Target, list[bytes]] = {
    header: [
        safetensors(SMALL, metadata={"format": "pt"})[8:],
        json.dumps(entries(SMALL), indent=1).encode(),
        json.dumps(entries({"层\n\U0001f600": ("F4", [3, 5]), "b": ("I64", [0])}), sort_keys=True).encode(),
        safetensors({f"model.layers.{at}.mlp.gate.weight": ("BF16", [64, at]) for at in range(20)})[8:],
    ],
    config: [
        json.dumps(CONFIG | {"rope_scaling": {"factor": 8.0, "type": "yarn"}, "text_config": CONFIG}).encode(),
        b'{"time_step_limit": [0.0, Infinity], "auto_map": {"AutoConfig": "x.y"}, "ids": [1, 2, 3], "n": null}',
    ],
    shards: [
        sharded(4)["model.safetensors.index.json"],
        index({"a\\b": "model.safetensors"}),
    ],
}
TOKENS = [
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b" ", b"\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800"),
    *(
        b"NaN",
        b"-Infinity",
        b"null",
        b"true",
        b"-1",
        b"0",
        b"1e999",
        b"9" * 30,
        b"9" * 5000,
        b"[" * 2000,
        b'{"a":' * 2000,
    ),
    *(b'"__metadata__":', b'"dtype"', b'"F32"', b'"F6_E9M9"', b'"shape":[', b'"data_offsets":[0,', b'"weight_map":{'),
]


def mutated(dice: random.Random, seeds: list[bytes]) -> bytes:
    """A seed with a few things done to it: cut, repeated, swapped, overwritten, crossed with another seed."""
    raw = bytearray(dice.choice(seeds))
    for _ in range(dice.randint(1, 4)):
        first, last = sorted((dice.randint(0, len(raw)), dice.randint(0, len(raw))))
        match dice.randint(0, 6):
            case 0:
                del raw[first : min(last, first + 40)]
            case 1:
                raw[first:first] = raw[first : min(last, first + 400)]
            case 2:
                raw[first:first] = dice.choice(TOKENS)
            case 3:
                raw[first : first + 4] = dice.choice(TOKENS)
            case 4:
                del raw[first:]
            case 5:
                raw[first : first + 1] = bytes([dice.randrange(256)])
            case _:
                raw[first:] = dice.choice(seeds)[first:]
    return bytes(raw)


def test_twenty_thousand_mutants_are_read_or_refused_within_bounds() -> None:
    dice = random.Random(20_260_101)  # noqa: S311 - it makes tests, not secrets
    targets = list(SEEDS)
    tried = refused = printable = longest = 0
    with little_memory():
        while tried < CASES:
            target = targets[tried % len(targets)]
            tried += 1
            said = refusal(target, mutated(dice, SEEDS[target]))
            refused += bool(said)
            printable += said.isprintable()
            longest = max(longest, len(said))

    assert tried == printable == CASES
    assert CASES // 2 < refused < CASES
    assert longest < 600


def test_a_thousand_mutant_directories_are_read_or_refused(tmp_path: Path) -> None:
    dice = random.Random(7)  # noqa: S311 - likewise
    lay(tmp_path, sharded())
    shard, whole = "model-00001-of-00002.safetensors", sharded()
    tried = refused = 0
    for name in (shard, "model.safetensors.index.json", "config.json", "hf_quant_config.json"):
        for _ in range(250):
            tried += 1
            (tmp_path / name).write_bytes(mutated(dice, [whole.get(name, b'{"quantization": {}}')]))
            try:
                read_model(str(tmp_path))
            except OomphError:
                refused += 1
        (tmp_path / name).write_bytes(whole.get(name, b"{}"))

    assert tried == 1000
    assert 0 < refused < tried


def filled(start: bytes, piece: bytes, limit: int) -> bytes:
    return start + piece * ((limit - len(start)) // len(piece))


def distinct(piece: Callable[[int], str], limit: int) -> bytes:
    """As many different pieces as the limit takes."""
    pieces: list[str] = []
    size = 2
    while size < limit:
        pieces.append(piece(len(pieces)))
        size += len(pieces[-1]) + 1
    return ("{" + ",".join(pieces[:-1]) + "}").encode()


def tensor(name: str, extent: str = "", end: int = 1) -> str:
    return f'"{name}":{{"dtype":"U8","shape":[{extent}],"data_offsets":[0,{end}]}}'


# What is refused early is as large as it may be; what is read to its end is a sixteenth of that, and so are its bounds.
PART = 16
LARGE: dict[str, tuple[Target, Callable[[], bytes]]] = {
    "empty lists": (config, lambda: filled(b'{"a":[', b"[],", LIMIT)),
    "empty objects": (config, lambda: filled(b'{"a":[', b"{},", LIMIT)),
    "small objects": (config, lambda: filled(b'{"a":[', b'{"":0},', 800_000) + b"0]}"),
    "many keys": (config, lambda: distinct(lambda at: f'"{at}":{at}.5', 2_000_000)),
    "zeros": (config, lambda: filled(b'{"a":[', b"0,", 400_000) + b"0]}"),
    "one long text": (config, lambda: b'{"a":"' + b" " * (LIMIT - 10) + b'\\n"}'),
    "one wide character": (config, lambda: '{"a":"\U0001f600'.encode() + b" " * 4_000_000 + b'\\n"}'),
    "brackets": (config, lambda: b"[" * LIMIT),
    "digits": (config, lambda: filled(b'{"a":', b"9", LIMIT)),
    "metadata of lists": (header, lambda: filled(b'{"__metadata__":{"a":[', b"[],", HEADER_LIMIT)),
    "metadata of texts": (header, lambda: b'{"__metadata__":' + distinct(lambda at: f'"{at:x}":""', 1_000_000) + b"}"),
    "a name without end": (header, lambda: filled(b'{"', b"a", HEADER_LIMIT)),
    "escapes without end": (header, lambda: filled(b'{"', b"\\n", HEADER_LIMIT)),
    "spaces without end": (header, lambda: filled(b"{", b" ", HEADER_LIMIT)),
    "extents without end": (header, lambda: filled(b'{"a":{"dtype":"U8","shape":[1', b",1", HEADER_LIMIT)),
    "maps without end": (shards, lambda: filled(b"", b'"weight_map":', HEADER_LIMIT)),
}
DENSE: dict[str, tuple[Target, Callable[[int], bytes]]] = {
    "tiny tensors": (header, lambda limit: distinct(lambda at: tensor(f"{at:x}"), limit)),
    "shapes": (header, lambda limit: distinct(lambda at: tensor(f"{at:x}", str(at), at), limit)),
    "wide names": (header, lambda limit: distinct(lambda at: tensor(f"\U0001f600{at:x}"), limit)),
    "the same tensor": (header, lambda limit: filled(b"{", tensor("a").encode() + b",", limit)),
    "an index of one file": (shards, lambda limit: filled(b'{"weight_map":{', b'"a":"b",', limit)),
    "an index of files": (shards, lambda limit: b'{"weight_map":' + distinct(lambda at: f'"":"{at}"', limit) + b"}"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_bomb_takes_little_memory(name: str) -> None:
    target, bomb = LARGE[name]
    raw = bomb()

    with little_memory(MEMORY_LIMIT - len(raw)):
        assert refusal(target, raw).isprintable()


@pytest.mark.parametrize("name", DENSE)
def test_a_dense_file_takes_memory_in_proportion(name: str) -> None:
    target, bomb = DENSE[name]
    raw = bomb(HEADER_LIMIT // PART)

    with little_memory(MEMORY_LIMIT // PART - len(raw)):
        assert refusal(target, raw).isprintable()


@pytest.mark.parametrize("length", [0, 1, 8, HEADER_LIMIT + 1, 100_000_001, 1 << 62, (1 << 64) - 1])
def test_a_length_is_never_believed_before_it_is_checked(tmp_path: Path, length: int) -> None:
    lay(tmp_path, {"config.json": b"{}", "model.safetensors": struct.pack("<Q", length) + b"{}"})

    with little_memory(), pytest.raises(OomphError):
        read_model(str(tmp_path))


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(lambda name: name != "__metadata__")
kinds = st.tuples(st.sampled_from(sorted(BITS)), st.lists(st.integers(0, 1000), max_size=4))


@given(st.dictionaries(names, kinds, max_size=8), st.sampled_from([None, 1]), st.booleans())
def test_what_was_written_is_what_is_read(
    shapes: dict[str, tuple[str, list[int]]],
    indent: int | None,
    plain: bool,  # noqa: FBT001 - hypothesis gives it by place
) -> None:
    raw = json.dumps(entries(shapes), indent=indent, ensure_ascii=plain).encode()

    tensors = read_header(raw, size=1 << 60, file="x")

    assert {tensor.name: (str(tensor.dtype), list(tensor.shape)) for tensor in tensors} == shapes


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    for target in SEEDS:
        assert refusal(target, raw).isprintable()
