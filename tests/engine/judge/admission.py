"""Questions to the scheduler: what becomes of a workload, step by step, without any model.

Knows the part of a configuration that the schedulers of 0.11 to 0.32 read, and the order in which the engine core
schedules a step and hands back what it computed. Decides nothing: who runs, waits or is thrown back is the engine's.
"""

import dataclasses
import hashlib
import heapq
import inspect
import math

import numpy as np

from judge import specs
from judge.parts import Part


def served(groups, blocks, users, settings):
    """`[step, running, waiting, preempted, free]` of every step, until everybody is answered or `settings["steps"]`.

    `groups` are specs, one per group; `users` are `{"start", "pause", "requests": [[prompt, answer, prefix, family]]}`.
    """
    return Desk(groups, blocks, users, **settings).run()


class Desk:
    """The engine core's loop around its scheduler."""

    def __init__(self, groups, blocks, users, steps, **settings):
        self.steps, self.users = steps, users
        self.depth = 2 if settings["overlapped"] else 1
        self.scheduler, self.hasher = scheduler_of(groups, blocks, settings)
        self.now, self.count, self.orders = 0, 0, len(users)
        self.coming = [(user["start"], number, number, 0) for number, user in enumerate(users)]
        heapq.heapify(self.coming)
        self.flying, self.seen, self.whose = [], [], {}

    def run(self):
        """What was seen of every step."""
        while self._tick():
            before = {request.request_id for request in self.scheduler.running}
            output = self.scheduler.schedule()
            brought = self._brings(output)
            self.seen.append([self.now, *self._counts(before)])
            self.flying.append((output, brought))
            if len(self.flying) < self.depth and self._busy():
                continue
            self._land()
        return self.seen

    def _tick(self):
        while self.flying and not self._busy():
            self._land()
        if not self._busy():
            if not self.coming:
                return False
            self.now = max(self.now, self.coming[0][0] - 1)
        self.now += 1
        while self.coming and self.coming[0][0] <= self.now:
            _, _, user, place = heapq.heappop(self.coming)
            self._arrive(user, place)
        return self.now <= self.steps

    def _arrive(self, user, place):
        from vllm.sampling_params import SamplingParams
        from vllm.v1.request import Request

        prompt, answer, prefix, family = self.users[user]["requests"][place]
        name, own = str(self.count), 1000 + self.count
        fields = {
            "request_id": name,
            "prompt_token_ids": [10 + family] * prefix + [own] * (prompt - prefix),
            "sampling_params": SamplingParams(max_tokens=answer, ignore_eos=True),
            "pooling_params": None,
            "eos_token_id": None,  # before 0.15
            "block_hasher": self.hasher,
        }
        known = inspect.signature(Request.__init__).parameters
        request = Request(**{field: value for field, value in fields.items() if field in known})
        self.whose[name] = (user, place, own)
        self.count += 1
        self.scheduler.add_request(request)

    def _brings(self, output):
        """Requests of which this step computes the last known token, and so brings a new one."""
        brings = {}
        for name in output.num_scheduled_tokens:
            request = self.scheduler.requests[name]
            expected = request.num_output_placeholders
            if self.depth > 1:  # the scheduler has counted on the new token already if there will be one
                brings[name] = request.num_computed_tokens >= request.num_tokens + expected - 1 and expected > 0
            else:
                brings[name] = request.num_computed_tokens >= request.num_tokens
        return brings

    def _counts(self, before):
        scheduler = self.scheduler
        queues = [getattr(scheduler, name, ()) for name in ("waiting", "skipped_waiting", "kv_holding_waiting")]
        thrown = before - {request.request_id for request in scheduler.running}  # nobody ends while scheduling
        free = scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
        return len(scheduler.running), sum(map(len, queues)), len(thrown), free

    def _busy(self):
        return self.scheduler.get_num_unfinished_requests() > 0

    def _land(self):
        output, brought = self.flying.pop(0)
        before = {name for name in output.num_scheduled_tokens if name in self.scheduler.requests}
        self.scheduler.update_from_output(output, computed(output, brought, self.whose))
        for name in output.num_scheduled_tokens:
            if name in before and name not in self.scheduler.requests:
                user, place, _ = self.whose[name]
                if place + 1 < len(self.users[user]["requests"]):
                    self.orders += 1
                    due = self.now + 1 + self.users[user]["pause"]
                    heapq.heappush(self.coming, (due, self.orders, user, place + 1))


def computed(output, brought, whose):
    """What the model would have answered: tokens that nobody else's request has."""
    from vllm.v1.outputs import ModelRunnerOutput

    names = list(output.num_scheduled_tokens)
    fields = {
        "req_ids": names,
        "req_id_to_index": {name: place for place, name in enumerate(names)},
        "sampled_token_ids": [_sampled([whose[name][2]] if brought[name] else []) for name in names],
        "logprobs": None,
        "prompt_logprobs_dict": {},
        "pooler_output": [],
    }
    known = {field.name for field in dataclasses.fields(ModelRunnerOutput)}
    return ModelRunnerOutput(**{field: value for field, value in fields.items() if field in known})


def _sampled(tokens):
    """A list; in 0.11.1 and 0.11.2 an array."""
    from vllm.v1.outputs import ModelRunnerOutput

    kind = str(ModelRunnerOutput.__dataclass_fields__["sampled_token_ids"].type)
    return np.array(tokens, dtype=int) if "ndarray" in kind else tokens


def scheduler_of(groups, blocks, settings):
    """The engine's own scheduler over groups of one layer each, and what hashes the blocks of a request."""
    from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec

    built = [specs.built(spec) for spec in groups]
    cfg = config([spec.block_size for spec in built], blocks, **settings)
    fields = {
        "num_blocks": blocks,
        "kv_cache_tensors": [],
        "kv_cache_groups": [KVCacheGroupSpec([f"layer.{place}"], spec) for place, spec in enumerate(built)],
    }
    if "prefix_cache_retention_interval" in inspect.signature(KVCacheConfig).parameters:  # 0.29
        fields["prefix_cache_retention_interval"] = _retention()
    pool = KVCacheConfig(**fields)
    size, hashed = _block_sizes(cfg, pool)
    return _scheduler(cfg, pool, size, hashed, overlapped=settings["overlapped"]), _hasher(hashed)


def _retention():
    from vllm.config import CacheConfig

    return CacheConfig().prefix_cache_retention_interval


def _block_sizes(cfg, pool):
    """Tokens that scheduling is aligned to, and those that are hashed together, as the engine core asks for them."""
    from vllm.v1.core import kv_cache_utils as utils

    if hasattr(utils, "resolve_kv_cache_block_sizes"):  # 0.23
        return utils.resolve_kv_cache_block_sizes(pool, cfg)
    return cfg.cache_config.block_size, cfg.cache_config.block_size


def _scheduler(cfg, pool, size, hashed, *, overlapped):
    from vllm.v1.core.sched.async_scheduler import AsyncScheduler
    from vllm.v1.core.sched.scheduler import Scheduler

    made = AsyncScheduler if overlapped else Scheduler
    fields = {
        "vllm_config": cfg,
        "kv_cache_config": pool,
        "structured_output_manager": Part(
            should_advance=lambda *_request, **_tokens: False,
            accept_tokens=lambda *_request, **_tokens: True,
            grammar_init=lambda _request: None,
        ),
        "block_size": size,
        "hash_block_size": hashed,
        "mm_registry": Part(
            supports_multimodal_inputs=lambda _model: False, get_encdec_max_encoder_len=lambda _model: 0
        ),
    }
    known = inspect.signature(Scheduler.__init__).parameters
    return made(**{field: value for field, value in fields.items() if field in known})


def _hasher(size):
    from vllm.v1.core import kv_cache_utils as utils

    utils.init_none_hash(_hash)
    return utils.get_request_block_hasher(size, _hash)


def _hash(content):
    return hashlib.blake2b(repr(content).encode()).digest()


def config(  # noqa: PLR0913 - as many settings as scheduling reads
    sizes,
    blocks,
    *,
    max_model_len,
    max_num_batched_tokens,
    max_num_seqs,
    prefix_caching,
    overlapped,
    long_prompt=0,
    watermark=0.0,
    whole_prompt=None,
    mamba_mode="none",
):
    """The part of a VllmConfig that scheduling reads."""
    scheduling = Part(
        max_num_seqs=max_num_seqs,
        max_num_active_seqs=None,
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_scheduled_tokens=None,
        max_num_encoder_input_tokens=max_num_batched_tokens,
        encoder_cache_size=max_num_batched_tokens,
        max_model_len=max_model_len,
        policy="fcfs",
        long_prefill_token_threshold=long_prompt,
        long_prefill_token_threshold_adaptive=False,
        enable_chunked_prefill=True,
        chunked_prefill_enabled=True,
        watermark=watermark,
        scheduler_reserve_full_isl=True if whole_prompt is None else whole_prompt,
        disable_hybrid_kv_cache_manager=False,
        async_scheduling=overlapped,
    )
    cache = Part(
        num_gpu_blocks=blocks,
        block_size=math.gcd(*sizes),
        enable_prefix_caching=prefix_caching,
        mamba_cache_mode=mamba_mode,
        prefix_match_unit=None,
        hash_block_size=None,  # as it was called before 0.26
        enable_mamba_shared_prefix_checkpoint=False,
        enable_mamba_fine_grained_prefix_cache=False,  # as it was called in 0.30
    )
    return Part(
        scheduler_config=scheduling,
        cache_config=cache,
        model_config=_model(max_model_len),
        parallel_config=Part(
            decode_context_parallel_size=1,
            prefill_context_parallel_size=1,
            pipeline_parallel_size=1,
            data_parallel_rank=0,
            data_parallel_index=0,
        ),
        observability_config=Part(
            kv_cache_metrics=False,
            per_request_spec_decode_metrics="none",
            enable_mfu_metrics=False,
            enable_logging_iteration_details=False,
        ),
        ec_manager_config=Part(get_encoder_cache_manager_obj=lambda: None),
        aux_output_config=Part(enabled=False),
        lora_config=None,
        kv_events_config=None,
        kv_transfer_config=None,
        ec_transfer_config=None,
        speculative_config=None,
        num_speculative_tokens=0,
        num_lookahead_tokens=0,
        num_prefill_lookahead_tokens=0,
        is_mm_encoder_only=False,
        is_encoder_only=False,
        use_v2_model_runner=False,
        max_concurrent_batches=2 if overlapped else 1,
        max_in_flight_tokens=max_num_batched_tokens * (2 if overlapped else 1),
    )


def _model(max_model_len):
    return Part(
        max_model_len=max_model_len,
        is_encoder_decoder=False,
        uses_mrope=False,
        uses_xdrope=False,
        runner_type="generate",
        is_diffusion=False,
        supports_multimodal_inputs=False,
        is_multimodal_model=False,
        enable_return_routed_experts=False,
        return_sampling_mask=False,
    )
