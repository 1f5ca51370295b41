"""The engine measured another device than the one that holds its weights.

## What happened

Loading is said to have taken nothing at all. The weights are on one device, and memory was measured on the first one.
So the pool is sized as if the device were empty, and does not fit beside the weights.

```log fires
INFO 01-30 05:50:12 model_runner.py:1115] Loading model weights took 0.0000 GB
INFO 01-30 05:50:16 worker.py:266] model weights take 0.00GiB; non_torch_memory takes 0.00GiB; PyTorch activation peak memory takes 0.00GiB; the rest of the memory reserved for KV Cache is 71.28GiB.
[rank0]: Traceback (most recent call last):
```

```log silent
INFO 01-30 05:50:12 model_runner.py:1115] Loading model weights took 14.9595 GB
[rank0]: Traceback (most recent call last):
```

## Why

Up to 0.7.2 the profile asked for the memory of the current device, which is the first one, even where the engine was
told to use another: `device="cuda:1"`, as trainers do that keep one device for generation.

## What to do

Let the engine see only its device: `CUDA_VISIBLE_DEVICES` in its environment. Or use 0.7.3 or newer.
"""

from typing import Final

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.observation import Quantity
from oomph.units import MIB

CAUSE: Final = "profiled_wrong_device"

_NOTHING: Final = 8 * MIB  # printed as 0.00 GiB


def check(case: Case) -> Finding | None:
    """Weights of nothing, and yet a failure or the beginning of one."""
    weights, said = case.size(Quantity.WEIGHTS), case.spoken("weights") or case.spoken("profile")
    if weights is None or said is None or weights.high > _NOTHING or Platform.CPU in case.platform:
        return None
    pool = case.size(Quantity.POOL)
    sized = "" if pool is None else f", and a pool of {pool.likely} was sized for an empty device"
    return Finding(
        code="LD005",
        name="weights-measured-on-another-device",
        cause=CAUSE,
        confidence=0.95,
        summary=f"loading took nothing, as the engine says: it measured another device than that of the weights{sized}",
        lines=(said,),
        arithmetic=() if pool is None else (f"{pool.likely} for the pool = the whole budget − 0 of weights",),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
    )


_REMEDIES: Final = (
    Remedy(
        change={"release": "0.7.3"},
        act="upgrade to 0.7.3 or newer, which measures the device that it uses",
        lever="upgrade",
        price="another release",
    ),
    Remedy(
        change={},
        act="let the engine see only its own device: CUDA_VISIBLE_DEVICES in its environment instead of device=",
        lever="cuda_visible_devices",
        price="the other devices cannot be seen from that process",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "a smaller share hides it: the pool is still sized as if no weights were there",
    "--max-model-len": "the pool takes the whole budget, however short requests are",
}
