"""Flags that are understood but not computed with yet.

Knows which ones move bytes, and the values with which each moves none. A flag leaves this file when its effect is
computed, or bounded.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from oomph.engines.vllm.context import only_positions
from oomph.engines.vllm.speculation import Guesser, speculation
from oomph.engines.vllm.weights import online
from oomph.engines.vllm.weights.loading import loading
from oomph.ledger.quantization import Quantization
from oomph.ledger.settings import Flags, Value

_NOT_MODELLED: Final[Mapping[str, tuple[Value, ...]]] = {
    "cpu_offload_params": (None,),
    "enable_tower_connector_lora": (False,),
    "hf_config_path": (None,),
    "kv_cache_dtype_skip_layers": (None,),
    "kv_transfer_config": (None,),
    "offload_backend": (None, "auto", "uva"),
    "offload_group_size": (0,),
    "prefill_context_parallel_size": (1,),
    "quantization_config": (None,),
    "use_replayssm": (False,),
    "VLLM_USE_V1": ("1",),  # the engine before it, which 0.8 to 0.10 still have, sizes its pool in another way
}
_OF_WEIGHTS: Final = frozenset({"quantization", "load_format"})
# What reads weights from other files, or by other means, and leaves the same on the device.
_READERS: Final = frozenset(
    {
        "auto",
        "dummy",
        "fastsafetensors",
        "hf",
        "instanttensor",
        "mistral",
        "npcache",
        "pt",
        "runai_streamer",
        "runai_streamer_sharded",
        "safetensors",
        "sharded_state",
    }
)


def not_modelled(flags: Flags, stored: Quantization | None = None, *, weighed: bool = False) -> str | None:
    """What to say of flags whose effect is missing from the figures; no verdict is sure beside them.

    `stored` is how the checkpoint is stored, on which it depends whether `--quantization` changes anything. Where the
    weights were `weighed`, it does not matter what made them as heavy as they are.
    """
    unread = [name for name, plain in _NOT_MODELLED.items() if name in flags and flags[name] not in plain]
    unread += (name for name in _by_value(flags, stored) if not (weighed and name in _OF_WEIGHTS))
    if not unread:
        return None
    named = ", ".join(name if name.isupper() else "--" + name.replace("_", "-") for name in unread)
    return f"what {named} changes is not computed yet: the figures are as without it, and no gate is judged by them"


def _by_value(flags: Flags, stored: Quantization | None) -> Iterator[str]:
    """Flags of which some values are computed with."""
    asked = loading(flags)
    if not online.known(asked.format, stored):
        yield "quantization"
    made = online.made(asked.format, stored)
    if asked.reader not in _READERS and not (made is not None and asked.reader == made.method):
        yield "load_format"
    if not only_positions(flags):
        yield "hf_overrides"
    if speculation(flags).guesser is Guesser.MODEL:
        yield "speculative_config"
