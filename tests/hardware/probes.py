"""Probes for the tests: single machines by hand, and for hypothesis whatever a file could hold."""

from typing import Any, Final

from hypothesis import strategies as st

from oomph.ledger.device import Capability
from oomph.ledger.probe import Gpu, Host, Maker, Probe, Process, Seen, Slice
from oomph.units import GIB, MIB, TIB, Bytes

CARD: Final = "NVIDIA GeForce RTX 3090"


def gpu(index: int = 0, **more: Any) -> Gpu:  # noqa: ANN401 - any field of a card
    """A card of 24 GiB of which 23.57 can be used, empty unless told otherwise."""
    reserved = Bytes(437 * MIB)
    held = sum(process.holds or 0 for process in more.get("processes", ()))
    plain: dict[str, Any] = {
        "uuid": f"GPU-{index:08x}-1a2b",
        "name": CARD,
        "total": Bytes(24 * GIB),
        "reserved": reserved,
        "used": Bytes(held),
        "free": Bytes(24 * GIB - reserved - held),
        "capability": Capability(major=8, minor=6),
    }
    return Gpu(index=index, **plain | more)


def machine_of(*gpus: Gpu, host: Host | None = None, **environment: str) -> Probe:
    """Those cards, with these variables."""
    return Probe(gpus=gpus or (gpu(),), host=host or Host(), environment=environment)


_sizes: Final = (
    st.none() | st.sampled_from([0, 1, 64 * MIB, 4 * GIB, 24 * GIB, 80 * GIB, TIB]) | st.integers(0, 1 << 62)
)
_bytes: Final = _sizes.map(lambda size: None if size is None else Bytes(size))
_words: Final = st.none() | st.sampled_from(
    ["", "VLLM::EngineCore", "VLLM::Worker_TP0", "python3", "systemd", "nvidia-cuda-mps-server", "kubernetes", "vgpu"]
)
_truths: Final = st.none() | st.booleans()

processes: Final = st.builds(
    Process,
    pid=st.integers(0, 9),
    name=_words,
    command=_words,
    holds=_bytes,
    parent=st.none() | st.integers(0, 9),
    parent_name=_words,
    own_namespace=_truths,
    graphics=st.booleans(),
)
_seen: Final = st.none() | st.builds(
    Seen,
    free=_bytes.filter(lambda size: size is not None),
    total=_bytes.filter(lambda size: size is not None),
    device_total=_bytes,
    cost=_bytes,
    ordinal=st.none() | st.integers(0, 3),
    integrated=_truths,
    virtual_memory=_truths,
)
_uuids: Final = st.none() | st.sampled_from(["GPU-aa", "GPU-ab", "GPU-b", "MIG-aa", "MIG-b", ""])
_slices: Final = st.builds(
    Slice,
    uuid=_uuids,
    name=_words,
    total=_bytes,
    free=_bytes,
    used=_bytes,
    reserved=_bytes,
    processes=st.lists(processes, max_size=2).map(tuple),
    seen=_seen,
)
_gpus: Final = st.builds(
    Gpu,
    index=st.integers(0, 3),
    uuid=_uuids,
    name=_words,
    maker=st.sampled_from(Maker),
    total=_bytes,
    free=_bytes,
    used=_bytes,
    reserved=_bytes,
    limit=_bytes,
    capability=st.none() | st.builds(Capability, major=st.sampled_from([8, 12]), minor=st.sampled_from([0, 1, 7])),
    processes=st.lists(processes, max_size=3).map(tuple),
    listed=st.booleans(),
    slices=st.lists(_slices, max_size=2).map(tuple),
    mig=st.booleans(),
    display=_truths,
    virtual=_words,
    exclusive=_truths,
    unified=st.booleans(),
    coherent=st.booleans(),
    seen=_seen,
    error=st.none() | st.just("GPU is lost"),
)
_hosts: Final = st.builds(
    Host,
    total=_bytes,
    available=_bytes,
    page_cache=_bytes,
    limit=_bytes,
    used=_bytes,
    used_by_cache=_bytes,
    swap_total=_bytes,
    swap_free=_bytes,
    shm_total=_bytes,
    shm_free=_bytes,
    wsl=st.booleans(),
    container=_words,
)
_variables: Final = st.dictionaries(
    st.sampled_from(
        [
            "CUDA_VISIBLE_DEVICES",
            "CUDA_DEVICE_ORDER",
            "HIP_VISIBLE_DEVICES",
            "CUDA_DEVICE_MEMORY_LIMIT",
            "CUDA_DEVICE_MEMORY_LIMIT_0",
            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
            "PYTORCH_CUDA_ALLOC_CONF",
            "LD_PRELOAD",
            "mps/control",
        ]
    ),
    st.sampled_from(
        ["", "0", "1,0", "0,0", "-1", "GPU-a", "GPU-aa,GPU-b", "MIG-aa", "12288m", "10g", "0=10G,1=8GB", "0=", "x"]
    )
    | st.sampled_from(["expandable_segments:True", "libvgpu.so", "0=0", "99999999999g"])
    | st.text(max_size=12),
)

probes: Final = st.builds(
    Probe,
    gpus=st.lists(_gpus, max_size=4).map(tuple),
    host=_hosts,
    environment=_variables,
    driver=_words,
    notes=st.lists(st.text(max_size=20), max_size=2).map(tuple),
)
