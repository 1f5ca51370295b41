"""The corpus of start-ups as records: what was started on what, what it printed, and what the record leaves open.

Knows how a line of the corpus becomes the nouns that a forecast takes. Does not know any forecast.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Final

from oomph.engines.history import Release, release
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.model import Model
from oomph.errors import OomphError
from oomph.ledger.device import Device
from oomph.ledger.settings import Flags, Value
from scored import gpus, opened
from scored.configs import SHARED, checkpoint
from scored.dates import branched
from scored.measured import Measured, measured, whole
from scored.opened import Open
from scored.words import Words, words

STARTUPS: Final = SHARED / "corpus" / "startups.jsonl"


class Outcome(StrEnum):
    """How a start-up ended."""

    SERVED = "served"
    REFUSED = "startup_refused"
    OOM = "startup_oom"
    RUNTIME_OOM = "runtime_oom"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One start-up that somebody put on record."""

    id: str
    named: str  # the model, as the record calls it
    source: str  # the thread or repository: records of one are not independent of each other
    date: str | None
    release: Release | None
    usage: Usage
    said: Flags  # by the arguments alone
    whole: bool  # they are quoted whole: what they do not say has its default
    command: Flags  # with what the engine printed of its settings
    model: Model | None
    devices: tuple[Device, ...]  # none where they are not known
    measured: Measured
    outcome: Outcome
    open: tuple[Open, ...]
    stock: bool  # published vLLM on CUDA, not patched, all weights on the device
    remarks: Mapping[str, str] = field(default_factory=dict)  # compile_cache, sampler, cgmode and others, as noted

    @property
    def determined(self) -> bool:
        """Nothing is open that a forecast needs."""
        return not self.open

    @property
    def but_for_weights(self) -> bool:
        """Nothing is open once the measured weights are told; the format of the cache does not move its bytes."""
        return self.measured.weights is not None and set(self.open) <= {Open.STORED, Open.ADAPTERS, Open.FORMAT}

    @property
    def family(self) -> str:
        """As the model's geometry calls it."""
        return "unknown" if self.model is None else self.model.geometry.family


@cache
def records() -> tuple[Record, ...]:
    """Every start-up of the corpus."""
    return tuple(record(json.loads(line)) for line in STARTUPS.read_text().splitlines())


def record(said: Mapping[str, object]) -> Record:
    """One line of the corpus."""
    quoted, notes = words(_text(said, "args")), _text(said, "notes") or ""
    found, device, asked = checkpoint(said), gpus.device(said), _release(said)
    flags = _flags(said, quoted)
    ranks = flags.count("tensor_parallel_size") * flags.count("pipeline_parallel_size")
    return Record(
        id=str(said["id"]),
        named=str(said["model"]),
        source=source(str(said["source_url"])),
        date=_text(said, "date"),
        release=asked,
        usage=quoted.usage or (Usage.OFFLINE if "Unsloth" in notes else Usage.SERVER),
        said=Flags(quoted.flags),
        whole=quoted.whole,
        command=flags,
        model=None if found is None else found.model,
        devices=() if device is None else (device,) * max(ranks, whole(said, "gpu_count") or 1),
        measured=measured(said),
        outcome=Outcome(str(said["outcome"])),
        open=(
            *opened.of_engine(asked),
            *opened.of_machine(said, known=device is not None),
            *opened.of_settings(said, quoted, flags),
            *opened.of_model(said, flags, stored=None if found is None else found.stored),
        ),
        stock=not opened.altered(said, flags),
        remarks=dict(re.findall(r"\b(compile_cache|sampler|cgmode|cgsizes|cgmax|dtype|apc)=([\w.-]+)", notes)),
    )


def source(address: str) -> str:
    """Who reported: a repository, or the single thread where a project only hosts the reports of others."""
    if (index := re.search(r"stored-index id (\d+)", address)) is not None:
        series = {"61103921487", "61174240581"}  # one bisection of GLM-5.1
        return "file " + (min(series) if index[1] in series else index[1])
    thread = re.match(r"https://github\.com/([\w.-]+/[\w.-]+)(/(?:issues|pull)/\d+)?", address)
    if thread is None:
        return address.split("/")[2]
    return thread[1] + (thread[2] or "" if thread[1].startswith("vllm-project/") else "")


def _release(said: Mapping[str, object]) -> Release | None:
    """The release as stated; of a build that only counts commits, the one that was branched off before it."""
    text = _text(said, "vllm_version")
    if text is None:
        return None
    counted = re.match(r"0\.1\.dev(\d+)", text)
    try:
        return release(text) if counted is None else branched(int(counted[1]))
    except OomphError:
        return None


_COLUMNS: Final = ("gpu_memory_utilization", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "enforce_eager")


def _flags(said: Mapping[str, object], quoted: Words) -> Flags:
    """As the arguments say, and beside them what was printed of the settings; a printed block may be derived."""
    flags: dict[str, Value] = {}
    for name in _COLUMNS:
        value = said.get(name)
        if isinstance(value, bool | int | float):
            flags[name] = value
    for name, column in (("tensor_parallel_size", "tp"), ("pipeline_parallel_size", "pp")):
        if (ranks := whole(said, column) or 1) > 1:
            flags[name] = ranks
    if (kept := _text(said, "kv_cache_dtype")) not in {None, "auto"}:
        flags["kv_cache_dtype"] = kept
    if (guesses := _speculation(said)) is not None:
        flags["speculative_config"] = guesses
    return Flags({**flags, **quoted.flags})


_MTP: Final = (r"MTP(?: n=)?(\d)", r"method='mtp'.*num_spec_tokens=(\d+)")


def _speculation(said: Mapping[str, object]) -> str | None:
    """Where the record says how many tokens the model's own layers guess; nothing where it says less."""
    for text in (_text(said, "speculative_config"), _text(said, "notes")):
        found = next((found for each in _MTP if text and (found := re.search(each, text))), None)
        if found is not None:
            return json.dumps({"method": "mtp", "num_speculative_tokens": int(found[1])})
    return None


def _text(said: Mapping[str, object], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value else None
