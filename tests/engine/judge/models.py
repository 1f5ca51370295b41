"""A real model of the engine, built without memory, to weigh its parameters and read its KV cache specs.

Knows how to build on torch's meta device as one rank of a faked world. Does not count: torch says how large a tensor is
and the engine says which tensors there are.
"""

import dataclasses

import torch

from judge import defaults, edges, fakes, ops, specs, world
from judge.parts import Part


def warm_up():
    """Import, with the device chosen, what every model needs."""
    fakes.prepare_configuration()
    import vllm.model_executor.model_loader.utils
    import vllm.model_executor.models.llama  # noqa: F401 - for the import alone


def model(config, flags=None, tp=1, pp=1, rank=0, *, header=None, per_tensor=False):
    """`{"parameters", "buffers", "draft", "specs", "defaults"}` of one rank, sizes in bytes.

    `draft` is the draft model's parameters before it shares any with the main model, or None without one. `specs` maps
    a layer's name to its spec in the words of `judge.specs`, with its `page` and the engine's class. With `per_tensor`
    there are also `tensors` and `tables`: the name of a parameter, or of a buffer, to its shape and dtype. For `header`
    see `judge.defaults`.
    """
    sizes = {"tensor_parallel_size": tp, "pipeline_parallel_size": pp}
    cfg = defaults.resolved(config, {**(flags or {}), **sizes}, header=header)
    cfg.parallel_config.rank = rank
    world.pretend(tp=tp, pp=pp, rank=rank)
    built = _build(cfg)
    draft = None
    guesses = None if cfg.speculative_config is None else cfg.speculative_config.draft_model_config
    if guesses is not None and guesses is not cfg.model_config:  # n-grams name the model itself and build nothing
        draft = _bytes(_build(cfg, model_config=guesses).parameters())
    answer = {
        "parameters": _bytes(built.parameters()),
        "buffers": _bytes(built.buffers()),
        "draft": draft,
        "specs": {name: _described(spec) for name, spec in _kv_specs(cfg).items()},
        "defaults": defaults.described(cfg),
    }
    if per_tensor:
        answer["tensors"] = _named(built.named_parameters())
        answer["tables"] = _named(built.named_buffers())
    return answer


def _named(tensors):
    return {name: [list(tensor.shape), str(tensor.dtype).removeprefix("torch.")] for name, tensor in tensors}


def _build(cfg, **which):
    from vllm.config import set_current_vllm_config
    from vllm.model_executor.model_loader.utils import initialize_model

    usual = torch.get_default_dtype()
    torch.set_default_dtype(cfg.model_config.dtype)
    try:
        with ops.building(), edges.without_device(), set_current_vllm_config(cfg), torch.device("meta"):
            return initialize_model(vllm_config=cfg, **which)
    finally:
        torch.set_default_dtype(usual)


def _bytes(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _kv_specs(cfg):
    """What the worker would report to the planner: the function of the runner that this configuration chooses."""
    from vllm.config import set_current_vllm_config
    from vllm.platforms import current_platform

    with set_current_vllm_config(cfg):
        # 0.18: the block size is chosen after the build. The platform answers None for names it does not have.
        choose_block_size = getattr(current_platform, "update_block_size_for_backend", None)
        if choose_block_size is not None:
            choose_block_size(cfg)
        if defaults.runner(cfg) == "v2":
            from vllm.v1.worker.gpu.attn_utils import get_kv_cache_spec

            return get_kv_cache_spec(cfg)
        from vllm.v1.worker.gpu_model_runner import GPUModelRunner

        return GPUModelRunner.get_kv_cache_spec(_runner(cfg))


def _runner(cfg):
    """What the V1 runner reads of itself to list its specs; all but the first two until 0.11.0 only."""
    own = cfg.cache_config.cache_dtype
    return Part(
        vllm_config=cfg,
        shared_kv_cache_layers={},
        attention_chunk_size=cfg.model_config.attention_chunk_size,
        kv_cache_dtype=cfg.model_config.dtype if own == "auto" else specs.dtype(own),
    )


def _described(spec):
    has = {field.name for field in dataclasses.fields(spec)}
    fields = {ours: _plain(getattr(spec, theirs)) for ours, theirs in specs.FIELDS.items() if theirs in has}
    kinds = {name: kind for kind, name in specs.CLASSES.items()}
    made = type(spec).__name__
    return {"kind": kinds.get(made), "class": made, "page": spec.page_size_bytes, **fields}


def _plain(value):
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, int | str):
        return getattr(value, "name", value)  # an enumeration by its name
    return str(value)
