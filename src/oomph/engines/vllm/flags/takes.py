"""What a flag takes where the table of flags does not say it all: several words, one or none, `32k`, one of a few.

Knows by release what the parser lets pass. Does not know what any value does. Of the flags with a fixed choice, those
stand here that move bytes; the others' words are passed on as they are.
"""

from collections.abc import Mapping
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.flags.flag import Flag


def several(flag: Flag, release: Release) -> bool:
    """Whether it takes all words up to the next flag."""
    return flag.name in _SEVERAL and _SEVERAL[flag.name].at(release)


def bare_or_said(flag: Flag, release: Release) -> bool:
    """Whether it may stand alone or be followed by a word, such as `False`."""
    return flag.name in _BARE_OR_SAID and _BARE_OR_SAID[flag.name].at(release)


def human(flag: Flag, release: Release) -> bool:
    """Whether 32k and 32K are understood."""
    return flag.name in _HUMAN and _HUMAN[flag.name].at(release)


def choice(flag: Flag, release: Release) -> tuple[str, ...]:
    """The only words that it takes; empty where any goes, or where they are not known."""
    return CHOICES[flag.name].at(release) if flag.name in CHOICES else ()


def _of(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_SEVERAL: Final[Mapping[str, Since[bool]]] = {
    "--allowed-media-domains": Since({"0.11.0": True}),  # engine/arg_utils.py
    "--api-key": Since(
        {
            "0.6.0": False,  # entrypoints/openai/cli_args.py
            "0.10.1": True,  # entrypoints/openai/cli_args.py
        }
    ),
    "--collect-detailed-traces": Since(
        {
            "0.6.0": False,  # engine/arg_utils.py
            "0.9.0": True,  # engine/arg_utils.py
        }
    ),
    "--cpu-offload-params": Since({"0.17.0": True}),  # engine/arg_utils.py
    "--cuda-graph-sizes": Since({"0.9.0": True}),  # engine/arg_utils.py
    "--cudagraph-capture-sizes": Since({"0.11.1": True}),  # engine/arg_utils.py
    "--ignore-patterns": Since(
        {
            "0.6.0": False,  # engine/arg_utils.py
            "0.9.0": True,  # engine/arg_utils.py
        }
    ),
    "--kv-cache-dtype-skip-layers": Since({"0.19.0": True}),  # engine/arg_utils.py
    "--logits-processors": Since({"0.10.1": True}),  # engine/arg_utils.py
    "--long-lora-scaling-factors": Since(
        {
            "0.6.0": False,  # engine/arg_utils.py
            "0.8.5": True,  # engine/arg_utils.py
        }
    ),
    "--lora-modules": Since({"0.6.0": True}),  # entrypoints/openai/cli_args.py
    "--lora-target-modules": Since({"0.19.0": True}),  # engine/arg_utils.py
    "--numa-bind-cpus": Since({"0.20.0": True}),  # engine/arg_utils.py
    "--numa-bind-nodes": Since({"0.20.0": True}),  # engine/arg_utils.py
    "--offload-params": Since({"0.17.0": True}),  # engine/arg_utils.py
    "--prompt-adapters": Since({"0.6.0": True}),  # entrypoints/openai/cli_args.py
    "--served-model-name": Since({"0.6.0": True}),  # engine/arg_utils.py
    "--sleep-preserve-parameter-names": Since({"0.31.0": True}),  # engine/arg_utils.py
}

_BARE_OR_SAID: Final[Mapping[str, Since[bool]]] = {
    "--disable-chunked-mm-input": Since(
        {
            "0.8.4": True,  # engine/arg_utils.py
            "0.8.5": False,  # engine/arg_utils.py
        }
    ),
    "--disable-logprobs-during-spec-decoding": Since({"0.6.0": True}),  # engine/arg_utils.py
    "--enable-chunked-prefill": Since(
        {
            "0.6.0": True,  # engine/arg_utils.py
            "0.8.5": False,  # engine/arg_utils.py
        }
    ),
    "--hf-token": Since({"0.8.4": True}),  # engine/arg_utils.py
    "--multi-step-stream-outputs": Since(
        {
            "0.6.2": False,  # engine/arg_utils.py
            "0.6.3": True,  # engine/arg_utils.py
            "0.8.5": False,  # engine/arg_utils.py
        }
    ),
}

_HUMAN: Final[Mapping[str, Since[bool]]] = {
    "--kv-cache-memory-bytes": Since({"0.10.2": True}),  # engine/arg_utils.py
    "--max-model-len": Since(
        {
            "0.6.0": False,  # engine/arg_utils.py
            "0.8.4": True,  # engine/arg_utils.py
        }
    ),
    "--max-num-batched-tokens": Since(
        {
            "0.6.0": False,  # engine/arg_utils.py
            "0.9.1": True,  # engine/arg_utils.py
        }
    ),
    "--max-num-queued-tokens": Since({"0.29.0": True}),  # engine/arg_utils.py
    "--max-num-scheduled-tokens": Since({"0.26.0": True}),  # engine/arg_utils.py
    "--safetensors-prefetch-block-size": Since({"0.21.0": True}),  # engine/arg_utils.py
}

length_can_be_auto: Final = Since(
    {
        "0.6.0": False,  # engine/arg_utils.py
        "0.14.0": True,  # utils/argparse_utils.py
    }
)

_PLAIN: Final = "auto float16 bfloat16 fp8 fp8_e4m3 fp8_e5m2 fp8_inc fp8_ds_mla"
_TURBO: Final = "turboquant_k8v4 turboquant_4bit_nc turboquant_k3v4_nc turboquant_3bit_nc"
_PER_HEAD: Final = "int8_per_token_head fp8_per_token_head nvfp4"

CHOICES: Final[Mapping[str, Since[tuple[str, ...]]]] = {
    "--block-size": Since(
        {
            "0.6.0": _of("8 16 32"),  # engine/arg_utils.py
            "0.6.4": _of("8 16 32 64 128"),  # engine/arg_utils.py
            "0.6.5": _of("8 16 32"),  # engine/arg_utils.py
            "0.6.6": _of("8 16 32 64 128"),  # engine/arg_utils.py
            "0.8.5": _of("1 8 16 32 64 128"),  # config.py
            "0.11.1": _of("1 8 16 32 64 128 256"),  # config/cache.py
            "0.18.0": (),  # config/cache.py
        }
    ),
    "--dtype": Since({"0.6.0": _of("auto half float16 bfloat16 float float32")}),  # engine/arg_utils.py
    "--kv-cache-dtype": Since(
        {
            "0.6.0": _of("auto fp8 fp8_e5m2 fp8_e4m3"),  # engine/arg_utils.py
            "0.10.0": _of("auto fp8 fp8_e4m3 fp8_e5m2 fp8_inc"),  # config.py
            "0.11.0": _of("auto bfloat16 fp8 fp8_e4m3 fp8_e5m2 fp8_inc"),  # config/cache.py
            "0.11.1": _of("auto bfloat16 fp8 fp8_e4m3 fp8_e5m2 fp8_inc fp8_ds_mla"),  # config/cache.py
            "0.18.0": _of(_PLAIN),  # config/cache.py
            "0.20.0": _of(f"{_PLAIN} {_TURBO} {_PER_HEAD}"),  # config/cache.py
            "0.25.0": _of(f"{_PLAIN} {_TURBO} {_PER_HEAD} int4_per_token_head"),  # config/cache.py
            "0.28.0": _of(f"{_PLAIN} {_TURBO} {_PER_HEAD} int4_per_token_head nvfp4_4over6"),  # config/cache.py
            "0.30.0": _of(
                f"{_PLAIN} {_TURBO} {_PER_HEAD} int4_per_token_head nvfp4_4over6 nvfp4_ds_mla"
            ),  # config/cache.py
            "0.32.0": _of(
                f"{_PLAIN} {_TURBO} {_PER_HEAD} int4_per_token_head nvfp4_4over6 nvfp4_ds_mla ultraquant_4bit"
            ),  # config/cache.py
        }
    ),
    "--mamba-cache-dtype": Since(
        {
            "0.10.1": _of("auto float32"),  # config/cache.py
            "0.13.0": _of("auto float32 float16"),  # config/cache.py
            "0.22.0": _of("auto float32 float16 bfloat16"),  # config/cache.py
        }
    ),
    "--mamba-cache-mode": Since(
        {
            "0.15.0": _of("all align none"),  # config/cache.py
            "0.32.0": _of("align none"),  # config/cache.py
        }
    ),
    "--mamba-ssm-cache-dtype": Since(
        {
            "0.10.1": _of("auto float32"),  # config/cache.py
            "0.13.0": _of("auto float32 float16"),  # config/cache.py
            "0.22.0": _of("auto float32 float16 bfloat16"),  # config/cache.py
        }
    ),
    "--max-lora-rank": Since(
        {
            "0.6.0": (),  # engine/arg_utils.py
            "0.11.1": _of("1 8 16 32 64 128 256 320 512"),  # config/lora.py
        }
    ),
    "--mm-encoder-tp-mode": Since({"0.10.2": _of("weights data")}),  # engine/arg_utils.py
    "--offload-backend": Since({"0.17.0": _of("auto uva prefetch")}),  # config/offload.py
    "--performance-mode": Since({"0.17.0": _of("balanced interactivity throughput")}),  # config/vllm.py
    "--runner": Since({"0.10.1": _of("auto generate pooling draft")}),  # engine/arg_utils.py
}
