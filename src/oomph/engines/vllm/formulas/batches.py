"""How many sequences and tokens the scheduler takes in one step when the user does not say.

Knows the device classes and limits of `engine/arg_utils.py`. Does not know platforms other than GPUs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from oomph.ledger.device import Device
from oomph.units import GIB


class Usage(StrEnum):
    """Who starts the engine: the server's defaults are made for latency, the offline class's for throughput."""

    SERVER = "server"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The scheduler's limits for one step."""

    sequences: int
    tokens: int


def _by_usage(*, sequences: int, server: int, offline: int) -> dict[Usage, Batch]:
    return {
        Usage.SERVER: Batch(sequences=sequences, tokens=server),
        Usage.OFFLINE: Batch(sequences=sequences, tokens=offline),
    }


_HUGE = _by_usage(sequences=1024, server=16384, offline=16384)
_LARGE = _by_usage(sequences=1024, server=8192, offline=16384)
_SMALL = _by_usage(sequences=256, server=2048, offline=8192)
_SMALL_WITH_MANY = _by_usage(sequences=1024, server=2048, offline=8192)


def _is_large(device: Device) -> bool:
    """By memory; an A100 is left out by name, because more tokens per step did not help it."""
    return device.total >= 70 * GIB and "a100" not in device.name.lower()


def one_for_all(device: Device, usage: Usage) -> Batch:
    """The V0 engine: the same for every device and every use."""
    del device, usage
    return Batch(sequences=256, tokens=2048)


def by_name(device: Device, usage: Usage) -> Batch:
    """Hopper by its name, and 1,024 sequences for everybody."""
    name = device.name.lower()
    return (_LARGE if "h100" in name or "h200" in name else _SMALL_WITH_MANY)[usage]


def by_name_with_fewer(device: Device, usage: Usage) -> Batch:
    """Hopper by its name; 256 sequences for the others."""
    name = device.name.lower()
    return (_LARGE if "h100" in name or "h200" in name else _SMALL)[usage]


def by_memory(device: Device, usage: Usage) -> Batch:
    """Two classes by memory alone."""
    return (_LARGE if device.total >= 70 * GIB else _SMALL)[usage]


def by_memory_and_name(device: Device, usage: Usage) -> Batch:
    """Two classes: 70 GiB and more, except the A100."""
    return (_LARGE if _is_large(device) else _SMALL)[usage]


def by_memory_in_three(device: Device, usage: Usage) -> Batch:
    """Three classes: 160 GiB and more, 70 GiB and more except the A100, and the rest."""
    if device.total >= 160 * GIB:
        return _HUGE[usage]
    return by_memory_and_name(device, usage)


Defaults = Callable[[Device, Usage], Batch]


_LONG = 32768  # tokens of context above which the V0 engine takes prompts in chunks by itself


def _whole_prompts(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunk: int
) -> Batch:
    if tokens is None:
        tokens = chunk if context_tokens > _LONG else max(context_tokens, default.tokens)
    return Batch(sequences=default.sequences if sequences is None else sequences, tokens=tokens)


def whole_prompts_or_512(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunked: bool = False
) -> Batch:
    """The V0 engine: a step takes a whole prompt, or 512 tokens where contexts are long."""
    del chunked
    return _whole_prompts(default, sequences=sequences, tokens=tokens, context_tokens=context_tokens, chunk=512)


def whole_prompts_or_2048(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunked: bool = False
) -> Batch:
    """The V0 engine: a step takes a whole prompt, or 2,048 tokens where contexts are long."""
    del chunked
    return _whole_prompts(default, sequences=sequences, tokens=tokens, context_tokens=context_tokens, chunk=2048)


def taken_apart(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunked: bool = True
) -> Batch:
    """The first V1 engine: neither limits the other."""
    if tokens is None:
        tokens = default.tokens if chunked else context_tokens
    return Batch(sequences=default.sequences if sequences is None else sequences, tokens=tokens)


def limited(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunked: bool = True
) -> Batch:
    """The given limits, with the defaults for what is not given, each kept within what the other can use."""
    wanted = default.sequences if sequences is None else sequences
    if tokens is None:
        tokens = default.tokens if chunked else max(context_tokens, default.tokens)
        tokens = min(wanted * context_tokens, tokens)
    return Batch(sequences=wanted if sequences is not None else min(wanted, tokens), tokens=tokens)


def limited_by_tokens(
    default: Batch, *, sequences: int | None, tokens: int | None, context_tokens: int, chunked: bool = True
) -> Batch:
    """Up to 0.11.0: the tokens were not limited by what the sequences can use."""
    if tokens is None:
        tokens = default.tokens if chunked else context_tokens
    return Batch(sequences=min(default.sequences, tokens) if sequences is None else sequences, tokens=tokens)
