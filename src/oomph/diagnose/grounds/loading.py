"""Running out of device memory while weights are loaded: whether it was that, and what the traceback was at.

Knows the functions of vLLM that make room for weights and those that convert them, and PyTorch's account of the
device. Does not know how large any model is.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.grounds.refused_start import refused
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.observation import Quantity
from oomph.units import MIB, Bytes

# model_executor/layers and model_executor/models: rooms for weights are made while the modules are.
_MAKING: Final = ("create_weights", "vocab_parallel_embedding", "make_layers", "initialize_model", "ParallelLMHead")
_MODELS: Final = "model_executor/models/"
# model_executor/layers/quantization, _custom_ops.py: what is done to weights that are there.
_CONVERTING: Final = (
    *("process_weights_after_loading", "repack", "swizzle", "shuffle_weight", "prepack", "transform_w", "permute_"),
    *("scaled_fp8_quant", "quantize_", "requantize", "dequant", "_quantize", "convert_to_", "patched_weight_loader"),
)
# model_executor/model_loader/weight_utils.py: by now there is room for every weight, and more is taken on the way.
_READING: Final = re.compile(r"checkpoint shards: +[0-9]{1,3}%|Loading weights took")
_TOLD: Final = re.compile(
    r"Failed to load model\W{1,5}not enough GPU memory|Failed to create unquantized linear weights"
)
_DRIVER: Final = re.compile(r"CUDA driver error")
# How names of checkpoints say that they are stored in fewer bits.
_STORED: Final = (
    "fp8",
    "awq",
    "gptq",
    "int4",
    "int8",
    "w4a16",
    "w8a8",
    "fp4",
    "bnb",
    "4bit",
    "8bit",
    "gguf",
    "autoround",
)
_CLOSE: Final = 0.8  # of the device that PyTorch has given out where weights filled it
_LOADED: Final = ("weights", "pool", "blocks", "tokens", "graphs begun")


def overflowed_loading(case: Case) -> bool:
    """PyTorch ran out of device memory before the weights were there."""
    failure = case.failure
    if failure is None or case.engine not in {HISTORY.engine, None} or case.phase is not Phase.LOAD:
        return False
    if refused(case) is not None or _DRIVER.search(failure.said.text):
        return False
    if any(case.spoken(name) is not None for name in _LOADED):
        return False
    return case.size(Quantity.TRIED) is not None or "OutOfMemory" in failure.kind or overflow_told(case)


def overflow_told(case: Case) -> bool:
    """In the engine's own words, as they are pasted."""
    return case.line(_TOLD) is not None


def making(case: Case) -> str | None:
    """The function that made room for a weight when it failed."""
    frame = case.frame(*_MAKING)
    if frame is None:
        inner = case.failure.frames[-1:] if case.failure is not None else ()
        frame = next((each for each in inner if _MODELS in each.file and each.function == "__init__"), None)
    return None if frame is None or converting(case) is not None else frame.place


def converting(case: Case) -> str | None:
    """The function that converted a weight when it failed."""
    frame = case.frame(*_CONVERTING)
    return None if frame is None else frame.place


def reading(case: Case) -> bool:
    """Files were being read, or were: room had been made for all that they hold."""
    return case.line(_READING) is not None


def filled(case: Case) -> bool:
    """What PyTorch had given out is nearly the device."""
    allocated, total = case.size(Quantity.ALLOCATED), case.size(Quantity.DEVICE_TOTAL)
    held = allocated or case.size(Quantity.IN_USE)
    return held is not None and total is not None and held.likely >= _CLOSE * total.likely


def much_free(case: Case) -> bool:
    """More was free than was asked for: something else than a full device refused."""
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    return tried is not None and free is not None and free.low > tried.high + 256 * MIB


def load_forecast(case: Case) -> Verdict | None:
    """Whether the weights fit by themselves, where the model and the device are known."""
    gates = () if case.forecast is None else case.forecast.gates
    return next((gate.verdict for gate in gates if gate.step is Step.LOAD), None)


def stored_small(case: Case) -> bool:
    """The checkpoint has fewer bits already, by its name."""
    name = (case.model or "").lower()
    return any(word in name for word in _STORED)


def account(case: Case) -> tuple[str, ...]:
    """PyTorch's own, as a sum."""
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    allocated, total = case.size(Quantity.ALLOCATED), case.size(Quantity.DEVICE_TOTAL)
    if tried is None or allocated is None or total is None:
        return ()
    rest = "" if free is None else f"; {free.likely} free, {Bytes(max(tried.likely - free.likely, 0))} short"
    return (
        f"{allocated.likely} of {total.likely} given out, all of it weights, and {tried.likely} more asked for{rest}",
    )
