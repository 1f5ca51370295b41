"""Questions to the planner of the KV cache: groups, blocks, tensors, tokens, concurrency, and its refusals.

Knows the smallest configuration that the planners of 0.11 to 0.32 read, and the order in which the engine core calls
them. Does not plan: every number is the engine's.
"""

import contextlib
import logging
import re

from judge import specs
from judge.parts import Part


def need(spec, settings):
    """What one request of the longest length takes of this layer, in bytes."""
    return specs.built(spec).max_memory_usage_bytes(config(**settings))


def plan(layers, available, settings):
    """The plan for these layers and this much memory per worker.

    `layers` is a dict of name to spec when every worker has the same layers, or a list with one such dict per worker.
    """
    from vllm.v1.core import kv_cache_utils as utils

    cfg = config(**settings)
    per_worker = [layers] * len(available) if isinstance(layers, dict) else layers
    built = [{name: specs.built(spec) for name, spec in one.items()} for one in per_worker]
    with listening(utils) as said:
        plans = utils.get_kv_cache_configs(cfg, built, list(available))
        tokens, concurrency = _capacity(utils, cfg, plans)
        of_first = utils.get_max_concurrency_for_kv_cache_config(cfg, plans[0]) if plans[0].kv_cache_groups else None
    if tokens is None:
        tokens = _printed_tokens(said)
    return {
        **described(plans[0]),
        "workers": [described(each) for each in plans],
        "tokens": tokens,
        "concurrency": concurrency,
        "first_worker_concurrency": of_first,  # what is printed before 0.28
        "max_model_len": cfg.model_config.max_model_len,
        "printed": said,
    }


def described(plan_):
    """One worker's plan in our words."""
    return {
        "groups": [list(group.layer_names) for group in plan_.kv_cache_groups],
        "block_tokens": [group.kv_cache_spec.block_size for group in plan_.kv_cache_groups],
        "blocks": plan_.num_blocks,
        "tensors": [tensor.size for tensor in plan_.kv_cache_tensors],
    }


def _capacity(utils, cfg, plans):
    """Tokens and concurrency where the release has a function for them, in the way its engine core asks."""
    if not plans[0].kv_cache_groups:
        return None, None
    scheduled = utils.generate_scheduler_kv_cache_config(plans)
    if hasattr(utils, "update_kv_cache_capacity"):  # 0.28: the core logs it after planning
        utils.update_kv_cache_capacity(cfg, scheduled)
        return cfg.cache_config.kv_cache_size_tokens, cfg.cache_config.kv_cache_max_concurrency
    if hasattr(utils, "get_kv_cache_capacity"):  # 0.24
        return utils.get_kv_cache_capacity(cfg, scheduled)
    return None, utils.get_max_concurrency_for_kv_cache_config(cfg, plans[0])


def _printed_tokens(said):
    """The number in the sentence, for the releases that compute it only to print it."""
    for line in said:
        if found := re.search(r"GPU KV cache size: ([\d,]+) tokens", line):
            return int(found[1].replace(",", ""))
    return None


@contextlib.contextmanager
def listening(module):
    """Collect what this module of the engine logs, also what it would print only once per process."""
    from vllm import logger as engine_logger

    for name in ("_print_debug_once", "_print_info_once", "_print_warning_once"):
        getattr(engine_logger, name).cache_clear()
    said = []
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: said.append(record.getMessage())
    module.logger.addHandler(handler)
    level = module.logger.level
    module.logger.setLevel(logging.INFO)
    try:
        yield said
    finally:
        module.logger.setLevel(level)
        module.logger.removeHandler(handler)


def config(  # noqa: PLR0913 - as many settings as planning reads
    max_model_len,
    max_num_batched_tokens,
    max_num_seqs,
    *,
    in_flight_batches=2,
    override=None,
    layout="LBHNC",
    original_max_model_len=None,
    mamba_mode="none",
    prefix_caching=False,
    disable_hybrid=False,
    decode_context_parallel=1,
    prefill_context_parallel=1,
    tensor_parallel=1,
    pipeline_parallel=1,
    encoder_tokens=None,
    lookahead_tokens=0,
):
    """The part of a VllmConfig that planning reads.

    `in_flight_batches` is what asynchronous scheduling and pipelining keep under way; `layout` is the resolved KV cache
    layout (0.29 and later); `encoder_tokens` the most an encoder may be fed (cross attention).
    """
    cfg = Part(
        cache_config=Part(
            num_gpu_blocks_override=override,
            mamba_cache_mode=mamba_mode,
            kv_cache_layout=layout,
            prefix_cache_retention_interval=None,
            enable_prefix_caching=prefix_caching,
        ),
        scheduler_config=Part(
            disable_hybrid_kv_cache_manager=disable_hybrid,
            max_num_seqs=max_num_seqs,
            max_num_batched_tokens=max_num_batched_tokens,
            max_num_encoder_input_tokens=max_num_batched_tokens if encoder_tokens is None else encoder_tokens,
        ),
        parallel_config=Part(
            decode_context_parallel_size=decode_context_parallel,
            prefill_context_parallel_size=prefill_context_parallel,
            tensor_parallel_size=tensor_parallel,
            pipeline_parallel_size=pipeline_parallel,
        ),
        model_config=Part(max_model_len=max_model_len, original_max_model_len=original_max_model_len),
        attention_config=Part(hisparse_config=None),
        device_config=Part(device_type="cuda"),
        speculative_config=None,
        kv_transfer_config=None,
        num_prefill_lookahead_tokens=lookahead_tokens,
        max_concurrent_batches=in_flight_batches,
    )
    return _with_engine_properties(cfg)


def _with_engine_properties(cfg):
    """Let the engine's own classes compute what they derive from the settings."""
    from vllm.config import CacheConfig, VllmConfig

    if hasattr(VllmConfig, "max_in_flight_tokens"):  # 0.26
        cfg.max_in_flight_tokens = VllmConfig.max_in_flight_tokens.fget(cfg)
    if hasattr(CacheConfig, "get_resolved_kv_cache_layout"):  # 0.29
        resolved = CacheConfig.get_resolved_kv_cache_layout(cfg.cache_config)
        cfg.cache_config.get_resolved_kv_cache_layout = lambda: resolved
    return cfg
