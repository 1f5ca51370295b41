"""Flags of the server around the engine, and of the ranks that `vllm serve` starts.

One line per flag: its name, what it takes, the release that brought it and the first without it, and the file, below
`vllm/`, where it can be seen in the release that brought it. The engine tests hold this against every release.
"""

from typing import Final

from oomph.engines.vllm.flags.flag import CHOICE, FRACTION, JSON, SWITCH, TEXT, WHOLE, Flag, flag

SERVER: Final[tuple[Flag, ...]] = (
    flag("--allow-credentials", SWITCH, "0.6.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--allowed-headers", JSON, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--allowed-methods", JSON, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--allowed-origins", JSON, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--anthropic-disabled-thinking-effort", CHOICE, "0.31.0"),  # entrypoints/launchers/cli_args.py
    flag("--api-key", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--api-server-count", WHOLE, "0.9.1", short={"-asc": "0.9.1"}),  # entrypoints/cli/serve.py
    flag("--chat-template", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--chat-template-content-format", CHOICE, "0.6.5"),  # entrypoints/openai/cli_args.py
    flag("--cohere-format", TEXT, "0.27.0"),  # entrypoints/openai/cli_args.py
    flag("--cohere-is-reasoning-model", SWITCH, "0.27.0", no="0.27.0"),  # entrypoints/openai/cli_args.py
    flag("--config", TEXT, "0.6.0"),  # scripts.py
    flag("--data-parallel-supervisor-port", WHOLE, "0.22.0"),  # entrypoints/openai/cli_args.py
    flag("--default-chat-template-kwargs", JSON, "0.14.0"),  # entrypoints/openai/cli_args.py
    flag("--disable-access-log-for-endpoints", TEXT, "0.16.0"),  # entrypoints/openai/cli_args.py
    flag("--disable-fastapi-docs", SWITCH, "0.6.2", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag(
        "--disable-frontend-multiprocessing", SWITCH, "0.6.0", "0.19.0", no="0.10.0"
    ),  # entrypoints/openai/cli_args.py
    flag("--disable-uvicorn-access-log", SWITCH, "0.8.2", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--dp-supervisor-probe-failure-threshold", WHOLE, "0.22.0"),  # entrypoints/openai/cli_args.py
    flag("--dp-supervisor-probe-interval-s", FRACTION, "0.22.0"),  # entrypoints/openai/cli_args.py
    flag("--dp-supervisor-probe-timeout-s", FRACTION, "0.22.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-auto-tool-choice", SWITCH, "0.6.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-flash-late-interaction", SWITCH, "0.20.0", no="0.20.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-force-include-usage", SWITCH, "0.9.2", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-log-deltas", SWITCH, "0.14.0", no="0.14.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-log-outputs", SWITCH, "0.10.1", no="0.10.1"),  # entrypoints/openai/cli_args.py
    flag("--enable-offline-docs", SWITCH, "0.14.0", no="0.14.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-per-request-metrics", SWITCH, "0.25.0", no="0.25.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-prompt-tokens-details", SWITCH, "0.6.4", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-request-id-headers", SWITCH, "0.6.6", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-scale-out", SWITCH, "0.30.0", no="0.30.0"),  # entrypoints/launchers/cli_args.py
    flag("--enable-server-load-tracking", SWITCH, "0.8.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-ssl-refresh", SWITCH, "0.8.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--enable-tokenizer-info-endpoint", SWITCH, "0.10.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--exclude-tools-when-tool-choice-none", SWITCH, "0.10.1", no="0.10.1"),  # entrypoints/openai/cli_args.py
    flag("--expand-tools-even-if-tool-choice-none", SWITCH, "0.9.2", "0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--fingerprint-mode", CHOICE, "0.21.0"),  # entrypoints/openai/cli_args.py
    flag("--fingerprint-value", TEXT, "0.21.0"),  # entrypoints/openai/cli_args.py
    flag("--grpc", SWITCH, "0.18.0"),  # entrypoints/cli/serve.py
    flag("--grpc-port", WHOLE, "0.32.0"),  # entrypoints/launchers/cli_args.py
    flag("--h11-max-header-count", WHOLE, "0.10.1.1"),  # entrypoints/openai/cli_args.py
    flag("--h11-max-incomplete-event-size", WHOLE, "0.10.1.1"),  # entrypoints/openai/cli_args.py
    flag("--headless", SWITCH, "0.9.0"),  # entrypoints/cli/serve.py
    flag("--host", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--log-error-stack", SWITCH, "0.10.2", no="0.10.2"),  # entrypoints/openai/cli_args.py
    flag("--lora-modules", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--max-log-len", WHOLE, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--middleware", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--port", WHOLE, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--prompt-adapters", TEXT, "0.6.0", "0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--response-role", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--return-tokens-as-token-ids", SWITCH, "0.6.0", no="0.10.0"),  # entrypoints/openai/cli_args.py
    flag("--root-path", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--sse-keep-alive-interval", WHOLE, "0.29.0"),  # entrypoints/launchers/cli_args.py
    flag("--ssl-ca-certs", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--ssl-cert-reqs", WHOLE, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--ssl-certfile", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--ssl-ciphers", TEXT, "0.15.0"),  # entrypoints/openai/cli_args.py
    flag("--ssl-keyfile", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--tokens-only", SWITCH, "0.11.1", no="0.11.1"),  # entrypoints/openai/cli_args.py
    flag("--tool-call-parser", TEXT, "0.6.0"),  # entrypoints/openai/cli_args.py
    flag("--tool-parser-plugin", TEXT, "0.6.3"),  # entrypoints/openai/cli_args.py
    flag("--tool-server", TEXT, "0.10.1"),  # entrypoints/openai/cli_args.py
    flag("--tool-strict-level", CHOICE, "0.31.0"),  # entrypoints/launchers/cli_args.py
    flag("--trust-request-chat-template", SWITCH, "0.11.0", no="0.11.0"),  # entrypoints/openai/cli_args.py
    flag("--trust-request-mm-kwargs", SWITCH, "0.31.0", no="0.31.0"),  # entrypoints/launchers/cli_args.py
    flag("--uds", TEXT, "0.10.1"),  # entrypoints/openai/cli_args.py
    flag("--use-gpu-for-pooling-score", SWITCH, "0.17.0", "0.18.0", no="0.17.0"),  # entrypoints/openai/cli_args.py
    flag("--uvicorn-log-level", CHOICE, "0.6.0"),  # entrypoints/openai/cli_args.py
)
