"""Flags as given → settings as this release resolves them on this device, each with its origin.

Knows the order in which defaults depend on each other. Without a model, what follows from its context length is taken
as if that were no limit.
"""

from dataclasses import replace
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.compilation import Graphs, compilation
from oomph.engines.vllm.context import usual_tokens
from oomph.engines.vllm.formulas.batches import Batch, Usage
from oomph.engines.vllm.formulas.captures import Wish
from oomph.engines.vllm.speculation import speculation
from oomph.engines.vllm.unified import GB10
from oomph.ledger.device import Device
from oomph.ledger.geometry import Geometry
from oomph.ledger.settings import Flags, Origin, Setting, Settings, Value
from oomph.units import Bytes

_UNLIMITED: Final = 1 << 30  # tokens of context: so long that it does not limit a step


def resolve(
    flags: Flags,
    *,
    device: Device,
    release: Release,
    context_tokens: int | None = None,
    usage: Usage = Usage.SERVER,
) -> Settings:
    """Every setting that this release decides from flags, device and the model's context length."""
    resolved = {name: Setting(value=value, origin=_origin(name)) for name, value in flags.items()}
    resolved.setdefault("gpu_memory_utilization", _default(facts.share.at(release), release))
    length = _length(flags, context_tokens)
    if length is not None:
        resolved["max_model_len"] = length
    longest = length.value if length is not None and isinstance(length.value, int) else _UNLIMITED
    resolved.update(_batch(flags, device=device, release=release, context_tokens=longest, usage=usage))
    resolved.update(_captures(Settings(resolved), flags, device=device, release=release))
    return Settings(resolved)


def longest(geometry: Geometry, release: Release) -> int:
    """Tokens of the longest request where the user does not say."""
    return usual_tokens(geometry, release)


def _origin(name: str) -> Origin:
    """Variables are written in capitals, flags are not."""
    return Origin.ENVIRONMENT if name.isupper() else Origin.GIVEN


def _default(value: Value, release: Release) -> Setting:
    return Setting(value=value, origin=Origin.DEFAULT, because=f"default of {release}")


def _length(flags: Flags, context_tokens: int | None) -> Setting | None:
    """The longest request: as given, else as long as the model allows; -1 asks for the longest that fits."""
    given = flags.whole("max_model_len")
    if given is not None and given > 0:
        return Setting(value=given, origin=Origin.GIVEN)
    if context_tokens is None:
        return None
    return Setting(value=context_tokens, origin=Origin.DERIVED, because="the model's context length")


def _batch(flags: Flags, *, device: Device, release: Release, context_tokens: int, usage: Usage) -> dict[str, Setting]:
    default = facts.batch.at(release)(_as_asked(device), usage)
    if flags.get("performance_mode") == "throughput":  # both by default, each where it is not given
        default = Batch(sequences=2 * default.sequences, tokens=2 * default.tokens)
    batch = facts.batch_limits.at(release)(
        default,
        sequences=flags.whole("max_num_seqs"),
        tokens=flags.whole("max_num_batched_tokens"),
        context_tokens=context_tokens,
    )
    because = f"default of {release} for {device.name}"
    found = {"max_num_seqs": batch.sequences, "max_num_batched_tokens": batch.tokens}
    return {
        name: Setting(value=value, origin=Origin.DEFAULT, because=because)
        for name, value in found.items()
        if name not in flags
    }


def _as_asked(device: Device) -> Device:
    """The device as NVML tells of it; of one that shares the host's memory it tells no total, and 0 is taken for it."""
    blind = device.capability == GB10  # whose start-ups print the small defaults
    told = Bytes(1) if blind else device.card
    return replace(device, total=told, free=None) if told else device


def _captures(settings: Settings, flags: Flags, *, device: Device, release: Release) -> dict[str, Setting]:
    asked = compilation(flags)
    if asked.captured(release) is Graphs.NONE:
        why = "--enforce-eager" if flags.get("enforce_eager") is True else "this compilation config"
        none = Setting(value=(), origin=Origin.DERIVED, because=f"no graphs with {why}")
        return {"cudagraph_capture_sizes": none}
    guessed = speculation(flags).tokens
    sizes = facts.capture_sizes.at(release)(
        Wish(
            sequences=settings.whole("max_num_seqs"),
            tokens=settings.whole("max_num_batched_tokens"),
            speculative_tokens=guessed,
            capability=device.capability,
            largest=asked.largest,
            sizes=asked.sizes,
        )
    )
    sizes = sizes if asked.sizes else asked.finer(sizes)
    from_what = "max_num_seqs, max_num_batched_tokens" + (f" and {guessed} guessed tokens" if guessed else "")
    because = "given, within one step" if asked.sizes else f"grid of {release} for {from_what}"
    return {"cudagraph_capture_sizes": Setting(value=sizes, origin=Origin.DERIVED, because=because)}
