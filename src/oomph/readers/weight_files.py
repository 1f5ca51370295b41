"""Which files of a model hold its weights: the choice vLLM makes for `--load-format auto`.

Knows names and index files. Does not open a weight file. Mirrored from vLLM 0.32.0,
model_executor/model_loader/default_loader.py (`_prepare_weights`) and weight_utils.py
(`filter_duplicate_safetensors_files`):

- only files beside the config count, never those in a folder (`original/`, `onnx/`);
- where there is a `consolidated*.safetensors`, those files alone are taken, by their own index. So it is since 0.12.0;
  before, they were files like any other: the caller says which (`consolidated_first`);
- else every `*.safetensors`, less what `model.safetensors.index.json` does not name, where there is such an index;
- else `*.bin`, else `*.pt`: pickles, which are never opened here.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from oomph.errors import UnreadableError
from oomph.units import MIB, Bytes

INDEX_LIMIT: Final = Bytes(40 * MIB)  # an index of 276,000 tensors takes 30 MiB
_FILES_LIMIT: Final = 10_000  # the largest models have some 200
_INDEX: Final = "model.safetensors.index.json"
_CONSOLIDATED_INDEX: Final = "consolidated.safetensors.index.json"
_MAP: Final = re.compile(rb'"weight_map"\s*:\s*\{\s*')
_LINE: Final = re.compile(rb'"(?:[^"\\]|\\.){0,1024}"\s*:\s*"([^"\\]{1,255})"\s*([,}])\s*')
_FOREIGN: Final = {
    ".bin": "its weights are pickled (.bin), and pickles are never opened",
    ".pt": "its weights are pickled (.pt), and pickles are never opened",
    ".pth": "its weights are pickled (.pth), and pickles are never opened",
    ".gguf": "its weights are GGUF files, whose headers oomph does not read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFiles:
    """The files to read, or why there are none."""

    names: tuple[str, ...]
    lacking: str | None = None


def weight_files(
    names: Collection[str], shards: Callable[[str], frozenset[str]], *, consolidated_first: bool
) -> WeightFiles:
    """Choose among the files beside a config; `shards` reads an index by its name."""
    found = sorted(name for name in names if name.endswith(".safetensors"))
    index = _INDEX
    consolidated = [name for name in found if name.startswith("consolidated")]
    if consolidated_first and consolidated:
        found, index = consolidated, _CONSOLIDATED_INDEX
    named = shards(index) if index in names else None
    if named is None:
        return WeightFiles(names=tuple(found), lacking=None if found else _why_none(names))
    if missing := sorted(named.difference(found)):
        lacking = f"{len(missing)} of the {len(named)} files that {index} names are not there: {missing[0][:80]!r}"
        return WeightFiles(names=(), lacking=f"{lacking}, …" if len(missing) > 1 else lacking)
    return WeightFiles(names=tuple(name for name in found if name in named))


def read_shards(raw: bytes, *, file: str) -> frozenset[str]:
    """The files that an index names. It is scanned, not parsed: the names of 276,000 tensors are not kept."""
    opening = _MAP.search(raw)
    if not opening:
        message = f"{file} has no weight_map (download it again)"
        raise UnreadableError(message)
    named: set[bytes] = set()
    at = opening.end()
    mark = b"}" if raw[at : at + 1] == b"}" else b","
    while mark == b",":
        line = _LINE.match(raw, at)
        if not line:
            met = f"at byte {at} stands {raw[at : at + 40]!r} instead of a tensor and its file"
            message = f"{file}: {met} (download it again)"
            raise UnreadableError(message)
        named.add(line[1])
        if len(named) > _FILES_LIMIT:
            message = f"{file} names more than {_FILES_LIMIT:,} files, and is not read (is it the right file?)"
            raise UnreadableError(message)
        at, mark = line.end(), line[2]
    try:
        return frozenset(name.decode() for name in named)
    except UnicodeDecodeError:
        message = f"{file} names a file in what is not UTF-8 (download it again)"
        raise UnreadableError(message) from None


def _why_none(names: Collection[str]) -> str:
    for suffix, why in _FOREIGN.items():
        if any(name.endswith(suffix) for name in names):
            return why
    return "no weight files are beside its config"
