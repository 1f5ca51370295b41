"""A setting of the allocator is refused; memory is not the matter.

## What happened

`expandable_segments:True` is set, as PyTorch advises in every message about memory. The engine, or a library that it
uses, cannot work with it: the pool for sleeping (up to 0.20.0), connectors that register the pool with a network card,
all-reduce that shares memory between ranks.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/device_allocator/cumem.py", line 150, in __init__
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] AssertionError: Expandable segments are not compatible with memory pool. Please track https://github.com/pytorch/pytorch/issues/147851 for the latest updates.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 39.49 GiB of which 0.20 GiB is free. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
```

## Why

Expandable segments are mapped piece by piece. Such memory cannot be shared between processes by the calls that custom
all-reduce uses, cannot be registered once and for all, and cannot live in another allocator's pool.

## What to do

Leave the setting out. Some wrappers report the refusal as `Your GPU ran out of memory`; the free memory says otherwise.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said

CAUSE: Final = "expandable_segments_incompatible"
HINTS: Final = (b"xpandable", b"custom_all_reduce")

_REFUSED: Final = re.compile(
    r"Expandable segments are not compatible with memory pool"
    r"|incompatible with PYTORCH_(?:CUDA_)?ALLOC_CONF=expandable_segments:True"
    r"|expandable_segments.{0,40}(?:not supported|not compatible|incompatible)"
)
_IPC: Final = re.compile(r"invalid (?:argument|device pointer|resource handle)|cudaIpc|hipIpc|custom_all_reduce\.cuh")
_SHARING: Final = ("custom_all_reduce", "get_graph_buffer_ipc_meta", "register_graph_buffers", "cuda_wrapper")
_WRAPPED: Final = re.compile(r"Your GPU ran out of memory")
_CONF: Final = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def check(case: Case) -> Finding | None:
    """The refusal itself; or, with the setting, a failure to share memory between ranks."""
    found = _found(case)
    if found is None:
        return None
    sure, said = found
    return Finding(
        code="PL004",
        name="expandable-segments-refused",
        cause=CAUSE,
        confidence=sure,
        summary="memory is not the matter: expandable_segments:True is set, and this engine cannot work with it",
        lines=(said,),
        remedies=_REMEDIES if case.flags.count("tensor_parallel_size") > 1 else _REMEDIES[:1],
        unhelpful=_VAIN,
        missing=()
        if _is_set(case)
        else ("the environment: whether PYTORCH_CUDA_ALLOC_CONF is set, perhaps by an image",),
    )


def _found(case: Case) -> tuple[float, Said] | None:
    if (said := case.line(_REFUSED)) is not None:
        return 0.97, said
    if (said := case.line(_WRAPPED)) is not None and _is_set(case):
        return 0.75, said
    if case.failure is None or case.frame(*_SHARING) is None:
        return None
    if _IPC.search(case.failure.said.text) is None and case.line(_IPC) is None:
        return None
    return (0.9 if _is_set(case) else 0.5), case.failure.said


def _is_set(case: Case) -> bool:
    return any("expandable_segments:True" in str(case.flags.get(name)) for name in _CONF)


_REMEDIES: Final = (
    Remedy(
        change={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"},
        lever="alloc_conf",
        price="more is lost between allocations of different sizes",
    ),
    Remedy(
        change={"disable_custom_all_reduce": True},
        lever="disable_custom_all_reduce",
        price="ranks exchange through NCCL: slower for small batches",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization, --max-model-len, --max-num-seqs": "nothing is full",
    "a larger device": "the setting is refused on any",
}
