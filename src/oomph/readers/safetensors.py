"""The header of a safetensors file → its tensors, without their data.

Knows the format: eight bytes of length, that many bytes of JSON, then data that nobody reads here. The JSON is scanned
entry by entry and never parsed as a whole, so that a header takes memory for its tensors and for nothing else. Does
not know which files make a model, nor where they are when they are not on this disk.

As strict as the safetensors library, with two exceptions: tensors may overlap and data may be left over.
"""

import json
import math
import os
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Final, NoReturn

from oomph.errors import UnreadableError
from oomph.ledger.checkpoint import Tensor
from oomph.ledger.dtype import Dtype
from oomph.units import MIB, Bytes

PREFIX: Final = 8  # bytes: the length of the header, little-endian
HEADER_LIMIT: Final = Bytes(8 * MIB)  # safetensors allows 100 MB; 40,000 tensors take 5 MiB, and ours must stay small
_METADATA: Final = "__metadata__"
_METADATA_LIMIT: Final = MIB
_KINDS_LIMIT: Final = 4096  # of formats and shapes that are remembered; real models have some dozens
_POINTER: Final = b"version "  # of Git LFS: "version https://git-lfs.github.com/spec/v1"
_SHOWN: Final = 80  # characters of a name in a message
_AGAIN: Final = "the file is damaged, or no safetensors file: download it again"

# What the safetensors library writes, to the letter.
_ENTRY: Final = re.compile(
    r'"(?!__metadata__")([^"\\\x00-\x1f]{0,1024}+)":\{"dtype":"([A-Z0-9_]{1,16}+","shape":\[[0-9,]{0,400}+\]),'
    r'"data_offsets":\[(0|[1-9][0-9]{0,18}+),(0|[1-9][0-9]{0,18}+)\]\}([,}])'
)
# What others write: with spaces, escapes, or the keys in another order. Each part is bounded.
_LOOSE_ENTRY: Final = re.compile(
    r'[ \t\r\n]*("(?:[^"\\\x00-\x1f]|\\.){0,1024}")[ \t\r\n]*:[ \t\r\n]*(\{[^{}]{0,4096}\})[ \t\r\n]*([,}])'
)
_METADATA_ENTRY: Final = re.compile(r'[ \t\r\n]*"__metadata__"[ \t\r\n]*:[ \t\r\n]*(?=\{)')
_SEPARATOR: Final = re.compile(r"[ \t\r\n]*([,}])")
_OPENING: Final = re.compile(r"\{(?:[ \t\r\n]*(\}))?")  # and at once the end, of a file without tensors
_set_name, _set_dtype, _set_shape = (Tensor.__dict__[field].__set__ for field in ("name", "dtype", "shape"))


def read_file(path: Path) -> tuple[Tensor, ...]:
    """Read the header of a file on this disk."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = header_length(file.read(PREFIX), size=size, file=str(path))
            header = file.read(length)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror} (check its permissions)"
        raise UnreadableError(message) from None
    return read_header(header, size=size, file=str(path))


def header_length(prefix: bytes, *, size: int, file: str) -> int:
    """How long the header is, by the first bytes of a file of this size."""
    if prefix == _POINTER:
        message = f"{file} is a pointer of Git LFS, not the file itself (run: git lfs pull)"
        raise UnreadableError(message)
    if len(prefix) < PREFIX:
        _refuse(file, f"it ends after {len(prefix)} bytes, before its header")
    length: int = struct.unpack("<Q", prefix[:PREFIX])[0]
    if PREFIX + length > size:
        _refuse(file, f"its header shall be {length} bytes, and the whole file is {size}")
    if length > HEADER_LIMIT:
        message = f"{file}: a header of {Bytes(length)} is more than {HEADER_LIMIT}, and is not read (split the file)"
        raise UnreadableError(message)
    return length


def read_header(header: bytes, *, size: int, file: str) -> tuple[Tensor, ...]:
    """Scan a header for its tensors; `size` is that of the whole file, `file` what messages call it."""
    if not header.isascii():
        try:
            header.decode()
        except UnicodeDecodeError as error:
            _refuse(file, f"byte {error.start} of its header is not UTF-8")
    # As Latin-1 a character is a byte, whatever it means; a name that is not ASCII is decoded when it is met.
    tensors = _scan(header.decode("latin-1"), size - PREFIX - len(header), file)
    names = {tensor.name for tensor in tensors}
    if len(names) < len(tensors):
        _refuse(file, f"{_twice(tensors)[:_SHOWN]!r} stands twice in its header")
    return tuple(tensors if _METADATA not in names else (tensor for tensor in tensors if tensor.name != _METADATA))


def _twice(tensors: list[Tensor]) -> str:
    names = sorted(tensor.name for tensor in tensors)
    return next(name for name, following in pairwise(names) if name == following)


def _scan(text: str, room: int, file: str) -> list[Tensor]:
    tensors: list[Tensor] = []
    kinds: dict[str, tuple[Dtype, tuple[int, ...], int]] = {}  # a model repeats a few formats and shapes
    opening = _OPENING.match(text)
    if not opening:
        _refuse(file, f"its header begins with {text[:20]!r} instead of a brace")
    at, mark = opening.end(), opening[1] or ","
    while mark == ",":
        entry = _ENTRY.match(text, at)
        if not entry:
            at, mark, tensor = _odd(text, at, room, file)
            tensors.append(tensor)
            continue
        name, kind, begin, end, mark = entry.groups()
        if (known := kinds.get(kind)) is None:
            if len(kinds) >= _KINDS_LIMIT:
                kinds.clear()
            known = kinds[kind] = _kind(kind, name, file)
        dtype, shape, size = known
        first, last = int(begin), int(end)
        if last - first != size or last > room:
            _refuse_place(file, name, first, last, size, room)
        tensors.append(_tensor(name, dtype, shape))
        at = entry.end()
    if text[at:].strip(" \t\r\n"):
        _refuse(file, f"after its header stands {text[at : at + 20]!r}")
    return tensors


def _tensor(name: str, dtype: Dtype, shape: tuple[int, ...]) -> Tensor:
    """Make a Tensor whose extents were checked with its kind: Tensor() checks each again, at four times the price."""
    tensor: Tensor = object.__new__(Tensor)
    _set_name(tensor, name if name.isascii() else name.encode("latin-1").decode())
    _set_dtype(tensor, dtype)
    _set_shape(tensor, shape)
    return tensor


def _kind(kind: str, name: str, file: str) -> tuple[Dtype, tuple[int, ...], int]:
    """Read `F32","shape":[4096,4096]`: the format, the shape, and the bytes that follow from both."""
    dtype, _, extents = kind.partition('","shape":')
    try:
        shape = json.loads(extents)
    except ValueError:
        _refuse(file, f"tensor {name[:_SHOWN]!r} has the shape {extents[:_SHOWN]}")
    return _measured(dtype, shape, name, file)


def _measured(dtype: object, shape: object, name: str, file: str) -> tuple[Dtype, tuple[int, ...], int]:
    if not isinstance(dtype, str) or dtype not in Dtype.__members__:
        message = (
            f"{file}: tensor {name[:_SHOWN]!r} has the format {str(dtype)[:_SHOWN]!r}, which oomph does not know "
            f"(it knows {', '.join(Dtype)}; give the config.json alone to plan without the weights)"
        )
        raise UnreadableError(message)
    if not isinstance(shape, list) or any(type(extent) is not int or extent < 0 for extent in shape):
        _refuse(file, f"tensor {name[:_SHOWN]!r} has the shape {str(shape)[:_SHOWN]}")
    known = Dtype(dtype)
    return known, tuple(shape), known.size(math.prod(shape))


def _odd(text: str, at: int, room: int, file: str) -> tuple[int, str, Tensor]:
    """Read one entry that the library would have written otherwise: where it ends, with which mark, and its tensor."""
    if metadata := _METADATA_ENTRY.match(text, at):
        return _skip_metadata(text, metadata.end(), file)
    entry = _LOOSE_ENTRY.match(text, at)
    if not entry:
        _refuse(file, f"at byte {at} of its header stands {text[at : at + 40]!r} instead of a tensor")
    try:
        name = json.loads(entry[1].encode("latin-1"))
        name.encode()  # half a surrogate pair is no character
        said = json.loads(entry[2], object_pairs_hook=_once, parse_constant=_no_number)
        first, last = said["data_offsets"]
        dtype, shape, size = _measured(said["dtype"], said["shape"], name, file)
    except (KeyError, TypeError, ValueError, RecursionError):
        _refuse(file, f"at byte {at} of its header stands {text[at : at + 40]!r} instead of a tensor")
    if type(first) is not int or type(last) is not int or first < 0 or last - first != size or last > room:
        _refuse_place(file, name, first, last, size, room)
    return entry.end(), entry[3], Tensor(name=name, dtype=dtype, shape=shape)


def _skip_metadata(text: str, at: int, file: str) -> tuple[int, str, Tensor]:
    """Step over the free texts that a file may carry; a tensor without elements stands for them until the end."""
    piece = text[at : at + _METADATA_LIMIT]
    try:
        said, length = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).raw_decode(piece)
    except (ValueError, RecursionError):
        said, length = None, 0
    separator = _SEPARATOR.match(text, at + length)
    if not separator or not isinstance(said, dict) or not all(isinstance(value, str) for value in said.values()):
        _refuse(file, f"its __metadata__ is no map of texts within {Bytes(_METADATA_LIMIT)}")
    return separator.end(), separator[1], Tensor(name=_METADATA, dtype=Dtype.U8, shape=(0,))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    said = dict(pairs)
    if len(said) < len(pairs):
        message = "a key stands twice"
        raise ValueError(message)
    return said


def _no_number(constant: str) -> NoReturn:
    message = f"{constant} is no number"
    raise ValueError(message)


def _refuse_place(file: str, name: str, first: object, last: object, size: int, room: int) -> NoReturn:
    place = f"tensor {name[:_SHOWN]!r} stands at {str(first)[:20]} to {str(last)[:20]}"
    if isinstance(first, int) and isinstance(last, int) and last - first == size and first >= 0:
        message = f"{file}: {place}, and the file ends at {room} (the download is not complete: finish it)"
        raise UnreadableError(message)
    _refuse(file, f"{place}, and its format and shape take {str(Bytes(size))[:_SHOWN]}")


def _refuse(file: str, met: str) -> NoReturn:
    message = f"{file}: {met} ({_AGAIN})"
    raise UnreadableError(message)
