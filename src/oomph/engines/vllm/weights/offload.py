"""Parameters that stay in the host's memory and are read from there (`--cpu-offload-gb`).

Knows `offloader/uva.py`: parameters of the layers move one by one until so many bytes have moved, so the last one
moves as a whole.
"""

from oomph.engines.vllm.weights.tensors import Held
from oomph.units import Bounds


def moved(budget: int, layers: Held, *, repacked: bool) -> Bounds:
    """Bytes that leave the device; kernels that lay parameters out anew may bring some of them back."""
    if budget <= 0:
        return Bounds(0)
    low, high = min(budget, layers.size), min(budget + layers.largest, layers.size)
    return Bounds(0 if repacked else low, high, low)
