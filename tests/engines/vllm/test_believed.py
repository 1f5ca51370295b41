from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.probes import gpu, machine_of, probes
from oomph.engines.history import Release, release
from oomph.engines.vllm.believed import Believed, believed
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.probed import device_at, devices_of
from oomph.engines.vllm.resolve import resolve
from oomph.engines.vllm.start_check import largest_share, start_check
from oomph.ledger.claims import Source
from oomph.ledger.device import Capability, Cut
from oomph.ledger.gate import Verdict
from oomph.ledger.probe import Host, Probe, Process, Seen, Slice
from oomph.ledger.settings import Flags
from oomph.ledger.visible import visible
from oomph.units import GIB, MIB, Bounds, Bytes
from strategies import releases

LAST = release("0.32.0")
HOST = Host(total=Bytes(120 * GIB), available=Bytes(100 * GIB), page_cache=Bytes(60 * GIB))
SPARK = gpu(
    name="NVIDIA GB10",
    total=None,
    free=None,
    used=None,
    reserved=None,
    unified=True,
    capability=Capability(major=12, minor=1),
)


def known(probe: Probe, asked: Release = LAST, *, ranks: int = 1) -> Believed:
    found = believed(visible(probe).places[0], probe, asked, ranks=ranks)
    assert found is not None
    return found


def test_of_an_empty_card_the_engine_finds_all_but_its_own_context() -> None:
    """24139 MiB are there; a context was seen to take 250 to 640 MiB, mostly 460."""
    found = known(machine_of())

    assert (found.total, found.now) == (24139 * MIB, Bounds(24139 * MIB))
    assert found.free == Bounds((24139 - 640) * MIB, (24139 - 250) * MIB, (24139 - 460) * MIB)
    assert found.really == 24139 * MIB


def test_ranks_that_talk_have_less_in_releases_that_look_after_they_have_connected() -> None:
    alone, old, new = (
        known(machine_of(), release(name), ranks=ranks) for name, ranks in (("0.11.0", 1), ("0.10.2", 2), ("0.11.0", 2))
    )

    assert old.free == alone.free
    assert new.free.likely < alone.free.likely


def test_what_the_driver_itself_said_is_believed_and_no_context_is_smaller_than_a_bare_one() -> None:
    seen = Seen(free=Bytes(22_000 * MIB), total=Bytes(23 * GIB), cost=Bytes(300 * MIB))
    found = known(machine_of(gpu(seen=seen)))

    assert (found.total, found.now) == (23 * GIB, Bounds(22_300 * MIB))
    assert found.free.high == 22_000 * MIB
    assert found.total_from.source is found.free_from.source is Source.DRIVER


def test_hamis_limit_is_total_and_free_though_less_is_really_there() -> None:
    stranger = Process(pid=9, holds=Bytes(16 * GIB), own_namespace=False)
    found = known(machine_of(gpu(processes=(stranger,)), CUDA_DEVICE_MEMORY_LIMIT_0="12g"))

    assert (found.total, found.now) == (12 * GIB, Bounds(12 * GIB))
    assert found.really == 24139 * MIB - 16 * GIB


def test_the_limit_of_mps_is_free_but_not_total_and_without_a_daemon_neither() -> None:
    limited = machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="0=10G")
    shared = replace(limited, environment={**limited.environment, "mps/control": "there"})

    assert (known(shared).total, known(shared).now) == (24139 * MIB, Bounds(10 * GIB))
    assert known(limited).now == Bounds(24139 * MIB)


@pytest.mark.parametrize(
    ("name", "capability", "free"),
    [
        ("0.11.0", (12, 1), Bounds(40 * GIB, 100 * GIB, 40 * GIB)),  # the driver: page cache may count as used
        ("0.11.1", (12, 1), Bounds(100 * GIB)),  # the host, by the number
        ("0.11.1", (9, 0), Bounds(40 * GIB, 100 * GIB, 40 * GIB)),
        ("0.20.0", (9, 0), Bounds(100 * GIB)),  # the host, wherever CUDA says integrated
    ],
)
def test_where_memory_is_the_hosts_releases_differ_in_whom_they_ask(
    name: str, capability: tuple[int, int], free: Bounds
) -> None:
    card = replace(SPARK, capability=Capability(major=capability[0], minor=capability[1]))

    assert known(machine_of(card, host=HOST), release(name)).now == free


def test_a_container_on_shared_memory_can_have_less_than_the_host_says() -> None:
    inside = replace(HOST, limit=Bytes(64 * GIB), used=Bytes(4 * GIB))
    found = known(machine_of(SPARK, host=inside))

    assert (found.now, found.really) == (Bounds(100 * GIB), 60 * GIB)
    (device,) = devices_of(machine_of(SPARK, host=inside), LAST)
    assert device.free == found.free  # the start check compares what the engine finds, not what can be had


def test_nothing_is_claimed_of_a_card_of_which_nobody_says_anything() -> None:
    probe = machine_of(gpu(total=None, free=None, used=None, reserved=None))

    assert believed(visible(probe).places[0], probe, LAST) is None
    assert devices_of(probe, LAST) == ()


def test_a_slice_is_a_device_with_its_own_memory_and_the_defaults_of_the_whole_card() -> None:
    part = Slice(uuid="MIG-aa", name="3g.40gb", total=Bytes(40 * GIB), free=Bytes(39 * GIB), used=Bytes(GIB))
    card = gpu(name="NVIDIA H100 80GB HBM3", total=Bytes(80 * GIB), mig=True, slices=(part,))
    (device,) = devices_of(machine_of(card), LAST)
    whole = resolve(Flags(), device=device, release=LAST, context_tokens=8192)
    small = resolve(Flags(), device=replace(device, card=None), release=LAST, context_tokens=8192)

    assert (device.name, device.total, device.cut) == ("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 40 * GIB, Cut.MIG)
    assert whole.whole("max_num_seqs") > small.whole("max_num_seqs")


@pytest.mark.parametrize(
    ("probe", "cut"),
    [
        (machine_of(), Cut.WHOLE),
        (machine_of(CUDA_DEVICE_MEMORY_LIMIT="12g"), Cut.HAMI),
        (machine_of(gpu(virtual="vgpu")), Cut.VGPU),
        (machine_of(gpu(processes=(Process(pid=3, name="nvidia-cuda-mps-server", holds=Bytes(MIB)),))), Cut.MPS),
        (
            machine_of(
                gpu(processes=(Process(pid=3, holds=Bytes(GIB), own_namespace=False),)),
                host=Host(container="kubernetes"),
            ),
            Cut.TIME_SLICED,
        ),
    ],
)
def test_how_a_card_is_cut_shows(probe: Probe, cut: Cut) -> None:
    (device,) = devices_of(probe, LAST)

    assert device.cut is cut
    assert len(device.tenants) == len(probe.gpus[0].processes)


def test_the_largest_share_is_counted_in_hundredths() -> None:
    """0.95 of 24139 MiB is 22932.05 MiB: with 23499 MiB free 0.97 passes (23414.83), and 0.98 does not (23656.22)."""
    check = start_check(known(machine_of()), LAST)

    assert (check.share, check.verdict) == (0.92, Verdict.FITS)
    assert (check.largest, check.likely) == (0.97, 0.98)


def test_a_share_that_asks_for_just_what_is_free_passes() -> None:
    assert largest_share(Bytes(100 * GIB), Bytes(50 * GIB), LAST) == 0.5
    assert largest_share(Bytes(100 * GIB), Bytes(50 * GIB - 1), LAST) == 0.49
    assert largest_share(Bytes(100 * GIB), Bytes(GIB - 1), LAST) is None


def test_a_release_that_does_not_ask_gives_no_verdict() -> None:
    check = start_check(known(machine_of()), release("0.9.0"))

    assert (check.verdict, check.largest, check.likely) == (None, None, None)
    assert start_check(known(machine_of()), release("0.9.1")).verdict is Verdict.FITS


def test_a_clamp_whose_library_was_not_seen_makes_the_check_unsure() -> None:
    limited = machine_of(CUDA_DEVICE_MEMORY_LIMIT_0="12g")
    loaded = machine_of(CUDA_DEVICE_MEMORY_LIMIT_0="12g", LD_PRELOAD="/usr/local/vgpu/libvgpu.so")
    unsure, sure = (start_check(known(probe), LAST) for probe in (limited, loaded))

    assert (unsure.verdict, unsure.largest) == (Verdict.UNSURE, None)
    assert "which was not seen" in (unsure.doubt or "")
    assert (sure.verdict, sure.doubt) == (Verdict.FITS, None)


@given(st.integers(1, 1 << 40), st.integers(0, 1 << 40), releases)
def test_the_largest_share_asks_for_what_is_free_and_the_next_for_more(total: int, free: int, asked: Release) -> None:
    share = largest_share(Bytes(total), Bytes(min(free, total)), asked)
    hundredths = 0 if share is None else round(100 * share)

    assert 0 <= hundredths <= 100
    assert total * (hundredths / 100) <= min(free, total)
    assert hundredths == 100 or -(-total * (hundredths + 1) // 100) + 1 > min(free, total)


@given(probes, releases)
def test_whatever_a_machine_says_what_is_believed_of_it_can_be(probe: Probe, asked: Release) -> None:
    for place in visible(probe).places:
        found = believed(place, probe, asked)
        if found is not None:
            assert 0 <= found.free.low <= found.free.high <= found.now.high <= found.total


@given(probes, releases)
def test_a_forecast_on_a_device_of_a_probe_has_the_same_start_check(probe: Probe, asked: Release) -> None:
    for place in visible(probe).places:
        found, device = believed(place, probe, asked), device_at(place, probe, asked)
        assert (found is None) is (device is None)
        if found is None or device is None or found.doubt is not None:
            continue
        gates = forecast(Flags(), model=None, devices=(device,), release=asked).gates
        verdict = start_check(found, asked).verdict
        assert [gate.verdict for gate in gates] == ([] if verdict is None else [verdict])
