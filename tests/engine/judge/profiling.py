"""The throw-away KV cache that the engine allocates to measure CUDA graphs, before any budget exists.

Knows where the two model runners keep that step. Does not know its rule: the engine's function decides the blocks, and
what it would have allocated is caught at the runner's door.
"""

import importlib

from judge import planner, specs
from judge.parts import Part, nothing

_V1 = ("vllm.v1.worker.gpu_model_runner", "GPUModelRunner")
_V2 = "vllm.v1.worker.gpu.cudagraph_utils"
_STEP = "_init_minimal_kv_cache_for_profiling"


def minimal_pool(layers, settings, capture_size, max_num_seqs=None, runner="v1"):
    """`{"groups", "block_tokens", "blocks", "tensors"}`, or None where this release's runner allocates nothing.

    `capture_size` is the largest CUDA graph that will be captured; `runner` is "v1" or "v2".
    """
    step = _step(runner)
    if step is None:
        return None
    cfg = planner.config(**settings)
    if max_num_seqs is not None:
        cfg.scheduler_config.max_num_seqs = max_num_seqs
    caught = []
    step(_stub(cfg, layers, capture_size, lambda plan, *_args, **_kwargs: caught.append(plan)))
    return planner.described(caught[0])


def _step(runner):
    if runner == "v1":
        module, name = _V1
        return getattr(getattr(importlib.import_module(module), name), _STEP, None)
    try:
        return getattr(importlib.import_module(_V2), _STEP, None)
    except ModuleNotFoundError as missing:
        if missing.name is None or not _V2.startswith(missing.name):
            raise
        return None


def _stub(cfg, layers, capture_size, allocate):
    cfg.compilation_config = Part(max_cudagraph_capture_size=capture_size)
    built = {name: specs.built(spec) for name, spec in layers.items()}
    return Part(
        vllm_config=cfg,
        cache_config=cfg.cache_config,
        compilation_config=cfg.compilation_config,
        max_num_reqs=cfg.scheduler_config.max_num_seqs,
        get_kv_cache_spec=lambda: built,
        initialize_kv_cache=allocate,
        maybe_setup_kv_connector=nothing,
    )
