"""Flags as given → settings as this release resolves them on this device, each with its origin.

Knows the order in which defaults depend on each other. Without a model, what follows from its context length is taken
as if that were no limit.
"""

from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.formulas.captures import Wish
from oomph.engines.vllm.speculation import speculation
from oomph.ledger.device import Device
from oomph.ledger.geometry import Geometry
from oomph.ledger.settings import Flags, Origin, Setting, Settings, Value

_UNLIMITED: Final = 1 << 30  # tokens of context: so long that it does not limit a step


def resolve(flags: Flags, *, device: Device, release: Release, context_tokens: int | None = None) -> Settings:
    """Every setting that this release decides from flags, device and the model's context length."""
    resolved = {name: Setting(value=value, origin=Origin.GIVEN) for name, value in flags.items()}
    resolved.setdefault("gpu_memory_utilization", _default(facts.share.at(release), release))
    length = _length(flags, context_tokens)
    if length is not None:
        resolved["max_model_len"] = length
    longest = length.value if length is not None and isinstance(length.value, int) else _UNLIMITED
    resolved.update(_batch(flags, device=device, release=release, context_tokens=longest))
    resolved.update(_captures(Settings(resolved), flags, device=device, release=release))
    return Settings(resolved)


def longest(geometry: Geometry, release: Release) -> int:
    """Tokens of the longest request where the user does not say."""
    usual = geometry.usual_tokens if facts.unstretched.at(release) else None
    return geometry.context_tokens if usual is None else usual


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


def _batch(flags: Flags, *, device: Device, release: Release, context_tokens: int) -> dict[str, Setting]:
    default = facts.batch.at(release)(device, Usage.SERVER)
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


def _captures(settings: Settings, flags: Flags, *, device: Device, release: Release) -> dict[str, Setting]:
    if "enforce_eager" in settings and settings["enforce_eager"].value:
        none = Setting(value=(), origin=Origin.DERIVED, because="no graphs with --enforce-eager")
        return {"cudagraph_capture_sizes": none}
    given = settings["cudagraph_capture_sizes"].value if "cudagraph_capture_sizes" in settings else None
    guessed = speculation(flags).tokens
    sizes = facts.capture_sizes.at(release)(
        Wish(
            sequences=settings.whole("max_num_seqs"),
            tokens=settings.whole("max_num_batched_tokens"),
            speculative_tokens=guessed,
            capability=device.capability,
            largest=settings.whole("max_cudagraph_capture_size") if "max_cudagraph_capture_size" in settings else None,
            sizes=given if isinstance(given, tuple) else None,
        )
    )
    from_what = "max_num_seqs, max_num_batched_tokens" + (f" and {guessed} guessed tokens" if guessed else "")
    because = "given, within one step" if given else f"grid of {release} for {from_what}"
    return {"cudagraph_capture_sizes": Setting(value=sizes, origin=Origin.DERIVED, because=because)}
