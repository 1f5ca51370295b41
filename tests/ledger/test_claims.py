from dataclasses import replace

import pytest
from hypothesis import given

from hardware.probes import gpu, machine_of, probes
from oomph.ledger.claims import Claim, Source, claims, preloaded, served, smallest
from oomph.ledger.probe import Host, Probe, Process
from oomph.ledger.visible import visible
from oomph.units import GIB, MIB, Bytes


def said(probe: Probe, source: Source) -> Claim | None:
    (place, *_) = visible(probe).places
    return next((claim for claim in claims(place, probe) if claim.source is source), None)


def test_nvml_tells_of_the_whole_card_and_cuda_of_what_is_not_reserved() -> None:
    """24576 MiB less 437 MiB are 24139 MiB, which is the 23.57 GiB that start-up logs print."""
    found = said(machine_of(), Source.NVML)

    assert found is not None
    assert (found.size, str(found.size)) == (24139 * MIB, "23.57 GiB")


@pytest.mark.parametrize(
    ("written", "size"),
    [("12288m", 12 * GIB), ("12g", 12 * GIB), ("12G", 12 * GIB), ("12884901888", 12 * GIB), ("1024MB", GIB)],
)
def test_the_limit_of_hami_is_read_as_it_is_written(written: str, size: int) -> None:
    everywhere = said(machine_of(CUDA_DEVICE_MEMORY_LIMIT=written), Source.HAMI)
    here = said(machine_of(CUDA_DEVICE_MEMORY_LIMIT="1g", CUDA_DEVICE_MEMORY_LIMIT_0=written), Source.HAMI)

    assert everywhere is not None
    assert here is not None
    assert everywhere.size == here.size == size


@pytest.mark.parametrize("written", ["0", "", "12q", "-1", "lots"])
def test_what_is_no_limit_limits_nothing(written: str) -> None:
    assert said(machine_of(CUDA_DEVICE_MEMORY_LIMIT_0=written), Source.HAMI) is None
    assert said(machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=f"0={written}"), Source.MPS) is None


def test_a_limit_above_the_card_is_the_card() -> None:
    found = said(machine_of(CUDA_DEVICE_MEMORY_LIMIT_0="24576m"), Source.HAMI)

    assert found is not None
    assert str(found.size) == "23.57 GiB"


def test_of_a_limit_only_what_this_container_holds_is_taken() -> None:
    own = Process(pid=1, holds=Bytes(2 * GIB), own_namespace=True)
    other = Process(pid=2, holds=Bytes(4 * GIB), own_namespace=False)
    found = said(machine_of(gpu(processes=(own, other)), CUDA_DEVICE_MEMORY_LIMIT_0="10g"), Source.HAMI)

    assert found is not None
    assert (found.size, found.free) == (10 * GIB, 8 * GIB)


def test_the_limit_of_mps_is_of_one_card_by_number_or_uuid() -> None:
    by_number = said(machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="1=1G,0=10G"), Source.MPS)
    by_uuid = said(machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="GPU-00000000-1a2b=512MB"), Source.MPS)

    assert by_number is not None
    assert by_uuid is not None
    assert (by_number.size, by_uuid.size) == (10 * GIB, 512 * MIB)
    assert said(machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="1=1G"), Source.MPS) is None


def test_a_daemon_shows_by_its_server_or_its_door() -> None:
    server = Process(pid=7, name="nvidia-cuda-mps-server")
    for probe, expected in (
        (machine_of(), False),
        (machine_of(gpu(processes=(server,))), True),
        (replace(machine_of(), environment={"mps/control": "there"}), True),
    ):
        assert served(visible(probe).places[0], probe) is expected


def test_hamis_library_shows_among_those_that_are_loaded_first() -> None:
    assert preloaded(machine_of(LD_PRELOAD="/usr/local/vgpu/libvgpu.so"))
    assert not preloaded(machine_of(LD_PRELOAD="/usr/lib/libjemalloc.so"))


def test_where_memory_is_the_hosts_the_host_and_our_group_speak_too() -> None:
    host = Host(
        total=Bytes(120 * GIB),
        available=Bytes(90 * GIB),
        limit=Bytes(64 * GIB),
        used=Bytes(20 * GIB),
        used_by_cache=Bytes(8 * GIB),
    )
    probe = machine_of(gpu(total=None, free=None, used=None, reserved=None, unified=True), host=host)
    (place,) = visible(probe).places
    found = {claim.source: (claim.size, claim.free) for claim in claims(place, probe)}
    least = smallest(claims(place, probe))

    assert found == {Source.HOST: (120 * GIB, 90 * GIB), Source.GROUP: (64 * GIB, 52 * GIB)}
    assert least is not None
    assert least.source is Source.GROUP


@given(probes)
def test_no_source_says_that_more_is_free_than_there_is_and_the_smallest_is_below_all(probe: Probe) -> None:
    for place in visible(probe).places:
        found = claims(place, probe)
        least = smallest(found)

        assert all(claim.size > 0 for claim in found)
        assert all(claim.free is None or 0 <= claim.free <= claim.size for claim in found)
        assert (least is None) is (not found)
        assert least is None or all(least.size <= claim.size for claim in found)
