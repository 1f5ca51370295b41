"""Flags of the engine itself, which every way to start it takes.

One line per flag: its name, what it takes, the release that brought it and the first without it, and the file, below
`vllm/`, where it can be seen in the release that brought it. The engine tests hold this against every release.
"""

from typing import Final

from oomph.engines.vllm.flags.flag import CHOICE, FRACTION, HUMAN, JSON, SWITCH, TEXT, WHOLE, Flag, flag

ENGINE: Final[tuple[Flag, ...]] = (
    flag("--additional-config", JSON, "0.7.3"),  # engine/arg_utils.py
    flag("--aggregate-engine-logging", SWITCH, "0.11.1"),  # engine/arg_utils.py
    flag("--all2all-backend", CHOICE, "0.11.1"),  # engine/arg_utils.py
    flag("--allow-deprecated-quantization", SWITCH, "0.14.0", no="0.14.0"),  # engine/arg_utils.py
    flag("--allowed-local-media-path", TEXT, "0.6.4"),  # engine/arg_utils.py
    flag("--allowed-media-domains", TEXT, "0.11.0"),  # engine/arg_utils.py
    flag("--async-scheduling", SWITCH, "0.10.0", no="0.10.0"),  # engine/arg_utils.py
    flag("--attention-backend", TEXT, "0.13.0"),  # engine/arg_utils.py
    flag("--attention-config", JSON, "0.13.0", short={"-ac": "0.13.0"}),  # engine/arg_utils.py
    flag("--aux-output-config", JSON, "0.31.0"),  # engine/arg_utils.py
    flag("--block-size", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--calculate-kv-scales", SWITCH, "0.7.0", "0.28.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--chat-template-text-format", CHOICE, "0.6.4", "0.6.5"),  # engine/arg_utils.py
    flag("--code-revision", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--collect-detailed-traces", CHOICE, "0.6.0"),  # engine/arg_utils.py
    flag(
        "--compilation-config", JSON, "0.6.5", short={"-O": ("0.6.5", "0.12.0"), "-cc": "0.12.0"}
    ),  # engine/arg_utils.py
    flag("--config-format", TEXT, "0.6.1"),  # engine/arg_utils.py
    flag("--convert", CHOICE, "0.10.1"),  # engine/arg_utils.py
    flag("--cp-kv-cache-interleave-size", WHOLE, "0.12.0"),  # engine/arg_utils.py
    flag("--cpu-distributed-timeout-seconds", WHOLE, "0.22.0"),  # engine/arg_utils.py
    flag("--cpu-offload-gb", FRACTION, "0.6.0"),  # engine/arg_utils.py
    flag("--cpu-offload-params", TEXT, "0.17.0"),  # engine/arg_utils.py
    flag("--cuda-graph-sizes", WHOLE, "0.9.0", "0.13.0", now="--cudagraph-capture-sizes"),  # engine/arg_utils.py
    flag("--cudagraph-capture-sizes", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag("--cudagraph-metrics", SWITCH, "0.13.0", no="0.13.0"),  # engine/arg_utils.py
    flag("--custom-histogram-buckets", JSON, "0.32.0"),  # engine/arg_utils.py
    flag("--data-parallel-address", TEXT, "0.9.0", short={"-dpa": "0.9.0"}),  # engine/arg_utils.py
    flag("--data-parallel-backend", TEXT, "0.9.1", short={"-dpb": "0.9.1"}),  # engine/arg_utils.py
    flag("--data-parallel-external-lb", SWITCH, "0.11.1", no="0.11.1", short={"-dpe": "0.11.1"}),  # engine/arg_utils.py
    flag("--data-parallel-hybrid-lb", SWITCH, "0.10.0", no="0.10.0", short={"-dph": "0.11.1"}),  # engine/arg_utils.py
    flag("--data-parallel-multi-port-external-lb", SWITCH, "0.22.0", short={"-dpm": "0.22.0"}),  # engine/arg_utils.py
    flag("--data-parallel-rank", WHOLE, "0.9.2", short={"-dpn": "0.9.2"}),  # engine/arg_utils.py
    flag("--data-parallel-rpc-port", WHOLE, "0.9.0", short={"-dpp": "0.9.0"}),  # engine/arg_utils.py
    flag("--data-parallel-size", WHOLE, "0.8.3", short={"-dp": "0.8.3"}),  # engine/arg_utils.py
    flag("--data-parallel-size-local", WHOLE, "0.9.0", short={"-dpl": "0.9.0"}),  # engine/arg_utils.py
    flag("--data-parallel-start-rank", WHOLE, "0.9.0", short={"-dpr": "0.9.0"}),  # entrypoints/cli/serve.py
    flag("--dbo-decode-token-threshold", WHOLE, "0.11.0"),  # engine/arg_utils.py
    flag("--dbo-prefill-token-threshold", WHOLE, "0.11.0"),  # engine/arg_utils.py
    flag("--dcp-comm-backend", CHOICE, "0.18.0"),  # engine/arg_utils.py
    flag("--dcp-kv-cache-interleave-size", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag("--dcp-q-replicate", SWITCH, "0.29.0", no="0.29.0"),  # engine/arg_utils.py
    flag("--decode-context-parallel-size", WHOLE, "0.10.2", short={"-dcp": "0.10.2"}),  # engine/arg_utils.py
    flag("--default-mm-loras", JSON, "0.10.0"),  # engine/arg_utils.py
    flag("--device", TEXT, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--device-ids", TEXT, "0.24.0"),  # engine/arg_utils.py
    flag("--diffusion-config", JSON, "0.24.0", short={"-dc": "0.24.0"}),  # engine/arg_utils.py
    flag("--disable-async-output-proc", SWITCH, "0.6.0", "0.11.0"),  # engine/arg_utils.py
    flag("--disable-cascade-attn", SWITCH, "0.8.2", no="0.9.0"),  # engine/arg_utils.py
    flag("--disable-chunked-mm-input", SWITCH, "0.8.4", no="0.8.5"),  # engine/arg_utils.py
    flag("--disable-custom-all-reduce", SWITCH, "0.6.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--disable-hybrid-kv-cache-manager", SWITCH, "0.9.1", no="0.9.1"),  # engine/arg_utils.py
    flag(
        "--disable-log-requests", SWITCH, "0.6.0", "0.17.0", no="0.10.1", now="--enable-log-requests"
    ),  # engine/arg_utils.py
    flag("--disable-log-stats", SWITCH, "0.6.0"),  # engine/arg_utils.py
    flag(
        "--disable-logprobs-during-spec-decoding", SWITCH, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag(
        "--disable-mm-preprocessor-cache",
        SWITCH,
        "0.6.6",
        "0.13.0",
        no=("0.9.0", "0.10.1"),
        now="--mm-processor-cache-gb",
    ),  # engine/arg_utils.py
    flag("--disable-nccl-for-dp-synchronization", SWITCH, "0.11.1", no="0.11.1"),  # engine/arg_utils.py
    flag("--disable-sliding-window", SWITCH, "0.6.0", no="0.9.0"),  # engine/arg_utils.py
    flag("--distributed-executor-backend", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--distributed-timeout-seconds", WHOLE, "0.18.0"),  # engine/arg_utils.py
    flag("--download-dir", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--dp-sync-interval", WHOLE, "0.30.0"),  # engine/arg_utils.py
    flag("--dtype", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--ec-manager-config", JSON, "0.28.0"),  # engine/arg_utils.py
    flag("--ec-transfer-config", JSON, "0.11.1"),  # engine/arg_utils.py
    flag("--elastic-ep-max-dp-size", WHOLE, "0.30.0"),  # engine/arg_utils.py
    flag("--enable-batch-sharded-sampling", SWITCH, "0.29.0", no="0.29.0"),  # engine/arg_utils.py
    flag("--enable-bf16x3-router-gemm", SWITCH, "0.26.0", "0.30.0", no="0.26.0"),  # engine/arg_utils.py
    flag("--enable-chunked-prefill", SWITCH, "0.6.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--enable-cumem-allocator", SWITCH, "0.22.0", no="0.22.0"),  # engine/arg_utils.py
    flag("--enable-dbo", SWITCH, "0.11.0", no="0.11.0"),  # engine/arg_utils.py
    flag("--enable-elastic-ep", SWITCH, "0.17.0", no="0.17.0"),  # engine/arg_utils.py
    flag("--enable-ep-weight-filter", SWITCH, "0.18.0", no="0.18.0"),  # engine/arg_utils.py
    flag("--enable-eplb", SWITCH, "0.9.2", no="0.9.2"),  # engine/arg_utils.py
    flag("--enable-expert-parallel", SWITCH, "0.8.0", no="0.8.5", short={"-ep": "0.14.0"}),  # engine/arg_utils.py
    flag("--enable-fault-tolerance", SWITCH, "0.27.0", no="0.27.0"),  # engine/arg_utils.py
    flag("--enable-flashinfer-autotune", SWITCH, "0.16.0", no="0.16.0"),  # engine/arg_utils.py
    flag("--enable-hc-sp", SWITCH, "0.32.0", no="0.32.0"),  # engine/arg_utils.py
    flag("--enable-layerwise-nvtx-tracing", SWITCH, "0.13.0", no="0.13.0"),  # engine/arg_utils.py
    flag("--enable-log-requests", SWITCH, "0.10.1", no="0.10.1"),  # engine/arg_utils.py
    flag("--enable-logging-iteration-details", SWITCH, "0.14.0", no="0.14.0"),  # engine/arg_utils.py
    flag("--enable-lora", SWITCH, "0.6.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--enable-lora-bias", SWITCH, "0.6.4", "0.11.1", no="0.8.5"),  # engine/arg_utils.py
    flag("--enable-mamba-cache-stochastic-rounding", SWITCH, "0.20.0", no="0.20.0"),  # engine/arg_utils.py
    flag(
        "--enable-mamba-fine-grained-prefix-cache",
        SWITCH,
        "0.30.0",
        "0.31.0",
        no="0.30.0",
        now="--enable-mamba-shared-prefix-checkpoint",
    ),  # engine/arg_utils.py
    flag("--enable-mamba-shared-prefix-checkpoint", SWITCH, "0.31.0", no="0.31.0"),  # engine/arg_utils.py
    flag("--enable-mfu-metrics", SWITCH, "0.14.0", no="0.14.0"),  # engine/arg_utils.py
    flag("--enable-mixed-moe-lora-format", SWITCH, "0.22.0", no="0.22.0"),  # engine/arg_utils.py
    flag("--enable-mm-embeds", SWITCH, "0.11.1", no="0.11.1"),  # engine/arg_utils.py
    flag("--enable-moe-shared-loras", SWITCH, "0.26.0", no="0.26.0"),  # engine/arg_utils.py
    flag(
        "--enable-multimodal-encoder-data-parallel",
        SWITCH,
        "0.9.1",
        "0.13.0",
        no=("0.9.1", "0.10.2"),
        now="--mm-encoder-tp-mode",
    ),  # engine/arg_utils.py
    flag("--enable-nccl-comm-suspend", SWITCH, "0.30.0", no="0.30.0"),  # engine/arg_utils.py
    flag("--enable-prefix-caching", SWITCH, "0.6.0", no="0.6.5"),  # engine/arg_utils.py
    flag("--enable-prompt-adapter", SWITCH, "0.6.0", "0.10.2", no=("0.8.5", "0.10.0")),  # engine/arg_utils.py
    flag("--enable-prompt-embeds", SWITCH, "0.9.0", no="0.9.0"),  # engine/arg_utils.py
    flag(
        "--enable-reasoning", SWITCH, "0.7.1", "0.10.0", no="0.9.0", now="--reasoning-parser"
    ),  # entrypoints/openai/cli_args.py
    flag("--enable-return-routed-experts", SWITCH, "0.14.0", no="0.14.0"),  # engine/arg_utils.py
    flag("--enable-shm-tensor-arena", SWITCH, "0.32.0", no="0.32.0"),  # engine/arg_utils.py
    flag("--enable-sleep-mode", SWITCH, "0.7.0", no="0.9.0"),  # engine/arg_utils.py
    flag("--enable-tower-connector-lora", SWITCH, "0.14.0", no="0.14.0"),  # engine/arg_utils.py
    flag("--enable-trace-replay", SWITCH, "0.29.0", no="0.29.0"),  # engine/arg_utils.py
    flag("--enforce-eager", SWITCH, "0.6.0", no="0.9.0"),  # engine/arg_utils.py
    flag("--engine-use-ray", SWITCH, "0.6.0", "0.6.1.post1"),  # engine/arg_utils.py
    flag("--engram-config", JSON, "0.30.0"),  # engine/arg_utils.py
    flag("--eplb-config", JSON, "0.10.2"),  # engine/arg_utils.py
    flag("--eplb-log-balancedness", SWITCH, "0.9.2", "0.12.0", no="0.9.2", now="--eplb-config"),  # engine/arg_utils.py
    flag("--eplb-step-interval", WHOLE, "0.9.2", "0.12.0", now="--eplb-config"),  # engine/arg_utils.py
    flag("--eplb-window-size", WHOLE, "0.9.2", "0.12.0", now="--eplb-config"),  # engine/arg_utils.py
    flag("--expert-placement-strategy", CHOICE, "0.11.0"),  # engine/arg_utils.py
    flag("--fail-on-environ-validation", SWITCH, "0.17.0", no="0.17.0"),  # engine/arg_utils.py
    flag("--fault-tolerance-config", JSON, "0.27.0"),  # engine/arg_utils.py
    flag("--fully-sharded-loras", SWITCH, "0.6.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--gdn-prefill-backend", CHOICE, "0.18.0"),  # engine/arg_utils.py
    flag("--generation-config", TEXT, "0.6.6"),  # engine/arg_utils.py
    flag(
        "--gpu-memory-utilization", FRACTION, "0.6.0", short={"--device-memory-utilization": "0.31.0"}
    ),  # engine/arg_utils.py
    flag(
        "--guided-decoding-backend", TEXT, "0.6.0", "0.12.0", now="--structured-outputs-config"
    ),  # engine/arg_utils.py
    flag(
        "--guided-decoding-disable-additional-properties",
        SWITCH,
        "0.9.0",
        "0.12.0",
        no=("0.9.0", "0.11.0"),
        now="--structured-outputs-config",
    ),  # engine/arg_utils.py
    flag(
        "--guided-decoding-disable-any-whitespace",
        SWITCH,
        "0.9.0",
        "0.12.0",
        no=("0.9.0", "0.11.0"),
        now="--structured-outputs-config",
    ),  # engine/arg_utils.py
    flag(
        "--guided-decoding-disable-fallback",
        SWITCH,
        "0.9.0",
        "0.12.0",
        no=("0.9.0", "0.11.0"),
        now="--structured-outputs-config",
    ),  # engine/arg_utils.py
    flag("--hf-config-path", TEXT, "0.8.0"),  # engine/arg_utils.py
    flag("--hf-overrides", JSON, "0.6.4"),  # engine/arg_utils.py
    flag("--hf-token", TEXT, "0.8.4"),  # engine/arg_utils.py
    flag("--ignore-patterns", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--interleave-mm-strings", SWITCH, "0.10.0", no="0.10.0"),  # engine/arg_utils.py
    flag("--io-processor-plugin", TEXT, "0.10.2"),  # engine/arg_utils.py
    flag("--ir-op-priority", JSON, "0.20.0"),  # engine/arg_utils.py
    flag("--jit-monitor-mode", CHOICE, "0.25.0"),  # engine/arg_utils.py
    flag("--jit-monitor-verbose", SWITCH, "0.24.0", no="0.24.0"),  # engine/arg_utils.py
    flag("--kda-decode-backend", CHOICE, "0.30.0"),  # engine/arg_utils.py
    flag("--kda-prefill-backend", CHOICE, "0.27.0"),  # engine/arg_utils.py
    flag("--kernel-config", JSON, "0.16.0"),  # engine/arg_utils.py
    flag("--kv-cache-dtype", CHOICE, "0.6.0"),  # engine/arg_utils.py
    flag("--kv-cache-dtype-skip-layers", TEXT, "0.19.0"),  # engine/arg_utils.py
    flag("--kv-cache-memory-bytes", HUMAN, "0.10.2"),  # engine/arg_utils.py
    flag("--kv-cache-metrics", SWITCH, "0.12.0", no="0.12.0"),  # engine/arg_utils.py
    flag("--kv-cache-metrics-sample", FRACTION, "0.12.0"),  # engine/arg_utils.py
    flag("--kv-events-config", JSON, "0.9.0"),  # engine/arg_utils.py
    flag("--kv-offloading-backend", CHOICE, "0.11.1"),  # engine/arg_utils.py
    flag("--kv-offloading-size", FRACTION, "0.11.1"),  # engine/arg_utils.py
    flag("--kv-sharing-fast-prefill", SWITCH, "0.10.1", no="0.10.1"),  # engine/arg_utils.py
    flag("--kv-transfer-config", JSON, "0.6.5"),  # engine/arg_utils.py
    flag("--language-model-only", SWITCH, "0.17.0", no="0.17.0"),  # engine/arg_utils.py
    flag("--limit-mm-per-prompt", JSON, "0.6.0"),  # engine/arg_utils.py
    flag("--linear-backend", CHOICE, "0.22.0"),  # engine/arg_utils.py
    flag("--load-format", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--log-config-file", TEXT, "0.9.1"),  # entrypoints/openai/cli_args.py
    flag("--log-level", CHOICE, "0.31.0"),  # engine/arg_utils.py
    flag("--logging-config", JSON, "0.31.0"),  # engine/arg_utils.py
    flag("--logits-processor-pattern", TEXT, "0.6.5", "0.17.0"),  # engine/arg_utils.py
    flag("--logits-processors", TEXT, "0.10.1"),  # engine/arg_utils.py
    flag("--logprobs-mode", CHOICE, "0.10.0"),  # engine/arg_utils.py
    flag("--long-lora-scaling-factors", FRACTION, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--long-prefill-token-threshold", WHOLE, "0.7.3"),  # engine/arg_utils.py
    flag("--long-prefill-token-threshold-adaptive", SWITCH, "0.31.0", no="0.31.0"),  # engine/arg_utils.py
    flag("--lora-dtype", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--lora-extra-vocab-size", CHOICE, "0.6.0", "0.12.0"),  # engine/arg_utils.py
    flag("--lora-target-modules", TEXT, "0.19.0"),  # engine/arg_utils.py
    flag("--mamba-backend", TEXT, "0.20.0"),  # engine/arg_utils.py
    flag("--mamba-block-size", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag("--mamba-cache-dtype", CHOICE, "0.10.1"),  # engine/arg_utils.py
    flag("--mamba-cache-mode", CHOICE, "0.15.0"),  # engine/arg_utils.py
    flag("--mamba-cache-philox-rounds", WHOLE, "0.20.0"),  # engine/arg_utils.py
    flag("--mamba-ssm-cache-dtype", CHOICE, "0.10.1"),  # engine/arg_utils.py
    flag("--mamba-ssu-algorithm", CHOICE, "0.27.0"),  # engine/arg_utils.py
    flag("--master-addr", TEXT, "0.11.1"),  # engine/arg_utils.py
    flag("--master-port", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag(
        "--max-context-len-to-capture", WHOLE, "0.6.0", "0.6.4", now="--max-seq-len-to-capture"
    ),  # engine/arg_utils.py
    flag("--max-cpu-loras", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-cudagraph-capture-size", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag("--max-logprobs", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-long-partial-prefills", WHOLE, "0.7.3", "0.27.0"),  # engine/arg_utils.py
    flag("--max-lora-cls-labels", WHOLE, "0.31.0"),  # engine/arg_utils.py
    flag("--max-lora-rank", CHOICE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-loras", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-model-len", HUMAN, "0.6.0"),  # engine/arg_utils.py
    flag("--max-num-active-seqs", WHOLE, "0.31.0"),  # engine/arg_utils.py
    flag("--max-num-batched-tokens", HUMAN, "0.6.0"),  # engine/arg_utils.py
    flag("--max-num-partial-prefills", WHOLE, "0.7.3", "0.27.0"),  # engine/arg_utils.py
    flag("--max-num-queued-reqs", WHOLE, "0.29.0"),  # engine/arg_utils.py
    flag("--max-num-queued-tokens", HUMAN, "0.29.0"),  # engine/arg_utils.py
    flag("--max-num-scheduled-tokens", HUMAN, "0.26.0"),  # engine/arg_utils.py
    flag("--max-num-seqs", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-parallel-loading-workers", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--max-prompt-adapter-token", WHOLE, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--max-prompt-adapters", WHOLE, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--max-seq-len-to-capture", WHOLE, "0.6.0", "0.11.0"),  # engine/arg_utils.py
    flag("--media-io-kwargs", JSON, "0.9.2"),  # engine/arg_utils.py
    flag("--mm-cache-preprocessor", SWITCH, "0.6.5", "0.6.6"),  # engine/arg_utils.py
    flag("--mm-device-do-normalize", SWITCH, "0.28.0", no="0.28.0"),  # engine/arg_utils.py
    flag("--mm-encoder-attn-backend", TEXT, "0.11.1"),  # engine/arg_utils.py
    flag("--mm-encoder-attn-dtype", CHOICE, "0.21.0"),  # engine/arg_utils.py
    flag("--mm-encoder-fp8-scale-path", TEXT, "0.21.0"),  # engine/arg_utils.py
    flag("--mm-encoder-fp8-scale-save-margin", FRACTION, "0.21.0"),  # engine/arg_utils.py
    flag("--mm-encoder-fp8-scale-save-path", TEXT, "0.21.0"),  # engine/arg_utils.py
    flag("--mm-encoder-only", SWITCH, "0.15.0", no="0.15.0"),  # engine/arg_utils.py
    flag("--mm-encoder-tp-mode", CHOICE, "0.10.2"),  # engine/arg_utils.py
    flag("--mm-hasher-algorithm", CHOICE, "0.27.0"),  # engine/arg_utils.py
    flag("--mm-ipc-gpu-memory-gb", FRACTION, "0.25.0"),  # engine/arg_utils.py
    flag("--mm-processor-cache-gb", FRACTION, "0.10.1"),  # engine/arg_utils.py
    flag("--mm-processor-cache-type", CHOICE, "0.11.0"),  # engine/arg_utils.py
    flag("--mm-processor-device", CHOICE, "0.28.0"),  # engine/arg_utils.py
    flag("--mm-processor-kwargs", JSON, "0.6.2"),  # engine/arg_utils.py
    flag("--mm-shm-cache-max-object-size-mb", WHOLE, "0.11.0"),  # engine/arg_utils.py
    flag("--mm-tensor-ipc", CHOICE, "0.19.0"),  # engine/arg_utils.py
    flag("--model", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--model-class-overrides", JSON, "0.25.0"),  # engine/arg_utils.py
    flag("--model-impl", TEXT, "0.7.2"),  # engine/arg_utils.py
    flag("--model-loader-extra-config", JSON, "0.6.0"),  # engine/arg_utils.py
    flag("--moe-backend", CHOICE, "0.17.0"),  # engine/arg_utils.py
    flag("--multi-step-stream-outputs", SWITCH, "0.6.2", "0.10.1", no="0.8.5"),  # engine/arg_utils.py
    flag("--ngram-prompt-lookup-max", WHOLE, "0.6.0", "0.8.3", now="--speculative-config"),  # engine/arg_utils.py
    flag("--ngram-prompt-lookup-min", WHOLE, "0.6.0", "0.8.3", now="--speculative-config"),  # engine/arg_utils.py
    flag("--nnodes", WHOLE, "0.11.1", short={"-n": "0.11.1"}),  # engine/arg_utils.py
    flag("--node-rank", WHOLE, "0.11.1", short={"-r": "0.11.1"}),  # engine/arg_utils.py
    flag("--num-gpu-blocks-override", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--num-lookahead-slots", WHOLE, "0.6.0", "0.12.0"),  # engine/arg_utils.py
    flag("--num-redundant-experts", WHOLE, "0.9.2", "0.12.0", now="--eplb-config"),  # engine/arg_utils.py
    flag("--num-scheduler-steps", WHOLE, "0.6.0", "0.10.1"),  # engine/arg_utils.py
    flag("--num-speculative-tokens", WHOLE, "0.6.0", "0.8.3", now="--speculative-config"),  # engine/arg_utils.py
    flag("--numa-bind", SWITCH, "0.20.0", no="0.20.0"),  # engine/arg_utils.py
    flag("--numa-bind-cpus", TEXT, "0.20.0"),  # engine/arg_utils.py
    flag("--numa-bind-nodes", WHOLE, "0.20.0"),  # engine/arg_utils.py
    flag("--offload-backend", CHOICE, "0.17.0"),  # engine/arg_utils.py
    flag("--offload-group-size", WHOLE, "0.17.0"),  # engine/arg_utils.py
    flag("--offload-num-in-group", WHOLE, "0.17.0"),  # engine/arg_utils.py
    flag("--offload-params", TEXT, "0.17.0"),  # engine/arg_utils.py
    flag("--offload-prefetch-step", WHOLE, "0.17.0"),  # engine/arg_utils.py
    flag("--optimization-level", TEXT, "0.12.0"),  # engine/arg_utils.py
    flag("--otlp-traces-endpoint", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--override-attention-dtype", TEXT, "0.9.2", "0.28.0"),  # engine/arg_utils.py
    flag("--override-generation-config", JSON, "0.7.1"),  # engine/arg_utils.py
    flag("--override-neuron-config", JSON, "0.6.0", "0.10.2", now="--additional-config"),  # engine/arg_utils.py
    flag("--override-pooler-config", JSON, "0.6.4", "0.12.0", now="--pooler-config"),  # engine/arg_utils.py
    flag("--per-request-spec-decode-metrics", CHOICE, "0.29.0"),  # engine/arg_utils.py
    flag("--performance-mode", CHOICE, "0.17.0"),  # engine/arg_utils.py
    flag("--pipeline-parallel-size", WHOLE, "0.6.0", short={"-pp": "0.6.0"}),  # engine/arg_utils.py
    flag("--pooler-config", JSON, "0.11.0"),  # engine/arg_utils.py
    flag("--preemption-mode", CHOICE, "0.6.0", "0.11.0"),  # engine/arg_utils.py
    flag("--prefill-context-parallel-size", WHOLE, "0.12.0", short={"-pcp": "0.12.0"}),  # engine/arg_utils.py
    flag("--prefill-schedule-interval", WHOLE, "0.24.0"),  # engine/arg_utils.py
    flag("--prefix-cache-retention-interval", WHOLE, "0.29.0"),  # engine/arg_utils.py
    flag("--prefix-caching-hash-algo", CHOICE, "0.8.3"),  # engine/arg_utils.py
    flag("--prefix-match-unit", WHOLE, "0.26.0"),  # engine/arg_utils.py
    flag("--profiler-config", JSON, "0.13.0"),  # engine/arg_utils.py
    flag("--pt-load-map-location", JSON, "0.9.0"),  # engine/arg_utils.py
    flag("--qlora-adapter-name-or-path", TEXT, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--quantization", TEXT, "0.6.0", short={"-q": "0.6.0"}),  # engine/arg_utils.py
    flag("--quantization-config", JSON, "0.22.0"),  # engine/arg_utils.py
    flag("--quantization-param-path", TEXT, "0.6.0", "0.7.0"),  # engine/arg_utils.py
    flag("--ray-workers-use-nsight", SWITCH, "0.6.0", no="0.8.5"),  # engine/arg_utils.py
    flag("--reasoning-config", JSON, "0.19.0"),  # engine/arg_utils.py
    flag("--reasoning-parser", TEXT, "0.7.1"),  # entrypoints/openai/cli_args.py
    flag("--reasoning-parser-plugin", TEXT, "0.11.1"),  # engine/arg_utils.py
    flag("--renderer-num-workers", WHOLE, "0.19.0"),  # engine/arg_utils.py
    flag("--replayssm-buffer-len", WHOLE, "0.27.0"),  # engine/arg_utils.py
    flag("--return-sampling-mask", SWITCH, "0.28.0", no="0.28.0"),  # engine/arg_utils.py
    flag("--revision", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--rope-scaling", JSON, "0.6.0", "0.11.1", now="--hf-overrides"),  # engine/arg_utils.py
    flag("--rope-theta", FRACTION, "0.6.0", "0.11.1", now="--hf-overrides"),  # engine/arg_utils.py
    flag("--runner", CHOICE, "0.10.1"),  # engine/arg_utils.py
    flag("--safetensors-load-strategy", CHOICE, "0.10.2"),  # engine/arg_utils.py
    flag("--safetensors-prefetch-block-size", HUMAN, "0.21.0"),  # engine/arg_utils.py
    flag("--safetensors-prefetch-num-threads", WHOLE, "0.21.0"),  # engine/arg_utils.py
    flag("--scheduler-cls", TEXT, "0.7.3"),  # engine/arg_utils.py
    flag("--scheduler-delay-factor", FRACTION, "0.6.0", "0.11.0"),  # engine/arg_utils.py
    flag("--scheduler-reserve-full-isl", SWITCH, "0.19.0", no="0.19.0"),  # engine/arg_utils.py
    flag("--scheduling-policy", CHOICE, "0.6.3"),  # engine/arg_utils.py
    flag("--seed", WHOLE, "0.6.0"),  # engine/arg_utils.py
    flag("--served-model-name", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--show-hidden-metrics-for-version", TEXT, "0.8.0"),  # engine/arg_utils.py
    flag("--shutdown-timeout", WHOLE, "0.18.0"),  # engine/arg_utils.py
    flag("--skip-mm-profiling", SWITCH, "0.10.1", no="0.10.1"),  # engine/arg_utils.py
    flag("--skip-tokenizer-init", SWITCH, "0.6.0", no="0.9.0"),  # engine/arg_utils.py
    flag("--sleep-mode-offload-cudagraph", SWITCH, "0.32.0", no="0.32.0"),  # engine/arg_utils.py
    flag("--sleep-preserve-parameter-names", TEXT, "0.31.0"),  # engine/arg_utils.py
    flag("--sparse-indexer-topk-backend", CHOICE, "0.30.0"),  # engine/arg_utils.py
    flag(
        "--spec-decoding-acceptance-method", CHOICE, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag("--spec-method", CHOICE, "0.22.0"),  # engine/arg_utils.py
    flag("--spec-model", TEXT, "0.22.0"),  # engine/arg_utils.py
    flag("--spec-tokens", WHOLE, "0.22.0"),  # engine/arg_utils.py
    flag("--specialize-active-lora", SWITCH, "0.16.0", no="0.16.0"),  # engine/arg_utils.py
    flag("--speculative-config", JSON, "0.8.2", short={"-sc": "0.19.0"}),  # engine/arg_utils.py
    flag(
        "--speculative-disable-by-batch-size", WHOLE, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag(
        "--speculative-disable-mqa-scorer", SWITCH, "0.6.3", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag(
        "--speculative-draft-tensor-parallel-size",
        WHOLE,
        "0.6.0",
        "0.8.3",
        short={"-spec-draft-tp": ("0.6.0", "0.8.3")},
        now="--speculative-config",
    ),  # engine/arg_utils.py
    flag("--speculative-max-model-len", WHOLE, "0.6.0", "0.8.3", now="--speculative-config"),  # engine/arg_utils.py
    flag("--speculative-model", TEXT, "0.6.0", "0.8.3", now="--speculative-config"),  # engine/arg_utils.py
    flag(
        "--speculative-model-quantization", CHOICE, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag("--stream-interval", WHOLE, "0.11.1"),  # engine/arg_utils.py
    flag("--structured-outputs-config", JSON, "0.11.0"),  # engine/arg_utils.py
    flag("--swa-bounded-replay", SWITCH, "0.31.0", no="0.31.0"),  # engine/arg_utils.py
    flag("--swap-space", FRACTION, "0.6.0", "0.18.0", now="--kv-offloading-size"),  # engine/arg_utils.py
    flag("--task", CHOICE, "0.6.4", "0.13.0", now="--runner"),  # engine/arg_utils.py
    flag("--tensor-parallel-size", WHOLE, "0.6.0", short={"-tp": "0.6.0"}),  # engine/arg_utils.py
    flag("--tokenizer", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--tokenizer-mode", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--tokenizer-pool-extra-config", JSON, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--tokenizer-pool-size", WHOLE, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--tokenizer-pool-type", TEXT, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--tokenizer-revision", TEXT, "0.6.0"),  # engine/arg_utils.py
    flag("--trust-remote-code", SWITCH, "0.6.0", no="0.9.0"),  # engine/arg_utils.py
    flag(
        "--typical-acceptance-sampler-posterior-alpha", FRACTION, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag(
        "--typical-acceptance-sampler-posterior-threshold", FRACTION, "0.6.0", "0.8.3", now="--speculative-config"
    ),  # engine/arg_utils.py
    flag("--ubatch-size", WHOLE, "0.14.0"),  # engine/arg_utils.py
    flag("--use-fp64-gumbel", SWITCH, "0.22.0", no="0.22.0"),  # engine/arg_utils.py
    flag("--use-replayssm", SWITCH, "0.27.0", no="0.27.0"),  # engine/arg_utils.py
    flag("--use-tqdm-on-load", SWITCH, "0.8.0", no="0.8.0"),  # engine/arg_utils.py
    flag("--use-v2-block-manager", SWITCH, "0.6.0", "0.10.0"),  # engine/arg_utils.py
    flag("--video-pruning-method", CHOICE, "0.27.0"),  # engine/arg_utils.py
    flag("--video-pruning-rate", FRACTION, "0.11.0"),  # engine/arg_utils.py
    flag("--watermark", FRACTION, "0.24.0"),  # engine/arg_utils.py
    flag("--watermark-config", JSON, "0.30.0"),  # engine/arg_utils.py
    flag("--weight-transfer-config", JSON, "0.16.0"),  # engine/arg_utils.py
    flag("--worker-cls", TEXT, "0.6.5"),  # engine/arg_utils.py
    flag("--worker-extension-cls", TEXT, "0.8.0"),  # engine/arg_utils.py
    flag("--worker-use-ray", SWITCH, "0.6.0", "0.7.0", now="--distributed-executor-backend"),  # engine/arg_utils.py
)
