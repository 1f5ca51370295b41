"""What a record leaves open, and whether it is of vLLM as published.

Knows which settings follow from others and which must be said. Nothing is filled in by guess: what a record does not
say, and no default of a known release gives, is open.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from oomph.engines.history import Release, Span
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.settings import Flags
from scored.words import Words


class Open(StrEnum):
    """What a record does not determine."""

    RELEASE = "the release is not stated"
    OLD = "the release is older than the first that was read"
    GPU = "the GPU, or its memory, is not stated"
    SHARED = "other processes held memory, how much is not said"
    RANKS = "how many ranks is not said"
    CUT = "the arguments are abbreviated"
    UTILIZATION = "gpu_memory_utilization is not said"
    SEQUENCES = "max_num_seqs is not said"
    STEP = "max_num_batched_tokens is not said"
    LENGTH = "max_model_len is not said"
    FORMAT = "kv_cache_dtype is not said, nor whether the checkpoint decides it"
    SPECULATION = "what guesses ahead is not said, or its config is not at hand"
    PINNED = "the pool was given in bytes, how many is not said"
    CONFIG = "no config of the model is at hand"
    STORED = "which matrices the checkpoint quantizes, and how, is not said"
    ADAPTERS = "room was made for adapters of a size that is not said"


_NEEDED: Final = {
    "gpu_memory_utilization": Open.UTILIZATION,
    "max_num_seqs": Open.SEQUENCES,
    "max_num_batched_tokens": Open.STEP,
    "max_model_len": Open.LENGTH,
}
_WITH_SCALES: Final = ("compressed-tensors", "modelopt", "fp8", "nvfp4")  # formats that may bring scales for the cache


def of_engine(release: Release | None) -> Iterator[Open]:
    """What is not known of the engine."""
    if release is None:
        yield Open.RELEASE
    elif release not in Span(HISTORY.first):
        yield Open.OLD


def of_machine(said: Mapping[str, object], *, known: bool) -> Iterator[Open]:
    """What is not known of the devices."""
    if not known:
        yield Open.GPU
    if "other processes" in str(said.get("notes")):
        yield Open.SHARED
    if said.get("tp") is None and said.get("gpu_count") != 1:
        yield Open.RANKS


def of_settings(said: Mapping[str, object], quoted: Words, flags: Flags) -> Iterator[Open]:
    """Settings that are neither given, nor printed, nor to be derived because all that was given is known."""
    if not quoted.whole:
        missing = [reason for name, reason in _NEEDED.items() if name not in flags]
        if said.get("args") is not None:
            yield from (Open.CUT,) if missing else ()
        elif said.get("kv_cache_dtype") is None:
            missing.append(Open.FORMAT)
        yield from missing
    if said.get("speculative_config") is not None and "mtp" not in str(flags.get("speculative_config")):
        yield Open.SPECULATION
    if "kv_cache_memory_bytes" in str(said.get("notes")) and "kv_cache_memory_bytes" not in flags:
        yield Open.PINNED


def of_model(said: Mapping[str, object], flags: Flags, *, stored: bool | None) -> Iterator[Open]:
    """What is not known of the checkpoint; `stored` None: no config of it is at hand."""
    if stored is None:
        yield Open.CONFIG
    elif not stored:
        yield Open.STORED
        if "kv_cache_dtype" not in flags and str(said.get("quantization")).startswith(_WITH_SCALES):
            yield Open.FORMAT
    if "LoRA" in str(said.get("notes")) and "max_lora_rank" not in flags:
        yield Open.ADAPTERS


# Words of patched builds; the last is a commit that vLLM's own repository does not have.
_ALTERED: Final = re.compile(r"(?i)fork|unsloth|Genesis|ROCm|\bsm89\b|B12X|gd4e0675a7")


def altered(said: Mapping[str, object], flags: Flags) -> bool:
    """Whether something else than published vLLM for CUDA ran, or not on the device alone."""
    columns = ("notes", "gpu", "quantization", "source_url", "vllm_version")
    where = " ".join(str(said.get(column)) for column in columns)
    return bool(_ALTERED.search(where) or "AMD" in where or "exl3" in where or flags.get("cpu_offload_gb"))
