"""The metrics that vLLM exposes, by release.

One line per metric: its name as Prometheus knows it, its kind, the release that brought it and the first without it,
and the file, below `vllm/`, where it can be seen in the release that brought it. The engine tests hold this against
every release.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.engines.history import Release, Span, span


class Kind(StrEnum):
    """How Prometheus keeps it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


COUNTER, GAUGE, HISTOGRAM = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of `/metrics`."""

    name: str
    kind: Kind
    span: Span
    hidden: Span | None  # when it is shown only with --show-hidden-metrics-for-version
    now: str | None  # for one that is gone or hidden: the metric that tells the same

    @property
    def scraped(self) -> str:
        """The name of its samples; a histogram has several, which begin with this."""
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name

    def shown(self, asked: Release) -> bool:
        """Whether this release shows it unasked."""
        return asked in self.span and (self.hidden is None or asked not in self.hidden)


def metric(
    name: str, kind: Kind, since: str, until: str | None = None, *, hidden: str | None = None, now: str | None = None
) -> Metric:
    """A line of the table."""
    return Metric(
        name=name,
        kind=kind,
        span=span(since, until),
        hidden=None if hidden is None else span(hidden),
        now=now,
    )


def shown(asked: Release) -> tuple[Metric, ...]:
    """What this release shows unasked."""
    return tuple(metric for metric in METRICS if metric.shown(asked))


METRICS: Final[tuple[Metric, ...]] = (
    metric("vllm:admission_rejections", COUNTER, "0.32.0"),  # v1/metrics/loggers.py
    metric("vllm:avg_generation_throughput_toks_per_s", GAUGE, "0.6.0", "0.7.0"),  # engine/metrics.py
    metric("vllm:avg_prompt_throughput_toks_per_s", GAUGE, "0.6.0", "0.7.0"),  # engine/metrics.py
    metric("vllm:cache_config_info", GAUGE, "0.6.0"),  # engine/metrics.py
    metric("vllm:corrupted_requests", COUNTER, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:cpu_cache_usage_perc", GAUGE, "0.6.0", "0.9.1", hidden="0.8.3"),  # engine/metrics.py
    metric("vllm:cpu_prefix_cache_hit_rate", GAUGE, "0.6.0", "0.9.1", hidden="0.8.3"),  # engine/metrics.py
    metric("vllm:diffusion_num_canvas_positions", COUNTER, "0.24.0"),  # v1/spec_decode/metrics.py
    metric("vllm:diffusion_num_committed_tokens", COUNTER, "0.24.0"),  # v1/spec_decode/metrics.py
    metric("vllm:diffusion_num_denoising_steps", COUNTER, "0.24.0"),  # v1/spec_decode/metrics.py
    metric("vllm:e2e_request_latency_seconds", HISTOGRAM, "0.6.0"),  # engine/metrics.py
    metric("vllm:engine_sleep_state", GAUGE, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:estimated_flops_per_gpu", COUNTER, "0.17.0"),  # v1/metrics/perf.py
    metric("vllm:estimated_read_bytes_per_gpu", COUNTER, "0.17.0"),  # v1/metrics/perf.py
    metric("vllm:estimated_write_bytes_per_gpu", COUNTER, "0.17.0"),  # v1/metrics/perf.py
    metric("vllm:external_prefix_cache_hits", COUNTER, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:external_prefix_cache_queries", COUNTER, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:generation_tokens", COUNTER, "0.6.0"),  # engine/metrics.py
    metric(
        "vllm:gpu_cache_usage_perc", GAUGE, "0.6.0", "0.12.0", hidden="0.11.1", now="vllm:kv_cache_usage_perc"
    ),  # engine/metrics.py
    metric(
        "vllm:gpu_prefix_cache_hit_rate", GAUGE, "0.6.0", "0.9.1", hidden="0.8.3", now="vllm:prefix_cache_hits"
    ),  # engine/metrics.py
    metric(
        "vllm:gpu_prefix_cache_hits", COUNTER, "0.7.3", "0.12.0", hidden="0.11.0", now="vllm:prefix_cache_hits"
    ),  # v1/metrics/loggers.py
    metric(
        "vllm:gpu_prefix_cache_queries", COUNTER, "0.7.3", "0.12.0", hidden="0.11.0", now="vllm:prefix_cache_queries"
    ),  # v1/metrics/loggers.py
    metric(
        "vllm:hf3fs_load_duration_seconds", HISTOGRAM, "0.20.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hf3fs/hf3fs_connector.py
    metric(
        "vllm:hf3fs_num_failed_load", COUNTER, "0.20.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hf3fs/hf3fs_connector.py
    metric(
        "vllm:hf3fs_num_failed_save", COUNTER, "0.20.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hf3fs/hf3fs_connector.py
    metric(
        "vllm:hf3fs_save_duration_seconds", HISTOGRAM, "0.20.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hf3fs/hf3fs_connector.py
    metric("vllm:hisparse_cache_hits", COUNTER, "0.32.0"),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_cache_misses", COUNTER, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_host_block_idle_before_evict_seconds", HISTOGRAM, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_host_block_lifetime_seconds", HISTOGRAM, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_host_block_reuse_gap_seconds", HISTOGRAM, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_host_cache_usage_perc", GAUGE, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_host_to_device_bytes", COUNTER, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric(
        "vllm:hisparse_pending_page_transfers", GAUGE, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/hisparse/stats.py
    metric("vllm:inter_token_latency_seconds", HISTOGRAM, "0.10.2"),  # engine/metrics.py
    metric("vllm:iteration_tokens_total", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:kv_block_idle_before_evict_seconds", HISTOGRAM, "0.12.0"),  # v1/metrics/loggers.py
    metric("vllm:kv_block_lifetime_seconds", HISTOGRAM, "0.12.0"),  # v1/metrics/loggers.py
    metric("vllm:kv_block_reuse_gap_seconds", HISTOGRAM, "0.12.0"),  # v1/metrics/loggers.py
    metric("vllm:kv_cache_usage_perc", GAUGE, "0.9.2"),  # v1/metrics/loggers.py
    metric(
        "vllm:kv_offload_allocation_failure", COUNTER, "0.26.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric("vllm:kv_offload_cpu_allocation_size", HISTOGRAM, "0.26.0"),  # v1/kv_offload/cpu/common.py
    metric("vllm:kv_offload_cpu_cache_read_usage_perc", GAUGE, "0.26.0"),  # v1/kv_offload/cpu/common.py
    metric("vllm:kv_offload_cpu_cache_usage_perc", GAUGE, "0.24.0"),  # v1/kv_offload/cpu/common.py
    metric("vllm:kv_offload_cpu_cache_write_usage_perc", GAUGE, "0.26.0"),  # v1/kv_offload/cpu/common.py
    metric(
        "vllm:kv_offload_load_bytes", COUNTER, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_load_size", HISTOGRAM, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_load_time", COUNTER, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_lookup_async_delay_seconds", HISTOGRAM, "0.26.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_lookup_sync_delay_seconds", HISTOGRAM, "0.26.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_size", HISTOGRAM, "0.16.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading_connector.py
    metric(
        "vllm:kv_offload_store_bytes", COUNTER, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_store_size", HISTOGRAM, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric(
        "vllm:kv_offload_store_time", COUNTER, "0.24.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading/metrics.py
    metric("vllm:kv_offload_stores_skipped", COUNTER, "0.24.0"),  # v1/kv_offload/cpu/common.py
    metric("vllm:kv_offload_tiering_active_cascade_jobs", GAUGE, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_active_promotion_jobs", GAUGE, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_backpressure_blocks_dropped", COUNTER, "0.31.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_backpressure_store_latency_ema", GAUGE, "0.31.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_backpressure_stores_dropped", COUNTER, "0.31.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_cascade_job_failures", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_chunk_hits", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_chunk_queries", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_lookup_async_delay_seconds", HISTOGRAM, "0.26.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_lookup_sync_delay_seconds", HISTOGRAM, "0.26.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_primary_read_usage_perc", GAUGE, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_primary_write_usage_perc", GAUGE, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_promotion_allocation_failures", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_promotion_job_failures", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_read_bytes", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_read_time", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_write_bytes", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric("vllm:kv_offload_tiering_write_time", COUNTER, "0.28.0"),  # v1/kv_offload/tiering/base.py
    metric(
        "vllm:kv_offload_total_bytes", COUNTER, "0.16.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading_connector.py
    metric(
        "vllm:kv_offload_total_time", COUNTER, "0.16.0"
    ),  # distributed/kv_transfer/kv_connector/v1/offloading_connector.py
    metric("vllm:lora_requests_info", GAUGE, "0.6.4"),  # engine/metrics.py
    metric("vllm:mm_cache_hits", COUNTER, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:mm_cache_queries", COUNTER, "0.11.1"),  # v1/metrics/loggers.py
    metric("vllm:model_execute_time_milliseconds", HISTOGRAM, "0.6.4", "0.9.1", hidden="0.8.3"),  # engine/metrics.py
    metric("vllm:model_forward_time_milliseconds", HISTOGRAM, "0.6.4", "0.9.1", hidden="0.8.3"),  # engine/metrics.py
    metric(
        "vllm:mooncake_store_operation", COUNTER, "0.22.0"
    ),  # distributed/kv_transfer/kv_connector/v1/mooncake/store/metrics.py
    metric(
        "vllm:mooncake_store_operation_bytes", COUNTER, "0.22.0"
    ),  # distributed/kv_transfer/kv_connector/v1/mooncake/store/metrics.py
    metric(
        "vllm:mooncake_store_operation_failed_keys", COUNTER, "0.22.0"
    ),  # distributed/kv_transfer/kv_connector/v1/mooncake/store/metrics.py
    metric(
        "vllm:mooncake_store_operation_keys", COUNTER, "0.22.0"
    ),  # distributed/kv_transfer/kv_connector/v1/mooncake/store/metrics.py
    metric(
        "vllm:mooncake_store_operation_time_seconds", HISTOGRAM, "0.22.0"
    ),  # distributed/kv_transfer/kv_connector/v1/mooncake/store/metrics.py
    metric(
        "vllm:nixl_bytes_transferred", HISTOGRAM, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_num_descriptors", HISTOGRAM, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_num_failed_notifications", COUNTER, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_num_failed_transfers", COUNTER, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_num_kv_expired_reqs", COUNTER, "0.15.0"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_num_notifications_after_expiry", COUNTER, "0.32.0"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl/stats.py
    metric(
        "vllm:nixl_post_time_seconds", HISTOGRAM, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric(
        "vllm:nixl_xfer_time_seconds", HISTOGRAM, "0.11.1"
    ),  # distributed/kv_transfer/kv_connector/v1/nixl_connector.py
    metric("vllm:num_preemptions", COUNTER, "0.6.0"),  # engine/metrics.py
    metric("vllm:num_requests_kv_fetch_by_stage", GAUGE, "0.32.0"),  # v1/metrics/loggers.py
    metric("vllm:num_requests_running", GAUGE, "0.6.0"),  # engine/metrics.py
    metric("vllm:num_requests_swapped", GAUGE, "0.6.0", "0.9.1", hidden="0.8.3"),  # engine/metrics.py
    metric("vllm:num_requests_waiting", GAUGE, "0.6.0"),  # engine/metrics.py
    metric("vllm:num_requests_waiting_by_reason", GAUGE, "0.20.0"),  # v1/metrics/loggers.py
    metric("vllm:prefix_cache_hits", COUNTER, "0.9.2"),  # v1/metrics/loggers.py
    metric("vllm:prefix_cache_queries", COUNTER, "0.9.2"),  # v1/metrics/loggers.py
    metric("vllm:prompt_tokens", COUNTER, "0.6.0"),  # engine/metrics.py
    metric("vllm:prompt_tokens_by_source", COUNTER, "0.16.0"),  # v1/metrics/loggers.py
    metric("vllm:prompt_tokens_cached", COUNTER, "0.16.0"),  # v1/metrics/loggers.py
    metric("vllm:prompt_tokens_cached_by_source", COUNTER, "0.32.0"),  # v1/metrics/loggers.py
    metric("vllm:prompt_tokens_recomputed", COUNTER, "0.16.0", "0.20.0"),  # v1/metrics/loggers.py
    metric("vllm:request_decode_time_seconds", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_generation_tokens", HISTOGRAM, "0.6.0"),  # engine/metrics.py
    metric("vllm:request_inference_time_seconds", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_max_num_generation_tokens", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_num_preemptions", HISTOGRAM, "0.30.0"),  # v1/metrics/loggers.py
    metric("vllm:request_params_best_of", HISTOGRAM, "0.6.0", "0.6.3"),  # engine/metrics.py
    metric("vllm:request_params_max_tokens", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_params_n", HISTOGRAM, "0.6.0"),  # engine/metrics.py
    metric("vllm:request_prefill_kv_computed_tokens", HISTOGRAM, "0.13.0"),  # v1/metrics/loggers.py
    metric("vllm:request_prefill_time_seconds", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_prompt_tokens", HISTOGRAM, "0.6.0"),  # engine/metrics.py
    metric("vllm:request_queue_time_seconds", HISTOGRAM, "0.6.4"),  # engine/metrics.py
    metric("vllm:request_success", COUNTER, "0.6.0"),  # engine/metrics.py
    metric("vllm:request_time_per_output_token_seconds", HISTOGRAM, "0.11.0"),  # v1/metrics/loggers.py
    metric("vllm:rl_weight_update_operation_duration_seconds", HISTOGRAM, "0.32.0"),  # entrypoints/rl/online/metrics.py
    metric("vllm:rl_weight_update_operations_in_flight", GAUGE, "0.32.0"),  # entrypoints/rl/online/metrics.py
    metric("vllm:simple_kv_offload_info", GAUGE, "0.31.0"),  # v1/simple_kv_offload/metrics.py
    metric("vllm:simple_kv_offload_load_blocks", COUNTER, "0.31.0"),  # v1/simple_kv_offload/metrics.py
    metric("vllm:simple_kv_offload_pending_store_blocks", GAUGE, "0.31.0"),  # v1/simple_kv_offload/metrics.py
    metric("vllm:simple_kv_offload_save_outcomes", COUNTER, "0.31.0"),  # v1/simple_kv_offload/metrics.py
    metric("vllm:simple_kv_offload_used_blocks", GAUGE, "0.31.0"),  # v1/simple_kv_offload/metrics.py
    metric("vllm:sleep_mode_operation_duration_seconds", HISTOGRAM, "0.32.0"),  # entrypoints/serve/dev/sleep/metrics.py
    metric("vllm:sleep_mode_operations_in_flight", GAUGE, "0.32.0"),  # entrypoints/serve/dev/sleep/metrics.py
    metric("vllm:spec_decode_draft_acceptance_rate", GAUGE, "0.6.0", "0.10.0"),  # engine/metrics.py
    metric("vllm:spec_decode_efficiency", GAUGE, "0.6.0", "0.10.0"),  # engine/metrics.py
    metric("vllm:spec_decode_num_accepted_tokens", COUNTER, "0.6.0"),  # engine/metrics.py
    metric("vllm:spec_decode_num_accepted_tokens_per_pos", COUNTER, "0.8.5"),  # v1/spec_decode/metrics.py
    metric("vllm:spec_decode_num_draft_tokens", COUNTER, "0.6.0"),  # engine/metrics.py
    metric("vllm:spec_decode_num_drafts", COUNTER, "0.8.5"),  # v1/spec_decode/metrics.py
    metric("vllm:spec_decode_num_emitted_tokens", COUNTER, "0.6.0", "0.10.0"),  # engine/metrics.py
    metric(
        "vllm:time_in_queue_requests",
        HISTOGRAM,
        "0.6.4",
        "0.9.1",
        hidden="0.8.3",
        now="vllm:request_queue_time_seconds",
    ),  # engine/metrics.py
    metric(
        "vllm:time_per_output_token_seconds",
        HISTOGRAM,
        "0.6.0",
        "0.15.0",
        hidden="0.12.0",
        now="vllm:inter_token_latency_seconds",
    ),  # engine/metrics.py
    metric("vllm:time_to_first_token_seconds", HISTOGRAM, "0.6.0"),  # engine/metrics.py
    metric("vllm:tokens", COUNTER, "0.6.4", "0.8.0"),  # engine/metrics.py
    metric("vllm:tool_call_parser_invocations", COUNTER, "0.24.0"),  # parser/metrics.py
    metric("vllm:watermark_requests", COUNTER, "0.32.0"),  # v1/metrics/loggers.py
    metric("vllm:websocket_connection_duration_seconds", HISTOGRAM, "0.18.0"),  # entrypoints/openai/realtime/metrics.py
    metric("vllm:websocket_connections", COUNTER, "0.18.0"),  # entrypoints/openai/realtime/metrics.py
    metric("vllm:websocket_connections_active", GAUGE, "0.18.0"),  # entrypoints/openai/realtime/metrics.py
)
