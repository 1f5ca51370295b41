"""MODEL on a command line → its config, and its checkpoint where one is at hand.

Knows a directory, a config file and a Hub id apart, and which small files stand beside a config. Weights are never
loaded, remote code is never run, pickles are never opened. Does not know what a config means. huggingface_hub is not
imported before a Hub id is really asked for: a path works without it.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from oomph.errors import UnknownModel, UnreadableError, UsageError
from oomph.ledger.checkpoint import Checkpoint, Tensor
from oomph.readers import strict_json
from oomph.readers.directory import Directory, read_small
from oomph.readers.weight_files import INDEX_LIMIT, WeightFiles, read_shards, weight_files

_TENSORS_LIMIT: Final = 1_000_000  # the largest model of 2026 has some 276,000
_WEIGHTS: Final = (".safetensors", ".gguf", ".bin", ".pt", ".pth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a model says of itself."""

    name: str  # as it was asked for
    source: str  # where it was read
    config: dict[str, object]  # config.json; params.json where there is no other
    params: dict[str, object] | None = None  # params.json, of Mistral's own format
    quantization: dict[str, object] | None = None  # hf_quant_config.json, of ModelOpt
    checkpoint: Checkpoint | None = None
    lacking: str | None = None  # why there is no checkpoint


class Source(Protocol):
    """Where a model's files are: a directory, or a repository on the Hub."""

    @property
    def source(self) -> str:
        """What messages call it."""

    @property
    def names(self) -> frozenset[str]:
        """The files at its root."""

    def content(self, name: str, *, limit: int) -> bytes:
        """The bytes of a small file; of one beyond the limit, just enough to see that it is."""

    def headers(self, names: Sequence[str]) -> Iterable[tuple[Tensor, ...]]:
        """The tensors of each safetensors file."""


def read_model(where: str, *, revision: str | None = None, consolidated_first: bool = True) -> Model:
    """Read a directory, a config file, or a repository on the Hub.

    `consolidated_first`: what the release of vLLM takes of a repository that holds its weights in both formats, see
    weight_files. `revision` is of the Hub only: a branch, a tag or a commit.
    """
    path = Path(where).expanduser() if where.startswith("~") else Path(where)
    if where and os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises for a name that no disk can hold
        return _read(Directory.open(path), name=where, consolidated_first=consolidated_first)
    if where and os.path.exists(path):  # noqa: PTH110 - likewise
        return _read_config_file(path, name=where)
    _refuse_missing_path(where)
    from oomph.readers import hub  # noqa: PLC0415 - it loads huggingface_hub, which costs more than all the rest

    return _read(hub.open_repository(where, revision=revision), name=where, consolidated_first=consolidated_first)


def _refuse_missing_path(where: str) -> None:
    """Refuse what can only have been a path."""
    if where.startswith(("/", ".", "~")) or "\\" in where or where.endswith((".json", *_WEIGHTS)):
        message = (
            f"no model {where[:200]!r}: there is no such file or directory here, and it is no Hub id "
            "(write ./directory, ./config.json or organisation/name)"
        )
        raise UnknownModel(message)


def _read_config_file(path: Path, *, name: str) -> Model:
    if path.suffix in _WEIGHTS:
        message = f"{name} is a weight file: give the directory it is in, or the config.json beside it"
        raise UsageError(message)
    if not path.is_file():
        message = f"{name} is neither a file nor a directory (write ./directory, ./config.json or organisation/name)"
        raise UsageError(message)
    config = strict_json.read_object(read_small(path, limit=strict_json.LIMIT), file=name)
    lacking = "a config file alone was given; its directory or Hub id would have the weights"
    params = config if path.name == "params.json" else None
    return Model(name=name, source=str(path), config=config, params=params, lacking=lacking)


def _read(source: Source, *, name: str, consolidated_first: bool) -> Model:
    params = _small(source, "params.json")
    config = _small(source, "config.json")
    config = params if config is None else config
    if config is None:
        message = f"{source.source} has neither config.json nor params.json (is it the right directory or Hub id?)"
        raise UnreadableError(message)

    def shards(index: str) -> frozenset[str]:
        raw = source.content(index, limit=INDEX_LIMIT)
        if len(raw) > INDEX_LIMIT:
            message = f"{index} of {source.source} is more than {INDEX_LIMIT}, and is not read (is it the right file?)"
            raise UnreadableError(message)
        return read_shards(raw, file=f"{index} of {source.source}")

    files = weight_files(source.names, shards, consolidated_first=consolidated_first)
    return Model(
        name=name,
        source=source.source,
        config=config,
        params=params,
        quantization=_small(source, "hf_quant_config.json"),
        checkpoint=_checkpoint(source, files) if files.names else None,
        lacking=files.lacking,
    )


def _small(source: Source, name: str) -> dict[str, object] | None:
    if name not in source.names:
        return None
    raw = source.content(name, limit=strict_json.LIMIT)
    return strict_json.read_object(raw, file=f"{name} of {source.source}")


def _checkpoint(source: Source, files: WeightFiles) -> Checkpoint:
    """Every tensor of the chosen files, once: vLLM loads a repeated tensor again into the same place."""
    tensors: dict[str, Tensor] = {}
    for file, held in zip(files.names, source.headers(files.names), strict=True):
        for tensor in held:
            first = tensors.setdefault(tensor.name, tensor)
            if first is not tensor and first != tensor:
                message = (
                    f"{source.source}: tensor {tensor.name[:80]!r} of {file} has another shape or format in "
                    "another file (keep only the files that belong to the model)"
                )
                raise UnreadableError(message)
        if len(tensors) > _TENSORS_LIMIT:
            message = f"{source.source} has more than {_TENSORS_LIMIT:,} tensors (give its config.json alone)"
            raise UnreadableError(message)
    return Checkpoint(tuple(tensors.values()))
