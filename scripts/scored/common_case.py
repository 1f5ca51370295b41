"""The one start-up on which other tools were run: what we say of it.

Qwen3-8B in bf16 on a card of about 24 GB, vLLM of October 2025, utilization 0.90, the model's own length: the log says
4.50 GiB for the pool and refuses, because one request of 40,960 tokens needs 5.62 GiB. It is not in the corpus.
"""

from typing import Final

from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.model import Model
from oomph.ledger.catalogue import devices
from oomph.ledger.forecast import Forecast
from oomph.ledger.settings import Flags
from oomph.units import GIB
from scored.configs import read

POOL: Final = round(4.50 * GIB)
FILE: Final = "Qwen__Qwen3-8B.json"


def ours() -> Forecast:
    """From config, flags, card and release alone."""
    return forecast(
        Flags({"gpu_memory_utilization": 0.9}),
        model=Model(name="Qwen/Qwen3-8B", geometry=geometry(read(FILE))),
        devices=devices("rtx-3090"),
        release=release("0.11.0"),
    )
