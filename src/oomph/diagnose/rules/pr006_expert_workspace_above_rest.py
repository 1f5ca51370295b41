"""The engine ran out where a kernel for experts makes its workspace.

## What happened

Kernels that run the experts of a mixture keep buffers of their own: for every layer, or for every token of a step and
every rank that it may be sent to. One back end makes gigabytes where another makes none, in single requests of 4 to
26 GiB, while the engine profiles.

```log fires
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", line 5410, in profile_run
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108]   File "/flashinfer/fused_moe/b12x.py", line 512, in _allocate_buffers
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 31.36 GiB of which 1.37 GiB is free.
```

```log silent
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", line 5410, in profile_run
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108]   File "/vllm/model_executor/models/llama.py", line 210, in forward
(EngineCore pid=1) ERROR 07-10 10:00:09 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 31.36 GiB of which 1.37 GiB is free.
```

## Why

The workspace belongs to the kernel, not to the model. Some are tuned for 8,192 tokens at least, so that fewer tokens in
a step change nothing below that. Where C++ code asks for it, the exception may be Python's own `MemoryError`.

## What to do

Another back end for the experts: `--moe-backend marlin` or `triton`. Then the library's version before. Where tokens
are sent to many ranks: fewer of them, or fewer tokens in a step.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.profiling import cut, of_experts, overflowed
from oomph.diagnose.grounds.serving import device_overflow, fewer_tokens, through, told
from oomph.ledger.gate import Step

CAUSE: Final = "moe_workspace_backend"

# flashinfer/fused_moe, vllm/model_executor/layers/fused_moe: makers of workspaces; Triton's own kernel is none.
_MAKERS: Final = (
    *("_allocate_buffers", "allocate_buffers", "allocate_workspace", "_allocate_workspace", "get_moe_workspaces"),
    *("flashinfer_cutlass_fused_moe", "cutlass_fused_moe", "trtllm_fp4_block_scale_moe", "trtllm_fp8_block_scale_moe"),
    *("trtllm_bf16_moe", "prepare_moe", "workspace_shapes", "_allocate_moe_workspace"),
    *("flashinfer/fused_moe/", "fused_moe/flashinfer_", "fused_moe/trtllm_moe.py", "fused_moe/deep_gemm_moe.py"),
)
_OF_CARDS: Final = ("allocate_sm120", "B12xMoEWrapper", "b12x")


def check(case: Case) -> Finding | None:
    """A frame of a kernel for experts that makes buffers, while nothing is served yet."""
    frame = through(case, *_MAKERS) or next((said for said in case.log if _wrapper(said.text)), None)
    said = overflowed(case)
    ran_out = device_overflow(case) is not None or _memory(case) or cut(case)
    if frame is None or said is None or case.served or not ran_out:
        return None
    return Finding(
        code="PR006",
        name="expert-workspace-above-rest",
        cause=CAUSE,
        confidence=0.7 if cut(case) else 0.92 if _memory(case) else 0.9,
        summary=f"the workspace of the kernels for experts does not fit{told(case)}",
        lines=(frame, said),
        arithmetic=of_experts(case),
        remedies=advised(case, Step.PROFILE, (_OTHER, _OLDER, fewer_tokens(case))),
        unhelpful={
            "--gpu-memory-utilization": "the workspace is made before there is any budget",
            "--max-model-len": "the workspace is sized by the tokens of one step",
        },
        missing=("which back end runs the experts: a line `Using … MoE backend`",),
    )


_OTHER: Final = Remedy(
    change={"moe_backend": "marlin"},
    lever="moe_backend",
    price="experts may run slower: measure it",
)
_OLDER: Final = Remedy(
    change={},
    act="use the version of the kernel library from before the workspace grew (FlashInfer 0.6.12)",
    lever="downgrade",
    price="without what newer kernels gain",
)


def _wrapper(text: str) -> bool:
    return 'File "' in text and any(name in text for name in _OF_CARDS)


def _memory(case: Case) -> bool:
    """Python's own exception, raised by code in C++."""
    return any(failure.kind == "MemoryError" for failure in case.failures)
