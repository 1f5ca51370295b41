"""Flags as given → settings as this release resolves them on this device, each with its origin.

Knows the order in which defaults depend on each other. Does not know the model yet, so what follows from its context
length is left out where it would matter.
"""

from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.formulas.captures import Wish
from oomph.ledger.device import Device
from oomph.ledger.settings import Flags, Origin, Setting, Settings, Value

_UNLIMITED: Final = 1 << 30  # tokens of context: so long that it does not limit a step


def resolve(flags: Flags, *, device: Device, release: Release, context_tokens: int = _UNLIMITED) -> Settings:
    """Every setting that this release decides without a model."""
    resolved = {name: Setting(value=value, origin=Origin.GIVEN) for name, value in flags.items()}
    resolved.setdefault("gpu_memory_utilization", _default(facts.share.at(release), release))
    resolved.update(_batch(flags, device=device, release=release, context_tokens=context_tokens))
    resolved.update(_captures(Settings(resolved), device=device, release=release))
    return Settings(resolved)


def _default(value: Value, release: Release) -> Setting:
    return Setting(value=value, origin=Origin.DEFAULT, because=f"default of {release}")


def _batch(flags: Flags, *, device: Device, release: Release, context_tokens: int) -> dict[str, Setting]:
    default = facts.batch.at(release)(device, Usage.SERVER)
    batch = facts.batch_limits.at(release)(
        default,
        sequences=_whole(flags.get("max_num_seqs")),
        tokens=_whole(flags.get("max_num_batched_tokens")),
        context_tokens=context_tokens,
    )
    because = f"default of {release} for {device.name}"
    found = {"max_num_seqs": batch.sequences, "max_num_batched_tokens": batch.tokens}
    return {
        name: Setting(value=value, origin=Origin.DEFAULT, because=because)
        for name, value in found.items()
        if name not in flags
    }


def _captures(settings: Settings, *, device: Device, release: Release) -> dict[str, Setting]:
    if "enforce_eager" in settings and settings["enforce_eager"].value:
        none = Setting(value=(), origin=Origin.DERIVED, because="no graphs with --enforce-eager")
        return {"cudagraph_capture_sizes": none}
    given = settings["cudagraph_capture_sizes"].value if "cudagraph_capture_sizes" in settings else None
    sizes = facts.capture_sizes.at(release)(
        Wish(
            sequences=settings.whole("max_num_seqs"),
            tokens=settings.whole("max_num_batched_tokens"),
            capability=device.capability,
            largest=settings.whole("max_cudagraph_capture_size") if "max_cudagraph_capture_size" in settings else None,
            sizes=given if isinstance(given, tuple) else None,
        )
    )
    because = "given, within one step" if given else f"grid of {release} for max_num_seqs and max_num_batched_tokens"
    return {"cudagraph_capture_sizes": Setting(value=sizes, origin=Origin.DERIVED, because=because)}


def _whole(value: Value) -> int | None:
    return value if isinstance(value, int) else None
