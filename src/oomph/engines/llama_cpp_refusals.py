"""How llama.cpp says that it cannot get memory, and what it said before; ik_llama.cpp and koboldcpp say the same.

Knows the sentences of 2024 to 2026 and their files. Does not know its figures (`llama_cpp`), nor what to do about any.
"""

import re
from typing import Final

from oomph.units import MIB, Bounds, Bytes

# A backend is refused. ggml-cuda.cu (HIP and MUSA are built from it), ggml-backend.cpp, ggml-vulkan.cpp, ggml-metal
_REFUSED: Final = (
    re.compile(r"allocating (?P<mib>[0-9]{1,9}\.[0-9]{1,2}) MiB on device (?P<device>[0-9]{1,3}): \w{3,20} failed"),
    re.compile(r"failed to allocate buffer of size (?P<bytes>[0-9]{1,18})"),
    re.compile(r"ggml_vulkan: Device memory allocation of size (?P<bytes>[0-9]{1,18}) failed"),
    re.compile(r"error: failed to allocate buffer, size = {1,9}(?P<mib>[0-9]{1,9}\.[0-9]{1,2}) MiB"),
)
# Who asked: ggml-alloc.c for a graph's buffer and for tensors, llama-context.cpp, llama-kv-cache.cpp, llama-model.cpp
GRAPH: Final = re.compile(
    r"ggml_gallocr_reserve_n\w*: failed to allocate|failed to allocate compute (?:pp |tg )?buffers"
    r"|failed to allocate graph|compute buffer allocation failed|GGML_ASSERT\(.{0,80}ggml_backend_buffer_get_alloc_size"
)
CACHE: Final = re.compile(
    r"failed to allocate buffer for (?:kv|rs) cache|llama_kv_cache_init\(\) failed|failed to create ggml context for kv"
)
WEIGHTS: Final = re.compile(r"unable to allocate \S{1,40} buffer|error loading model: .{0,60}allocat")
POOL: Final = re.compile(r"ggml_cuda_pool_malloc\w*|ggml_cuda_pool_(?:vmm|leg)::alloc|in function alloc at|cuMemCreate")
OVERFLOW: Final = re.compile(r"(?:CUDA|ROCm|HIP|MUSA) error(?: \d+)?: out of memory")
# A picture's encoder computes without having reserved: what it was refused shows as an assertion.
ENCODER: Final = re.compile(r"GGML_ASSERT\(.{0,80}ggml_backend_buffer_get_alloc_size|clip_\w+|mtmd|image slice encoded")

RETRIED: Final = re.compile(r"retrying without pipeline parallelism")
COPIES: Final = re.compile(r"pipeline parallelism enabled(?: \(n_copies=(?P<copies>[0-9]{1,3})\))?")
MISPLACED: Final = re.compile(
    r"layer (?P<layer>[0-9]{1,5}) is assigned to device CPU but .{3,80} is assigned to device (?P<device>\w{2,20}) "
    r"\(usually due to missing support\)"
)
LOADED: Final = re.compile(
    r"(?P<buffer>\w{2,40}) model buffer size = {1,9}(?P<mib>[0-9]{1,9}\.[0-9]{2}) MiB"  # load_tensors
)
CACHED: Final = re.compile(
    r"KV buffer size = {1,9}(?P<mib>[0-9]{1,9}\.[0-9]{2}) MiB|KV self size|llama_kv_cache: size ="
)
RESERVED: Final = re.compile(r"compute buffer size = {1,9}(?P<mib>[0-9]{1,9}\.[0-9]{2}) MiB")
CONTEXT: Final = re.compile(r"\bn_ctx {0,9}= {0,9}(?P<tokens>[0-9]{1,9})\b")
STEP: Final = re.compile(r"\bn_ubatch {0,9}= {0,9}(?P<tokens>[0-9]{1,9})\b")
FLASH: Final = re.compile(r"\bflash_attn {0,9}= {0,9}(?P<on>0|1|enabled|disabled|auto)\b")


def refused(text: str) -> tuple[Bounds, int | None] | None:
    """What a backend was asked for and would not give, and on which device."""
    for pattern in _REFUSED:
        if (found := pattern.search(text)) is not None:
            groups = found.groupdict()
            device = groups.get("device")
            size = Bounds(int(groups["bytes"])) if groups.get("bytes") else mebibytes(groups["mib"])
            return size, None if device is None else int(device)
    return None


def mebibytes(text: str) -> Bounds:
    """What `8849.72` MiB may have been: printed with two decimals."""
    whole, _, part = text.partition(".")
    hundredths = int(whole) * 100 + int(part.ljust(2, "0"))
    low, high = (2 * hundredths - 1) * MIB // 200, -(-(2 * hundredths + 1) * MIB // 200)
    return Bounds(max(0, low), high, hundredths * MIB // 100)


def whole(size: Bounds) -> bool:
    """A round number of MiB, as caches of a context in steps of 256 tokens are, and hardly anything else."""
    return Bytes(-(-size.low // MIB) * MIB) in size
