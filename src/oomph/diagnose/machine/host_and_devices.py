"""What is odd about a machine as a whole, in words: its host, its variables, and devices that will not be seen.

Knows nothing of one device's memory: `remarks` does.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.machine.remarks import Remark
from oomph.engines.history import Release
from oomph.engines.vllm import surroundings
from oomph.ledger.probe import Probe
from oomph.ledger.visible import Visible
from oomph.units import GIB, Bytes

ALLOCATOR: Final = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_SEGMENTS: Final = "expandable_segments:true"
_SHARED: Final = Bytes(GIB)  # of /dev/shm: ranks that talk through it take some hundred MiB each; Docker gives 64 MiB


def machine_remarks(probe: Probe, seen: Visible, release: Release) -> Iterator[Remark]:
    """The gravest first."""
    yield from _hidden(probe, seen)
    yield from _uuids(seen, release)
    yield from _segments(probe, seen, release)
    yield from _shared_memory(probe, seen)
    yield from _host_limit(probe, seen)
    yield from _swap(probe)
    for words in seen.notes:
        unordered = not seen.ordered and words == seen.notes[-1]  # that CUDA may count otherwise is said last
        yield Remark(name="visible-devices", words=words, do="CUDA_DEVICE_ORDER=PCI_BUS_ID" if unordered else None)


def _hidden(probe: Probe, seen: Visible) -> Iterator[Remark]:
    lost = [f"GPU {gpu.index}: {gpu.error}" for gpu in probe.gpus if gpu.error is not None]
    if lost:
        yield Remark(
            name="lost-device",
            words=f"{'; '.join(lost)}: CUDA may refuse to start at all while it is so",
            do="hide it with CUDA_VISIBLE_DEVICES, and reset it: nvidia-smi --gpu-reset, or start the machine anew",
        )
    hidden = {index: why for index, why in seen.hidden.items() if f"GPU {index}: {why}" not in lost}
    if hidden:
        which = ", ".join(str(index) for index in hidden)
        why = "; ".join(dict.fromkeys(hidden.values()))
        yield Remark(name="hidden-devices", words=f"GPU {which} will not be seen by an engine started here: {why}")


def _uuids(seen: Visible, release: Release) -> Iterator[Remark]:
    value = (seen.said or "").partition("=")[2].strip()
    if value.startswith(("GPU-", "MIG-")) and not surroundings.reads_uuids.at(release):
        index = ",".join(str(place.gpu.index) for place in seen.places)
        first = next((str(since) for since, reads in surroundings.reads_uuids if reads), "")
        yield Remark(
            name="uuid-unread",
            words=f"vLLM {release} takes each word of CUDA_VISIBLE_DEVICES for a number and stops at a UUID; "
            f"{first} is the first that reads one",
            do=f"CUDA_VISIBLE_DEVICES={index}" if index and not value.startswith("MIG-") else None,
        )


def breaks(probe: Probe, seen: Visible, release: Release) -> dict[str, str]:
    """What `expandable_segments:True` breaks here, by a name for each."""
    found = {}
    if probe.host.wsl:
        found["wsl2"] = "WSL2 refuses the calls that map memory piece by piece: loading fails with memory to spare"
    if any(place.slice is not None for place in seen.places):
        found["mig"] = "on a MIG slice PyTorch asks NVML of the whole card and stops with an assertion"
    if any(place.part.seen is not None and place.part.seen.virtual_memory is False for place in seen.places):
        found["driver"] = "the driver says that it cannot map memory piece by piece"
    if surroundings.sleep_refuses_segments.at(release):
        found["sleep-mode"] = f"{release} refuses --enable-sleep-mode with it"
    if surroundings.connectors_refuse_segments.at(release):
        found["kv-connector"] = f"{release} refuses a KV connector (--kv-transfer-config) with it"
    return found


def _segments(probe: Probe, seen: Visible, release: Release) -> Iterator[Remark]:
    """Grave where it is set; where it is not, one should know before following the advice of an error message."""
    set_by = [name for name in ALLOCATOR if _SEGMENTS in probe.environment.get(name, "").lower().replace(" ", "")]
    found = breaks(probe, seen, release)
    here = [words for name, words in found.items() if name in {"wsl2", "mig", "driver"}]
    if set_by:
        for words in found.values():
            yield Remark(name="expandable-segments", words=f"{set_by[0]} has expandable_segments:True: {words}")
    elif here:
        yield Remark(name="expandable-segments", words=f"do not set expandable_segments:True here: {'; '.join(here)}")


def _shared_memory(probe: Probe, seen: Visible) -> Iterator[Remark]:
    total, free = probe.host.shm_total, probe.host.shm_free
    room = total if free is None else free
    if len(seen.places) > 1 and room is not None and room < _SHARED:
        yield Remark(
            name="small-shared-memory",
            words=f"only {room} left in /dev/shm: ranks on several GPUs talk through it, and die at its end",
            do="docker run --ipc=host, or --shm-size=8g; in Kubernetes an emptyDir of medium Memory at /dev/shm",
        )


def _host_limit(probe: Probe, seen: Visible) -> Iterator[Remark]:
    """Weights pass through host memory on their way; less of it than of the device's may be too little."""
    limit, host = probe.host.limit, probe.host.total
    largest = max((place.part.total or 0 for place in seen.places), default=0)
    least = limit if limit is not None and (host is None or limit < host) else host
    if least is not None and least < largest:
        whose = "this container may have" if least is limit else "the host has"
        yield Remark(
            name="little-host-memory",
            words=f"{whose} {least} of RAM, less than a device has: a checkpoint that is read, converted or quantized "
            f"on its way may need more",
        )


def _swap(probe: Probe) -> Iterator[Remark]:
    if probe.host.swap_total and any(gpu.unified for gpu in probe.gpus):
        yield Remark(
            name="swap-on-unified-memory",
            words=f"{probe.host.swap_total} of swap on a machine whose GPU uses the host's memory: it slows to a halt "
            f"before anything is refused",
            do="swapoff -a",
        )
