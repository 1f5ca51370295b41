"""How SGLang refuses: no room for its pool, none for its graphs, no slots of its own.

Knows the sentences and, below `sglang/srt/`, the file of each (0.3 to 0.5). Does not know its figures (`sglang`), nor
what to do about any of them.
"""

import re
from typing import Final

# model_executor/model_runner.py, since 0.5 model_executor/pool_configurator.py
NO_POOL: Final = re.compile(r"Not enough memory\. Please try to increase --mem-fraction-static")
# model_executor/cuda_graph_runner.py, since 0.5 model_executor/runner/, speculative/
CAPTURE_FAILED: Final = re.compile(
    r"Capture (?:[\w-]{2,12} ){0,3}(?:cuda|CUDA|hip|CPU) ?graph failed: (?P<why>.{0,200})"
)
# managers/schedule_batch.py, since 0.5 mem_cache/allocation.py: slots for tokens or requests, not bytes
NO_SLOTS: Final = re.compile(
    r"(?P<when>Prefill|Decode) out of memory\. Try to lower your batch size|alloc_req_slots runs out of memory"
    r"|Out of memory even after retracting all other requests|(?:pool|allocator) memory leak detected"
)
WANTED: Final = re.compile(r"Try to allocate (?P<tokens>[0-9]{1,9}) tokens")
# managers/scheduler.py: requests wait, nothing failed
RETRACTED: Final = re.compile(
    r"KV cache pool is full\. Retract requests|Decode out of memory happened\. #retracted_reqs"
)
# model_executor/model_runner.py; GB are of 2^30 bytes
LOADED: Final = re.compile(
    r"Load weight end\. .{0,200}?avail mem=(?P<left>[0-9]{1,6}\.[0-9]{2}) GB"
    r"(?:, mem usage=(?P<taken>[0-9]{1,6}\.[0-9]{2}) GB)?"
)
POOLED: Final = re.compile(r"Memory pool end\. |KV Cache is allocated\.")
