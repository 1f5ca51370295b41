"""Flags that are understood but not computed with yet.

Knows which ones move bytes, and the value with which each moves none. A flag leaves this file when its effect is
computed.
"""

from collections.abc import Mapping
from typing import Final

from oomph.engines.vllm.speculation import speculation
from oomph.ledger.settings import Flags, Value

_NOT_MODELLED: Final[Mapping[str, Value]] = {
    "dtype": "auto",
    "quantization": None,
    "cpu_offload_gb": 0.0,
    "cpu_offload_params": None,
    "offload_backend": None,
    "offload_group_size": 0,
    "hf_overrides": None,
    "hf_config_path": None,
    "enable_lora": False,
    "config": None,
    "compilation_config": None,
    "optimization_level": 2,
    "performance_mode": "balanced",
    "decode_context_parallel_size": 1,
    "prefill_context_parallel_size": 1,
    "data_parallel_size": 1,
    "load_format": "auto",
    "enable_eplb": False,
    "kv_transfer_config": None,
    "use_replayssm": False,
    "kv_cache_dtype_skip_layers": None,
}


def not_modelled(flags: Flags) -> str | None:
    """What to say of flags whose effect is missing from the figures; no verdict is sure beside them."""
    unread = [name for name, value in _NOT_MODELLED.items() if name in flags and flags[name] != value]
    guessed = speculation(flags)
    if guessed.tokens and not guessed.by_own_layers:
        unread.append("speculative_config")
    if not unread:
        return None
    named = ", ".join("--" + name.replace("_", "-") for name in unread)
    return f"what {named} changes is not computed yet: the figures are as without it, and no gate is judged by them"
