"""The engine's layers, as the judge describes a built model, in the words in which a planner is asked about them.

Knows which fields each release's spec classes have. Does not plan.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from oomph.engines.history import Release, span

Spec: TypeAlias = dict[str, object]

_PLAIN: Final = ("kind", "block_tokens", "kv_heads", "head_dim", "dtype", "padded", "window", "chunk")
_STATES: Final = ("kind", "block_tokens", "shapes", "dtypes", "padded", "speculative_blocks")
_LATENT: Final = frozenset({"mla", "sliding_mla"})
_BYTES: Final = {"uint8": "fp8", "float8_e4m3fn": "fp8"}  # how the engine stores formats of eight bits

_QUANTIZED: Final = span("0.20.0")
_VALUES: Final = span("0.14.0")
_VALUES_OF_WINDOWS: Final = span("0.22.0")
_COMPRESSED: Final = span("0.20.0")
_CONTENT: Final = span("0.28.0")
_CHECKPOINTS: Final = span("0.29.0")
_LAYOUTS: Final = span("0.29.0")
_STRIDES: Final = span("0.31.0")
_KERNEL_BLOCKS: Final = span("0.32.0")


class UntoldError(Exception):
    """A release whose classes cannot hold such a layer."""


def told(specs: Mapping[str, Spec], asked: Release) -> dict[str, Spec]:
    """All layers, as this release can be told of them."""
    return {name: _spec(spec, asked) for name, spec in specs.items()}


def _spec(spec: Spec, asked: Release) -> Spec:
    if spec["kind"] is None:
        message = f"a {spec['class']} has no name among the judge's specs"
        raise UntoldError(message)
    if spec["page"] == 0:
        message = f"a block of {spec['block_tokens']} tokens holds no whole state of {spec['tokens_per_state']}"
        raise UntoldError(message)
    if spec["kind"] == "mamba":
        found = {name: spec[name] for name in _STATES if spec.get(name) is not None}
        return found | (_known(spec, "checkpoint_blocks") if asked in _CHECKPOINTS else {})
    found = {name: spec[name] for name in _PLAIN if spec.get(name) is not None}
    found["dtype"] = _BYTES.get(str(spec["dtype"]), spec["dtype"])
    return found | _latent(spec, asked) | _packed(spec, asked)


def _known(spec: Spec, *names: str) -> Spec:
    return {name: spec[name] for name in names if spec.get(name)}


def _latent(spec: Spec, asked: Release) -> Spec:
    """What only latent attention has; elsewhere, how wide values are where they are not as wide as keys."""
    if spec["kind"] in _LATENT:
        found = _known(spec, "cache_dtype")
        special = _known(spec, "alignment", "model_version")
        if (ratio := spec.get("tokens_per_state")) not in {None, 1}:
            special["tokens_per_state"] = ratio
        if special and asked not in _COMPRESSED:
            message = f"{asked} does not compress latents"
            raise UntoldError(message)
        return found | special
    if spec.get("value_dim") in {None, spec["head_dim"]}:
        return {}
    known = _VALUES_OF_WINDOWS if spec["kind"] == "sliding" else _VALUES
    if asked not in known:
        message = f"{asked} keeps values as wide as keys"
        raise UntoldError(message)
    return {"value_dim": spec["value_dim"]}


def _packed(spec: Spec, asked: Release) -> Spec:
    """How a state is packed and where it may begin."""
    found: Spec = {}
    mode = str(spec.get("quantization") or "NONE")
    if mode != "NONE" and asked in _QUANTIZED:
        found["quantization"] = "fp8" if mode.startswith("FP8_PER_TENSOR") else mode.lower()
    if asked in _CONTENT:
        found |= _known(spec, "state")
    stride = spec.get("stride")
    if isinstance(stride, int) and asked in _STRIDES:
        found["stride"] = stride
    elif isinstance(stride, str) and asked in _KERNEL_BLOCKS:  # a multiple of so many tokens
        found["kernel_tokens"] = int(cast("re.Match[str]", re.search(r"\d+", stride))[0])
    return found


def settings(defaults: Mapping[str, object], specs: Mapping[str, Spec], asked: Release, *, ranks: int) -> Spec:
    """What planning reads of a resolved configuration.

    The layout is what the engine core resolves: that of DeepSeek V4's indexer, else any in which pages lie together.
    """
    packed = any(spec.get("model_version") == "deepseek_v4" for spec in specs.values())
    found = {
        name: defaults[name]
        for name in (
            "max_model_len",
            "max_num_batched_tokens",
            "max_num_seqs",
            "in_flight_batches",
            "prefix_caching",
            "encoder_tokens",
            "lookahead_tokens",
        )
        if defaults.get(name) is not None
    }
    found["mamba_mode"] = defaults.get("mamba_cache_mode") or "none"
    found["disable_hybrid"] = bool(defaults.get("disable_hybrid"))
    found["layout"] = "BLHNC" if packed and asked in _LAYOUTS else "LBNHC"
    found["tensor_parallel"] = ranks
    return found
