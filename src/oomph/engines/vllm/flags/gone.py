"""What to tell who writes a flag that is gone, or that vLLM never had.

Knows sentences only; when a flag left stands in the tables, which name its successor too, where a flag took its place.
"""

from collections.abc import Mapping
from typing import Final

_ADAPTERS: Final = "prompt adapters were given up: LoRA adapters (--enable-lora) are what is left"
_TOKENIZERS: Final = "the pool of tokenizers was given up: there is nothing to write instead"
_PARTIAL: Final = (
    "several long prompts in one step were given up: "
    "--max-num-batched-tokens and --long-prefill-token-threshold divide it"
)

GONE: Final[Mapping[str, str]] = {
    "--calculate-kv-scales": "scales come from the checkpoint; fp8 keys and values without any are taken as they are",
    "--chat-template-text-format": "use --chat-template-content-format",
    "--cuda-graph-sizes": "use --cudagraph-capture-sizes, or --max-cudagraph-capture-size for the largest",
    "--device": "the platform is found by itself: leave it out, and choose GPUs with CUDA_VISIBLE_DEVICES",
    "--disable-async-output-proc": "it steered the old engine: leave it out",
    "--disable-frontend-multiprocessing": "server and engine are always two processes: leave it out",
    "--disable-log-requests": "requests are no longer logged unless --enable-log-requests asks for it: leave it out",
    "--enable-bf16x3-router-gemm": "leave it out",
    "--enable-lora-bias": "adapters with biases were given up: leave it out",
    "--enable-prompt-adapter": _ADAPTERS,
    "--enable-reasoning": "--reasoning-parser alone is enough",
    "--engine-use-ray": "use --distributed-executor-backend ray",
    "--expand-tools-even-if-tool-choice-none": "it is how tools are handled now: leave it out",
    "--logits-processor-pattern": "processors are named once, with --logits-processors",
    "--long-lora-scaling-factors": "long LoRA was given up: leave it out",
    "--lora-extra-vocab-size": "adapters may no longer add words to the vocabulary: leave it out",
    "--max-context-len-to-capture": "graphs are captured by batch size: use --max-cudagraph-capture-size",
    "--max-long-partial-prefills": _PARTIAL,
    "--max-num-partial-prefills": _PARTIAL,
    "--max-prompt-adapter-token": _ADAPTERS,
    "--max-prompt-adapters": _ADAPTERS,
    "--max-seq-len-to-capture": "graphs are captured by batch size, at any length: use --max-cudagraph-capture-size "
    "to have fewer and smaller ones",
    "--mm-cache-preprocessor": "use --mm-processor-cache-gb",
    "--multi-step-stream-outputs": "steps are no longer bundled: leave it out",
    "--num-lookahead-slots": "it follows from --speculative-config: leave it out",
    "--num-scheduler-steps": "steps are no longer bundled; --async-scheduling hides the scheduler's time instead",
    "--override-attention-dtype": "leave it out",
    "--preemption-mode": "requests that must wait are always computed again: leave it out",
    "--prompt-adapters": _ADAPTERS,
    "--qlora-adapter-name-or-path": "give the adapter with --enable-lora and --lora-modules",
    "--quantization-param-path": "scales come from the checkpoint: leave it out",
    "--scheduler-delay-factor": "it steered the old engine: leave it out",
    "--swap-space": "blocks are no longer swapped to the host, requests are computed again instead; "
    "it held host memory, none of the GPU's. To keep blocks on the host: --kv-offloading-size",
    "--task": "use --runner pooling, and --convert embed or classify, for a model that does not generate",
    "--tokenizer-pool-extra-config": _TOKENIZERS,
    "--tokenizer-pool-size": _TOKENIZERS,
    "--tokenizer-pool-type": _TOKENIZERS,
    "--use-gpu-for-pooling-score": "leave it out",
    "--use-v2-block-manager": "there is only one now: leave it out",
    "--worker-use-ray": "use --distributed-executor-backend ray",
}

# Found in guides, or in the manuals of other engines: what was meant.
NEVER: Final[Mapping[str, str]] = {
    "--chunked-prefill-size": "SGLang's name; in vLLM the tokens of a step are --max-num-batched-tokens",
    "--context-length": "SGLang's name; in vLLM it is --max-model-len",
    "--ctx-size": "llama.cpp's name; in vLLM it is --max-model-len",
    "--cuda-memory-fraction": "TGI's name; in vLLM it is --gpu-memory-utilization",
    "--disable-chunked-prefill": "write --no-enable-chunked-prefill",
    "--disable-cuda-graph": "SGLang's name; in vLLM it is --enforce-eager",
    "--disable-prefix-caching": "write --no-enable-prefix-caching",
    "--disable-radix-cache": "SGLang's name; in vLLM it is --no-enable-prefix-caching",
    "--gpu-memory-fraction": "it is --gpu-memory-utilization",
    "--gpu-memory-limit": "vLLM takes a share of the device, --gpu-memory-utilization, "
    "or the size of the KV pool, --kv-cache-memory-bytes",
    "--kv-cache-size": "the size of the KV pool is --kv-cache-memory-bytes",
    "--load-in-4bit": "transformers' name; in vLLM it is --quantization bitsandbytes",
    "--load-in-8bit": "transformers' name; in vLLM it is --quantization fp8, or a checkpoint that is stored so",
    "--max-batch-prefill-tokens": "TGI's name; in vLLM it is --max-num-batched-tokens",
    "--max-batch-size": "the most sequences in one step are --max-num-seqs",
    "--max-concurrent-requests": "TGI's name; in vLLM it is --max-num-seqs",
    "--max-gpu-memory": "vLLM takes a share of the device: --gpu-memory-utilization",
    "--max-num-on-the-fly-batches": "batches in flight cannot be set; "
    "what limits the sequences of a step is --max-num-seqs, and its tokens --max-num-batched-tokens",
    "--max-running-requests": "SGLang's name; in vLLM it is --max-num-seqs",
    "--max-seq-len": "it is --max-model-len",
    "--max-tokens": "the tokens of an answer are said in the request; the longest request is --max-model-len",
    "--max-total-tokens": "in vLLM the longest request is --max-model-len",
    "--mem-fraction-static": "SGLang's name; in vLLM it is --gpu-memory-utilization",
    "--model-path": "in vLLM the model is the word after `vllm serve`",
    "--n-gpu-layers": "llama.cpp's name; vLLM keeps every layer on the GPU unless --cpu-offload-gb says otherwise",
    "--num-gpus": "GPUs are divided by --tensor-parallel-size",
    "--num-shard": "TGI's name; in vLLM it is --tensor-parallel-size",
    "--quantize": "TGI's name; in vLLM it is --quantization",
    "--tp": "write -tp or --tensor-parallel-size",
    "--tp-size": "SGLang's name; in vLLM it is --tensor-parallel-size",
    "-ngl": "llama.cpp's name; vLLM keeps every layer on the GPU unless --cpu-offload-gb says otherwise",
}
