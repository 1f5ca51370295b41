"""The weights fit as they will be, and not while they are converted.

## What happened

The engine ran out while it turned weights into another form: it quantized a 16-bit checkpoint while loading it, or
repacked, shuffled or swizzled weights into the layout of a kernel. At that moment both forms are on the device.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/model_executor/model_loader/base_loader.py", line 59, in load_model
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/model_executor/layers/quantization/fp8.py", line 640, in process_weights_after_loading
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.62 GiB. GPU 0 has a total capacity of 79.19 GiB of which 1.31 GiB is free.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/model_executor/layers/linear.py", line 208, in create_weights
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 23.52 GiB of which 131.06 MiB is free.
```

## Why

`--quantization fp8` on a 16-bit checkpoint had the whole model on the device in 16 bits first, up to 0.15.1; since
0.16.0 it is one tensor at a time. Layouts for Marlin, CUTLASS or MXFP4 kernels need the source and the target of a
layer at once; for fused experts that is one large tensor.

## What to do

Serve a checkpoint that is stored as it shall be: then the peak is the final size. Or a release that converts tensor by
tensor; or more devices.
"""

from collections.abc import Mapping
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.loading import (
    account,
    converting,
    load_forecast,
    making,
    much_free,
    overflowed_loading,
    reading,
    stored_small,
)
from oomph.diagnose.grounds.others import crowded
from oomph.diagnose.grounds.usual import more_ranks
from oomph.engines.vllm.weights.online import MADE, whole_first
from oomph.errors import UnknownRelease
from oomph.ledger.gate import Verdict

CAUSE: Final = "load_quant_or_repack_peak"


def check(case: Case) -> Finding | None:
    """In a conversion; or in a load that is known to fit, or to be converted on the way."""
    if not overflowed_loading(case) or case.failure is None or (sure := _confidence(case)) is None:
        return None
    return Finding(
        code="LD002",
        name="conversion-peak-above-device",
        cause=CAUSE,
        confidence=sure,
        summary=_summary(case),
        lines=(case.failure.said,),
        arithmetic=account(case),
        remedies=(*_REMEDIES, more_ranks(case)),
        unhelpful=_VAIN,
        missing=() if case.startup is not None else ("the model, the flags and the GPU: then both forms are computed",),
    )


def _confidence(case: Case) -> float | None:
    if crowded(case) or much_free(case):
        return None
    if converting(case) is not None:
        return 0.92
    if _online(case):
        return 0.93 if _whole_first(case) else 0.75
    if making(case) is not None:
        return None
    if reading(case):
        return 0.8
    return 0.75 if load_forecast(case) is Verdict.FITS else 0.25 if case.phase_assumed else 0.4


def _online(case: Case) -> bool:
    """A checkpoint that is quantized while it is loaded, by flag and by name."""
    asked = case.flags.get("quantization") or _config(case).get("quantization")
    return asked in MADE and not stored_small(case)


def _config(case: Case) -> Mapping[str, str]:
    return {} if case.observation is None else case.observation.config


def _whole_first(case: Case) -> bool:
    try:
        return case.release is None or whole_first.at(case.release)
    except UnknownRelease:
        return True


def _summary(case: Case) -> str:
    where = converting(case)
    if where is not None:
        return f"the device was full while weights were converted ({where}): both forms were there at once"
    if _online(case):
        return "the checkpoint is quantized while it is loaded, and its 16 bits were on the device at that moment"
    return "the device was full while weights were loaded: if they fit as stored, a conversion had them there twice"


_REMEDIES: Final = (
    Remedy(
        change={},
        act="serve a checkpoint that is stored in that format: then the peak is the final size",
        lever="quantised_checkpoint",
        price="another checkpoint, and what it was calibrated with",
    ),
    Remedy(
        change={"release": "0.16.0"},
        act="upgrade to 0.16.0 or newer, which quantizes tensor by tensor; for a layout, try the release before or after",
        lever="upgrade",
        price="another release",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the share only limits the pool, and there is none yet; the engine's own message is wrong here",
    "--max-model-len, --max-num-seqs": "nothing of what they size is there yet",
    "--enforce-eager": "no graph is captured before the weights are there",
}
