"""What happens on the way up: the gates of a start-up, with what each needs and has.

Knows the start check so far. Every further gate that is forecast is added here, in the order in which it is met.
"""

import math
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import resolve
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step
from oomph.ledger.settings import Flags, Settings
from oomph.units import MIB, Bounds, Bytes

# A CUDA context and the handles of its libraries, on a device on which nobody else is: seen between these in public
# start-up logs. It is there before the engine looks, so it is missing from what the engine finds free.
_CONTEXT: Final = Bounds(250 * MIB, 750 * MIB, 450 * MIB)

# What the start check does not look at: it compares a share of the total with what is free, before anything is loaded.
_INERT_AT_START: Final = (
    "--max-model-len",
    "--max-num-seqs",
    "--max-num-batched-tokens",
    "--kv-cache-memory-bytes",
    "--num-gpu-blocks-override",
    "--enforce-eager",
    "--kv-cache-dtype",
    "--quantization",
)


def free_at_start(device: Device) -> Bounds:
    """What the engine finds free: as it was seen, else all but a CUDA context."""
    return Bounds(device.total) - _CONTEXT if device.free is None else device.free


def start_check(settings: Settings, *, device: Device, release: Release) -> Gate | None:
    """The first gate: is as much free as the engine may use? None where the release does not ask."""
    if not facts.start_check.at(release):
        return None
    share = settings.number("gpu_memory_utilization")
    needs = math.ceil(facts.requested.at(release)(total=device.total, share=share))
    has = free_at_start(device)
    seen = "seen free" if device.free is not None else "left free by a CUDA context on an empty device"
    return Gate(
        step=Step.START_CHECK,
        needs=Bounds(needs),
        has=has,
        because=(
            f"--gpu-memory-utilization {share:g} of {device.total} is {Bytes(needs)}; "
            f"{has.low.down} to {has.high.down} are {seen}"
        ),
        inert=_INERT_AT_START,
    )


def forecast(flags: Flags, *, model: str | None, devices: tuple[Device, ...], release: Release) -> Forecast:
    """The way up as far as it is forecast; the poorest device decides, because every rank must pass."""
    poorest = min(devices, key=lambda device: free_at_start(device).low)
    settings = resolve(flags, device=poorest, release=release)
    met = (start_check(settings, device=poorest, release=release),)
    return Forecast(
        engine=HISTORY.engine,
        release=str(release),
        basis=HISTORY.basis(release),
        model=model,
        device=poorest,
        count=len(devices),
        settings=settings,
        gates=tuple(gate for gate in met if gate is not None),
        warnings=tuple(filter(None, (HISTORY.warning(release),))),
    )
