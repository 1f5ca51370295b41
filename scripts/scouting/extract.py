"""What one release says: its defaults, the functions that decide bytes, its options, its sentences and its metrics.

Knows the five questions and asks them of a source tree. Does not fetch trees and does not compare.
"""

import gc
from dataclasses import dataclass
from pathlib import Path

from scouting.defaults import Default, defaults
from scouting.flags import flags
from scouting.functions import Function, functions
from scouting.metrics import Metric, metrics
from scouting.options import Flag
from scouting.sentences import Sentence, sentences
from scouting.source import Package
from scouting.watched import DEFAULTS
from scouting.watched_code import FUNCTIONS, SENTENCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Everything read from one tree."""

    release: str
    defaults: tuple[Default, ...]
    functions: tuple[Function, ...]
    flags: tuple[Flag, ...]
    sentences: tuple[Sentence, ...]
    metrics: tuple[Metric, ...]


def read(release: str, folder: Path) -> Said:
    """What the tree in this folder, which holds `vllm/`, says."""
    gc.disable()  # millions of syntax nodes, none of them garbage: the collector would double the time
    try:
        package = Package(folder / "vllm")
        options = flags(package)
        return Said(
            release=release,
            defaults=defaults(package, DEFAULTS, options),
            functions=functions(package, FUNCTIONS),
            flags=options,
            sentences=sentences(package, SENTENCES),
            metrics=metrics(package),
        )
    finally:
        gc.enable()
