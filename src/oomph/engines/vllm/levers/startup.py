"""Everything that a forecast is asked with, and the same with something changed.

Knows which questions follow from a change: more ranks need more devices. Does not know which change is a good one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from oomph.engines.history import Release
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.weights.world import gpus
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Basis, Entry
from oomph.ledger.observed import Observed
from oomph.ledger.settings import Flags, Value
from oomph.units import Bounds

Change: TypeAlias = Mapping[str, Value]  # by the long name of a flag without dashes; None leaves it out

RELEASE: Final = "release"  # the one change that is no flag
_WHOLE_ON_EACH: Final = 10  # percent of a rank's part at most: norms, small biases, heads that cannot be divided

# What a measured size follows from; what is outside of PyTorch, and weights but for ranks, is not expected to shrink.
_RANKS: Final = frozenset({"tensor_parallel_size"})
_ANEW: Final = frozenset({RELEASE, "language_model_only", "speculative_config", "quantization"}) | _RANKS
_GRAPHS: Final = _ANEW | {"max_num_seqs", "enforce_eager", "max_cudagraph_capture_size", "cudagraph_capture_sizes"}
_FOLLOWS: Final = {
    "weights": _RANKS,
    "consumed": _RANKS,
    "activations": _ANEW | {"max_num_seqs", "max_num_batched_tokens", "max_model_len", "limit_mm_per_prompt"},
    "graph_estimate": _GRAPHS | {"max_num_batched_tokens"},
    "graphs": _GRAPHS | {"max_num_batched_tokens"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """One start-up, as it is asked about."""

    flags: Flags
    model: Model | None
    devices: tuple[Device, ...]
    release: Release
    usage: Usage = Usage.SERVER
    observed: Observed | None = None  # what earlier start-ups of the user's say of this one

    def forecast(self) -> Forecast:
        """What will happen on the way up."""
        return forecast(
            self.flags,
            model=self.model,
            devices=self.devices,
            release=self.release,
            usage=self.usage,
            observed=self.observed,
        )

    def but(self, change: Change) -> "Startup":
        """The same with this changed, on as many devices as it then needs."""
        flags = Flags({**self.flags, **{name: value for name, value in change.items() if name != RELEASE}})
        missing = max(0, gpus(flags) - len(self.devices))
        return replace(
            self,
            flags=flags,
            model=_resized(self.model, by=ranks(flags) / ranks(self.flags)),
            devices=(*self.devices, *(self.devices[-1],) * missing),
            release=HISTORY.release(str(change[RELEASE])) if RELEASE in change else self.release,
            observed=None if self.observed is None else _still(self.observed, change),
        )


def ranks(flags: Flags) -> int:
    """Over which weights are divided."""
    return flags.count("tensor_parallel_size") * flags.count("pipeline_parallel_size")


def _still(observed: Observed, change: Change) -> Observed:
    """What was seen without the change, as far as it cannot follow from it; a pool is what everything leaves."""
    lost = {name: None for name, follows in _FOLLOWS.items() if not follows.isdisjoint(change)}
    return replace(observed, pool=None, **lost)


def _resized(model: Model | None, *, by: float) -> Model | None:
    """Weights that were measured on fewer ranks, as they may be on more; computed ones follow from the flags."""
    if model is None or model.weights is None or by == 1:
        return model
    part = Bounds(round(model.weights.size.low / by), round(model.weights.size.high / by))
    whole = part.high * _WHOLE_ON_EACH // 100
    divided = Entry(
        account=model.weights.account,
        size=Bounds(part.low, part.high + whole, part.likely + whole // 3),
        basis=Basis.ASSUMED,
        because=f"{model.weights.because}, divided by {by:g}; what every rank keeps whole is assumed",
    )
    return replace(model, weights=divided)
