"""How running out of memory looks in one line, whoever runs out: a device, the host, shared memory, a pool of tokens.

Knows the sentences of CUDA, HIP, XPU, the kernel, Ray, Kubernetes and Docker, and which sentences only report that
somebody else failed. Does not know an engine's own sentences, nor why it ran out.
"""

import re
from typing import Final

# By the exception, or by what stands for one where none is raised; the first that is found names the failure.
_KINDS: Final = (
    ("torch.OutOfMemoryError", r"(?:CUDA|HIP|XPU|NPU|HPU|MUSA|MPS backend) out of memory\.? \(?Tried to allocate"),
    ("NVML assert", r"NVML_SUCCESS == r INTERNAL ASSERT FAILED"),
    ("cudaErrorNotReady", r"CUDA driver error: device not ready|cudaErrorNotReady"),
    (
        "Killed",
        r"Out of memory: Kill(?:ed)? process|emory cgroup out of memory|oom-kill:constraint=|invoked oom-killer",
    ),
    ("Killed", r"OOMKilled\W{1,4}true|\bOOMKilled(?!\W{1,4}false)\b"),
    ("Killed", r"(?:systemd-oomd|earlyoom).{0,200}?[Kk]ill"),
    (
        "Killed",
        r"Ray killed this worker|exceeds the memory usage threshold|killed due to the node running low on memory",
    ),
    ("OSError", r"[Nn]o space left on device.{0,200}(?:shm|psm_|torch_)|/dev/shm.{0,200}[Nn]o space left on device"),
    (
        "OSError",
        r"(?:creating|extend|attaching to) (?:shared memory segment )?/dev/shm|unable to \w{2,12} shared memory",
    ),
    ("OSError", r"[Ii]nsufficient shared memory|out of shared memory|Bus error"),
    ("OSError", r"[Nn]o space left on device|ENOSPC"),
    (
        "MemoryError",
        r"\bMemoryError\b|[Cc]annot allocate memory|std::bad_alloc|DefaultCPUAllocator: .{0,60}memory|ENOMEM",
    ),
    ("MemoryError", r"cudaHostAlloc.{0,80}(?:out of memory|failed)|pinned memory.{0,40}fail|Failed to allocate pinned"),
    ("ggml", r"cudaMalloc failed: out of memory|failed to allocate (?:\w{1,20} )?buffers? (?:of size|for )"),
    ("ggml", r"alloc_buffer: .{0,80}(?:failed|ErrorOutOfDeviceMemory)|ggml_gallocr_reserve.{0,20}: failed"),
    ("OutOfMemoryError", r"OutOfMemoryError\b|OUT_OF_(?:DEVICE|HOST)_MEMORY|OUT_OF_RESOURCES|ErrorOutOfDeviceMemory"),
    (
        "CUDA error",
        r"cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory|CUBLAS_STATUS_ALLOC_FAILED",
    ),
    ("CUDA error", r"(?:CUDA|HIP|[Cc]uda|hip)[ _](?:driver |runtime )?(?:[Ee]rror|failure)\b.{0,60}out of memory"),
    ("CUDA error", r"memory (?:mapping|allocation) failed with OOM on device"),
    ("OutOfMemoryError", r"^(?!.*(?:[Ii]f you|may |might |avoid|prevent|to reduce|hint:)).{0,300}\b[Oo]ut of memory\b"),
)
_OVERFLOW: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_WORDS: Final = ("emor", "MEMOR", "OOM", "oom", "space left", "alloc", "ALLOC", "not ready", "NVML", "shm", "Bus error")
_WORDS_TOO: Final = ("ENOSPC", "ENOMEM", "RESOURCES", "Ray killed")

# Killed by somebody, who does not say why.
_KILLED: Final = re.compile(
    r"SIGKILL|signal(?:ed)?[ :=]{1,3}9\b|[Ee]xit(?:ed|s)?[ _]?(?:with )?(?:code|status|value)?[ :=]{0,3}\(?(?:137|-9)\b"
    r"|^\W{0,4}(?:\S{1,200}: line [0-9]{1,6}: {1,4})?(?:[0-9]{1,10} )?Killed\b(?! process)|\bstatus=9/KILL|code=killed"
)

# Who says this was told, or found out, that another had failed. Never the cause.
_REPORTS: Final = re.compile(
    r"[Ee]ngine core initialization failed|EngineDeadError|EngineCore encountered an issue"
    r"|Engine process failed to start"
    r"|Engine loop is (?:not running|dead)|See (?:stack trace|root cause) above|Got fatal signal from worker"
    r"|initialization failed due to an exception in a background process|EngineCore failed to start"
    r"|died unexpectedly|Engine background task failed|[Bb]ackground loop (?:is stopped|has errored)"
    r"|resource_tracker|leaked semaphore|ncclRemoteError|Watchdog caught collective|TCPStore|Connection reset by peer"
    r"|ChildFailedError|ProcessExitedException|BrokenPipeError|ConnectionResetError|ConnectionRefusedError"
    r"|CancelledError|SystemExit|KeyboardInterrupt|ClientDisconnect|EOFError|Connection closed"
    r"|WorkerCrashedError|ActorDiedError|RayActorError|DistNetworkError|Broken pipe|RPC call to \w+ timed out"
)
_LONGEST: Final = 4_000  # characters of a line that are looked at


def overflow_in(text: str) -> str | None:
    """What ran out, by the name of its exception or of what stands for one."""
    text = text[:_LONGEST]
    if not any(word in text for word in _WORDS) and not any(word in text for word in _WORDS_TOO):
        return None
    return next((kind for kind, pattern in _OVERFLOW if pattern.search(text)), None)


def killed_in(text: str) -> bool:
    """Whether somebody killed a process and does not say why."""
    return ("ill" in text or "KILL" in text or "9" in text or "137" in text) and bool(_KILLED.search(text[:_LONGEST]))


def reports(text: str) -> bool:
    """Whether it only tells of another's failure."""
    return _REPORTS.search(text[:_LONGEST]) is not None
