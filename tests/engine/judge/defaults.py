"""The settings that a release chooses by itself for a model on a device.

Knows how to have `EngineArgs.create_engine_config` run here, and where its result keeps the numbers. Chooses nothing.
"""

import json
import pathlib
import struct
import tempfile

from judge import fakes

_ABSENT = object()

# Our word: where the configuration keeps it. What a release does not have is left out of its answer.
_WHERE = {
    "max_model_len": "model_config.max_model_len",
    "original_max_model_len": "model_config.original_max_model_len",
    "dtype": "model_config.dtype",
    "quantization": "model_config.quantization",
    "enforce_eager": "model_config.enforce_eager",
    "hybrid": "model_config.is_hybrid",
    "max_num_seqs": "scheduler_config.max_num_seqs",
    "max_num_batched_tokens": "scheduler_config.max_num_batched_tokens",
    "encoder_tokens": "scheduler_config.max_num_encoder_input_tokens",
    "chunked_prefill": "scheduler_config.enable_chunked_prefill",
    "async_scheduling": "scheduler_config.async_scheduling",
    "disable_hybrid": "scheduler_config.disable_hybrid_kv_cache_manager",
    "gpu_memory_utilization": "cache_config.gpu_memory_utilization",
    "kv_cache_memory_bytes": "cache_config.kv_cache_memory_bytes",
    "kv_cache_dtype": "cache_config.cache_dtype",
    "block_size": "cache_config.block_size",
    "prefix_caching": "cache_config.enable_prefix_caching",
    "mamba_cache_mode": "cache_config.mamba_cache_mode",
    "mamba_block_size": "cache_config.mamba_block_size",
    "mamba_cache_dtype": "cache_config.mamba_cache_dtype",
    "mamba_ssm_cache_dtype": "cache_config.mamba_ssm_cache_dtype",
    "mamba_page_size_padded": "cache_config.mamba_page_size_padded",
    "capture_sizes": "compilation_config.cudagraph_capture_sizes",
    "max_capture_size": "compilation_config.max_cudagraph_capture_size",
    "max_capture_size_old": "compilation_config.max_capture_size",
    "cudagraph_mode": "compilation_config.cudagraph_mode",
    "in_flight_batches": "max_concurrent_batches",
    "in_flight_tokens": "max_in_flight_tokens",
    "lookahead_tokens": "num_prefill_lookahead_tokens",
    "speculative_tokens": "speculative_config.num_speculative_tokens",
    "speculative_method": "speculative_config.method",
}


def warm_up():
    """Import, with the device chosen, what every configuration needs."""
    fakes.prepare_configuration()


def defaults(config, flags=None, usage="server", header=None):
    """What the engine resolves for this model configuration (a config.json as a dict) and these engine arguments.

    `usage` is "server" for `vllm serve`, "offline" for the class `LLM`. `header` maps the checkpoint's tensors to their
    shape and safetensors dtype, as in `{"lm_head.weight": [[64128, 4096], "BF16"]}`; some quantizations read it.
    """
    return described(resolved(config, flags or {}, usage, header))


def resolved(config, flags, usage="server", header=None):
    """The engine's own configuration object."""
    from vllm.engine.arg_utils import EngineArgs
    from vllm.usage.usage_lib import UsageContext

    folder = _folder(config, header)
    context = UsageContext.OPENAI_API_SERVER if usage == "server" else UsageContext.LLM_CLASS
    # Nothing is loaded: no tokenizer, no weights. Several ranks would otherwise look for Ray.
    given = {"skip_tokenizer_init": True, "load_format": "dummy", **flags}
    if flags.get("tensor_parallel_size", 1) * flags.get("pipeline_parallel_size", 1) > 1:
        given.setdefault("distributed_executor_backend", "mp")
    return EngineArgs(model=folder, **given).create_engine_config(context)


def _folder(config, header):
    """A model on disk without its weights."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="oomph-model-"))
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if header:
        entries = {
            name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]} for name, (shape, dtype) in header.items()
        }
        text = json.dumps(entries).encode()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    return str(folder)


def described(cfg):
    """The resolved configuration in our words."""
    found = {name: _at(cfg, path) for name, path in _WHERE.items()}
    answer = {name: _plain(value) for name, value in found.items() if value is not _ABSENT}
    old = answer.pop("max_capture_size_old", None)
    answer.setdefault("max_capture_size", old)
    answer["runner"] = runner(cfg)
    return answer


def runner(cfg):
    """Which of v1 and v2: the configuration decides from 0.22 on; before, a variable that nobody sets."""
    chosen = _at(cfg, "use_v2_model_runner")
    return "v2" if chosen is not _ABSENT and chosen else "v1"


def _at(cfg, path):
    for name in path.split("."):
        if cfg is None or not hasattr(cfg, name):
            return _ABSENT
        cfg = getattr(cfg, name)
    return cfg


def _plain(value):
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return getattr(value, "name", None) or str(value).removeprefix("torch.")
