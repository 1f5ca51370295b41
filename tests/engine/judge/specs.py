"""Turns a layer described in our words into the engine's own spec object.

Knows the spec classes of every release from 0.11 on. Does not compute: a page is what the engine says.

A spec is a dict with `kind` and these fields; a field the release does not have is refused, never dropped.

    full      block_tokens, kv_heads, head_dim, dtype; value_dim?, window?, chunk?, padded?, quantization?
    sliding   the same with window required
    chunked   the same with chunk required
    cross     block_tokens, kv_heads, head_dim, dtype
    mla       block_tokens, head_dim, dtype; kv_heads? (1), cache_dtype?, padded?
    mamba     block_tokens, shapes, dtypes; padded?, speculative_blocks?, checkpoint_blocks?, mode?, mamba_type?
    sliding_mla, hidden, sink, rswa, ring, turboquant
              as mla or full, with window, sink, reference_window or slot; where the release has such a class

Any attention also takes strided?, sharded?, stride? (bytes), kernel_tokens?, state? (bytes of one kept state), and any
mla tokens_per_state?, alignment?, model_version?. With `backend` ("triton_attn:TritonAttentionBackend") the engine's
own attention backend has its say on the spec first, as it has in the worker.

`state` is what one token holds where that does not follow from head_dim and dtype; from 0.28 on layers say it
themselves (656 for fp8_ds_mla), before that the engine derives it from `cache_dtype`.
`dtype` is a name such as "bfloat16", or a `--kv-cache-dtype` such as "fp8", which the engine's own table translates.
"""

import dataclasses
import importlib

CLASSES = {
    "full": "FullAttentionSpec",
    "sliding": "SlidingWindowSpec",
    "chunked": "ChunkedLocalAttentionSpec",
    "cross": "CrossAttentionSpec",
    "mla": "MLAAttentionSpec",
    "mamba": "MambaSpec",
    "sliding_mla": "SlidingWindowMLASpec",
    "hidden": "HiddenStateCacheSpec",
    "sink": "SinkFullAttentionSpec",
    "rswa": "RSWASpec",
    "ring": "CircularBufferSpec",
    "turboquant": "TQFullAttentionSpec",
}

FIELDS = {
    "block_tokens": "block_size",
    "kv_heads": "num_kv_heads",
    "head_dim": "head_size",
    "value_dim": "head_size_v",
    "window": "sliding_window",
    "chunk": "attention_chunk_size",
    "padded": "page_size_padded",
    "cache_dtype": "cache_dtype_str",
    "quantization": "kv_quant_mode",
    "speculative_blocks": "num_speculative_blocks",
    "mode": "mamba_cache_mode",
    "mamba_type": "mamba_type",
    "shapes": "shapes",
    "dtypes": "dtypes",
    "dtype": "dtype",
    "tokens_per_state": "tokens_per_state",
    "alignment": "alignment",
    "model_version": "model_version",
    "strided": "indexes_kv_by_block_stride",
    "sharded": "dcp_sharded",
    "stride": "block_stride_alignment",
    "state": "state_content_bytes",
    "slot": "tq_slot_size",
    "sink": "sink_len",
    "reference_window": "rswa_window",
    "checkpoint_blocks": "num_prefill_checkpoint_blocks",
}

ALSO = {"kernel_tokens": "block_stride_alignment"}
OLDER = {"tokens_per_state": "compress_ratio"}  # before 0.29


def page(spec):
    """One block of one layer, in bytes."""
    return built(spec).page_size_bytes


def built(spec):
    """The engine's spec object for a layer described in our words."""
    from vllm.v1 import kv_cache_interface as interface

    fields = dict(spec)
    kind, backend = fields.pop("kind"), fields.pop("backend", None)
    made = getattr(interface, CLASSES[kind])
    if kind in {"mla", "sliding_mla", "hidden"}:
        fields.setdefault("kv_heads", 1)
    known = {field.name for field in dataclasses.fields(made)}
    values = {_field(name, known): _value(name, value) for name, value in fields.items() if value is not None}
    unknown = sorted(values.keys() - known)
    if unknown:
        message = f"{made.__name__} of this release has no {', '.join(unknown)}"
        raise LookupError(message)
    return made(**values) if backend is None else _backend(backend).customize_spec(made(**values))


def _field(name, known):
    field = FIELDS.get(name) or ALSO[name]
    return OLDER[name] if field not in known and name in OLDER else field


def _backend(name):
    module, _, cls = name.partition(":")
    return getattr(importlib.import_module(f"vllm.v1.attention.backends.{module}"), cls)


def _value(name, value):
    if name == "dtype":
        return dtype(value)
    if name == "dtypes":
        return tuple(dtype(each) for each in value)
    if name == "shapes":
        return tuple(tuple(shape) for shape in value)
    if name == "kernel_tokens":
        from vllm.v1.attention.backend import MultipleOf

        return MultipleOf(value)
    if name == "quantization":
        from vllm.v1 import kv_cache_interface

        return kv_cache_interface.get_kv_quant_mode(value)
    return value


def dtype(name):
    """The torch dtype of this name, as the engine stores it."""
    import torch

    return getattr(torch, name, None) or _cache_dtypes()[name]


def _cache_dtypes():
    try:
        from vllm.utils.torch_utils import STR_DTYPE_TO_TORCH_DTYPE
    except ImportError:  # before 0.11.1
        from vllm.utils import STR_DTYPE_TO_TORCH_DTYPE
    return STR_DTYPE_TO_TORCH_DTYPE
