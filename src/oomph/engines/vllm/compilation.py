"""CUDA graphs as the user asks for them: whether any are captured, of which kind, and for which batches.

Knows `--compilation-config` with its older and newer fields, `-O`, the flags beside it, and `--performance-mode`.
Fields that change what is compiled but not which graphs there are move no bytes that are counted here. Does not know
defaults.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release, Since
from oomph.errors import UsageError
from oomph.ledger.settings import Flags, Value

_COMPILED: Final = 3  # the mode, once called level, with which vLLM cuts a model into pieces (config/compilation.py)
_FINE: Final = 32  # batches up to which `--performance-mode interactivity` captures every one (config/vllm.py)
_MODES: Final = {"none": 0, "stock_torch_compile": 1, "dynamo_trace_once": 2, "vllm_compile": 3}
_MOST: Final = 1 << 16  # tokens of a batch for which a graph is captured


class Graphs(StrEnum):
    """What is captured: `cudagraph_mode`."""

    NONE = "none"
    PIECEWISE = "piecewise"  # the model in pieces, between its attention layers
    FULL = "full"
    FULL_DECODE_ONLY = "full_decode_only"
    FULL_AND_PIECEWISE = "full_and_piecewise"

    @property
    def in_pieces(self) -> bool:
        """Whether the model must be compiled in pieces for it."""
        return self in {Graphs.PIECEWISE, Graphs.FULL_AND_PIECEWISE}


# What is captured where nobody says.
usual_graphs: Final = Since(
    {
        "0.6.0": Graphs.PIECEWISE,  # config.py
        "0.11.0": Graphs.FULL_AND_PIECEWISE,  # config/__init__.py
    }
)

# Whether graphs of whole steps remain where those of pieces cannot be had.
full_remains: Final = Since(
    {
        "0.6.0": False,  # config.py
        "0.30.0": True,  # config/vllm.py
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """What is said of graphs; None: nothing, so that the release decides."""

    graphs: Graphs | None = None
    mode: int | None = None  # 0: nothing is compiled
    sizes: tuple[int, ...] | None = None
    largest: int | None = None
    fine: bool = False  # every batch up to 32 has a graph of its own

    def captured(self, release: Release) -> Graphs:
        """What is captured in the end: nothing in pieces where the model is not cut into pieces."""
        graphs = self.graphs or usual_graphs.at(release)
        if self.mode in {None, _COMPILED} or not graphs.in_pieces:
            return graphs
        return (
            Graphs.FULL_DECODE_ONLY if graphs is Graphs.FULL_AND_PIECEWISE and full_remains.at(release) else Graphs.NONE
        )

    def finer(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """A grid that the release chose, as the performance mode has it."""
        if not self.fine or not sizes:
            return sizes
        return tuple(sorted({*sizes, *range(1, min(sizes[-1], _FINE) + 1)}))


_READ: Final = (
    "enforce_eager",
    "compilation_config",
    "optimization_level",
    "cudagraph_capture_sizes",
    "cuda_graph_sizes",
    "max_cudagraph_capture_size",
    "performance_mode",
)


def compilation(flags: Flags) -> Compilation:
    """What the flags ask for."""
    return _read(*map(flags.get, _READ))


@lru_cache(maxsize=256)
def _read(*values: Value) -> Compilation:
    said = Flags({name: value for name, value in zip(_READ, values, strict=True) if value is not None})
    config = _config(said.get("compilation_config"))
    sizes = said.get("cudagraph_capture_sizes", said.get("cuda_graph_sizes"))
    mode = _mode(config)
    level = _level(said.get("optimization_level"))
    return Compilation(
        graphs=Graphs.NONE if said.get("enforce_eager") is True else _graphs(config, level),
        mode=0 if mode is None and level == 0 else mode,
        sizes=sizes if isinstance(sizes, tuple) else _sizes(config.get("cudagraph_capture_sizes")),
        largest=said.positive("max_cudagraph_capture_size") or _size(config.get("max_cudagraph_capture_size")),
        fine=said.get("performance_mode") == "interactivity",
    )


def _graphs(config: Mapping[str, object], level: int | None) -> Graphs | None:
    """By its name; the older switches are names for two of them; the lowest levels of optimization have fewer."""
    named = config.get("cudagraph_mode")
    if isinstance(named, str):
        if named.lower() not in set(Graphs):
            message = f"--compilation-config: cudagraph_mode is {named[:40]!r}, not among {', '.join(Graphs).upper()}"
            raise UsageError(message)
        return Graphs(named.lower())
    if config.get("use_cudagraph") is False:
        return Graphs.NONE
    if config.get("full_cuda_graph") is True:
        return Graphs.FULL
    return {0: Graphs.NONE, 1: Graphs.PIECEWISE}.get(-1 if level is None else level)


def _mode(config: Mapping[str, object]) -> int | None:
    named = config.get("mode", config.get("level"))
    if isinstance(named, str):
        return int(named) if named.isdecimal() else _MODES.get(named.lower())
    return named if isinstance(named, int) and not isinstance(named, bool) else None


def _level(value: Value) -> int | None:
    """Written as 2 or O2."""
    digits = str(value).strip().lower().removeprefix("o")
    return int(digits) if digits.isdecimal() and len(digits) == 1 else None


def _sizes(value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(_size(each) is None for each in value):
        message = f"--compilation-config: cudagraph_capture_sizes is {value!r:.40}, not a list of sizes"
        raise UsageError(message)
    return tuple(value)


def _size(value: object) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST
    return value if good and isinstance(value, int) else None


def _config(text: Value) -> Mapping[str, object]:
    """The object; a number alone, as in `-O3` up to 0.11.2, is the level."""
    if text is None:
        return {}
    if not isinstance(text, str) or text.strip().isdecimal():
        return {"level": int(text)} if isinstance(text, int | str) and str(text).strip().isdecimal() else {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        example = '{"cudagraph_mode": "PIECEWISE", "cudagraph_capture_sizes": [1, 2, 4]}'
        message = f"--compilation-config {text[:60]!r}: a JSON object was expected, such as {example}"
        raise UsageError(message)
    return found
