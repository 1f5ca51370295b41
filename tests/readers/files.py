"""Model files as the tests write them: small, by hand, without the safetensors library."""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

BITS = {"F32": 32, "BF16": 16, "F16": 16, "F8_E4M3": 8, "F4": 4, "I64": 64, "U8": 8}
Shapes = Mapping[str, tuple[str, Sequence[int]]]

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64}
SMALL: Shapes = {
    "embed.weight": ("BF16", [8, 4]),
    "norm.weight": ("F32", [4]),
    "scale": ("F32", []),
}


def entries(shapes: Shapes) -> dict[str, dict[str, object]]:
    """What a header says of each tensor, one after the other in the data."""
    said: dict[str, dict[str, object]] = {}
    at = 0
    for name, (dtype, shape) in shapes.items():
        elements = 1
        for extent in shape:
            elements *= extent
        size = -(-elements * BITS[dtype] // 8)
        said[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    return said


def packed(header: bytes, data: int) -> bytes:
    """A whole file: length, header, and so many bytes of data."""
    return struct.pack("<Q", len(header)) + header + bytes(data)


def safetensors(shapes: Shapes, *, metadata: Mapping[str, str] | None = None) -> bytes:
    """A whole file, as the library would write it."""
    said: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    told = entries(shapes)
    header = json.dumps({**said, **told}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    ends = [entry["data_offsets"] for entry in told.values()]
    return packed(header, max((end[1] for end in ends if isinstance(end, list)), default=0))


def index(weight_map: Mapping[str, str]) -> bytes:
    return json.dumps({"metadata": {"total_size": 1}, "weight_map": dict(weight_map)}, indent=2).encode()


def sharded(count: int = 2) -> dict[str, bytes]:
    """A model in several files with an index, and its config."""
    names = [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    shards = {name: safetensors({f"layers.{at}.weight": ("BF16", [16, 4])}) for at, name in enumerate(names)}
    weight_map = {f"layers.{at}.weight": name for at, name in enumerate(names)}
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors.index.json": index(weight_map),
        **shards,
    }


def lay(directory: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return directory
