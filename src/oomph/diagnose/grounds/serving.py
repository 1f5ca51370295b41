"""What rules about an engine that was up have in common: whether it was, what its frames went through, what it left.

Knows how to tell serving from starting where the phase is not known. Does not know any cause.
"""

import re
from functools import cache
from typing import Final

from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.finding import Remedy, Said
from oomph.ledger.observation import Quantity
from oomph.units import MIB, Bounds, Bytes

SERVING: Final = frozenset({Phase.SERVING_PREFILL, Phase.SERVING_DECODE, Phase.IDLE_GROWTH})
_BEFORE: Final = frozenset({Phase.LOAD, Phase.PROFILE, Phase.GRAPH_PROFILE, Phase.KV_ALLOC, Phase.GRAPH_CAPTURE})
ENGINE: Final = frozenset({"vLLM", None})
_MARGIN: Final = 256 * MIB  # beyond what is lacking: the next step may ask for more

_DEVICE: Final = re.compile(
    r"(?:CUDA|HIP|XPU|NPU) out of memory|OutOfMemoryError|CUDA (?:driver )?[Ee]rror: out of memory"
    r"|memory (?:mapping|allocation) failed with OOM|Triton Error \[CUDA\]: out of memory|cudaErrorMemoryAllocation"
)
_HOST: Final = re.compile(
    r"DefaultCPUAllocator: (?:can't|not enough).{0,40}memory|std::bad_alloc"
)  # c10/core/alloc_cpu.cpp
_ASKED: Final = re.compile(r"DefaultCPUAllocator: .{0,60}you tried to allocate (?P<size>[0-9]{1,18}) bytes")
_WARNED: Final = re.compile(r"memory (?:mapping|allocation) failed with OOM on device")
_RAISED: Final = re.compile(r"OutOfMemoryError|(?:CUDA|HIP|XPU|NPU) out of memory\. Tried to allocate")
_STARTING: Final = re.compile(
    r"EngineCore failed to start|Engine core initialization failed|WorkerProc failed to start"
)


def serving(case: Case) -> bool:
    """It was up: its phase says so; or no phase is known, and graphs are there, which are captured last."""
    if case.phase in SERVING:
        return True
    return case.phase is None and (graphs(case) or warned(case) is not None) and case.line(_STARTING) is None


def starting(case: Case) -> bool:
    """It was not up yet, and that is shown, not only assumed."""
    return case.phase in _BEFORE and not case.phase_assumed


def warned(case: Case) -> Said | None:
    """The allocator's own warning, where no exception follows it: it frees what it holds, and tries once more."""
    said = case.line(_WARNED)
    return None if said is None or case.line(_RAISED) is not None else said


def graphs(case: Case) -> bool:
    """Pools of captured graphs are among what torch lists. With sleep mode such pools hold weights, and say nothing."""
    held = case.size(Quantity.PRIVATE)
    return held is not None and held.low > 0 and not case.flags.get("enable_sleep_mode")


def device_overflow(case: Case) -> Said | None:
    """The line in which the device's memory runs out, the host's where it is the device; None where nothing does."""
    failure = case.failure
    if failure is not None and _DEVICE.search(f"{failure.kind}: {failure.said.text}"):
        return failure.said
    return case.line(_DEVICE) or (case.line(_HOST) if Platform.CPU in case.platform else None)


def untold(case: Case) -> bool:
    """Only frames are there: with which words it failed is not in the excerpt."""
    return case.failure is None or case.failure.kind == "Traceback"


def through(case: Case, *names: str) -> Said | None:
    """A frame of a failure, or of an excerpt that keeps only frames, whose function or file is one of these."""
    for frame in (frame for failure in case.failures for frame in failure.frames):
        if any(name == frame.function or (name.endswith((".py", "/")) and name in frame.file) for name in names):
            return Said(line=frame.line, text=f'File "{frame.file}", in {frame.function}')
    return case.line(_frame(names))


@cache
def _frame(names: tuple[str, ...]) -> re.Pattern[str]:
    """As tracebacks write it, and as a crash of the interpreter does: `line 75 in wake_up`."""
    words = "|".join(re.escape(name) for name in names)
    return re.compile(rf'File "[^"]{{0,400}}(?:{words})|line [0-9]{{1,6}},? in (?:{words})\b')


def share(case: Case) -> float | None:
    """The share of the device that was asked for: as given, or as it was said."""
    given = case.flags.get("gpu_memory_utilization")
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    return case.number(Quantity.SHARE)


def tried(case: Case) -> Bounds | None:
    """What was asked for: of a device; or of the host where it is the device, which its allocator tells to the byte."""
    if (asked := case.size(Quantity.TRIED)) is not None:
        return asked
    found = next((found for _, found in case.lines(_ASKED)), None) if Platform.CPU in case.platform else None
    return None if found is None else Bounds(int(found["size"]))


def lacking(case: Case) -> Bounds | None:
    """How much more was asked for than was free."""
    wanted, free = tried(case), case.size(Quantity.DEVICE_FREE)
    return None if wanted is None or free is None or wanted.likely < free.likely else wanted - free


def told(case: Case) -> str:
    """What was asked for and what was free, in words."""
    wanted, free = tried(case), case.size(Quantity.DEVICE_FREE)
    if wanted is None:
        return ""
    rest = "" if free is None else f", {free.likely} were free"
    return f": {wanted.likely} were asked for{rest}"


def smaller_share(case: Case, least: int = 2) -> Remedy:
    """As much less as is lacking and a little more, in hundredths, so many at least."""
    now, short, total = share(case), lacking(case), case.size(Quantity.DEVICE_TOTAL)
    less = least if short is None or total is None else max(least, -(-100 * (short.high + _MARGIN) // total.low))
    held = "" if total is None else f", {Bytes(total.likely * less // 100)}"
    price = f"the pool shrinks by 0.{less:02} of the device{held}: fewer requests run at once"
    if now is None or now * 100 <= less:
        act = f"lower --gpu-memory-utilization by 0.{less:02}"
        return Remedy(change={}, act=act, lever="gpu_memory_utilization_down", price=price)
    change = {"gpu_memory_utilization": round(now - less / 100, 4)}
    return Remedy(change=change, lever="gpu_memory_utilization_down", price=price)


def step_tokens(case: Case) -> int | None:
    """How many tokens a step may have: as given, or as it was said."""
    given, said = case.flags.positive("max_num_batched_tokens"), case.number(Quantity.STEP_TOKENS)
    return given if given is not None or said is None else int(said)


def fewer_tokens(case: Case) -> Remedy:
    """Half the tokens of a step, 2048 where they are not known."""
    now = step_tokens(case)
    return Remedy(
        change={"max_num_batched_tokens": 2048 if now is None else max(now // 2, 512)},
        lever="max_num_batched_tokens_down",
        price="long prompts are read in smaller steps: the first token of a long prompt comes later",
    )


VAIN: Final = {
    "--max-model-len": "the pool is already there, and a step computes no more tokens for a longer limit",
    "--enforce-eager": "graphs were captured long before; what is missing now is memory of one step",
    "--gpu-memory-utilization up": "it enlarges the pool, and leaves a step less than it has now",
}
