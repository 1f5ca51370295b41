import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import Release, release
from oomph.engines.vllm.forecast import forecast
from oomph.ledger.catalogue import CATALOGUE, devices
from oomph.ledger.device import Device
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.settings import Flags, Origin
from oomph.units import GIB, Bounds, Bytes
from strategies import releases


def card(free: float, total: int = 24) -> Device:
    return Device(name="card", total=Bytes(total * GIB), free=Bounds(round(free * GIB)))


@pytest.mark.parametrize(("free", "verdict"), [(21.61, Verdict.FITS), (21.59, Verdict.OVERFLOWS)])
def test_the_start_check_asks_for_the_share_of_the_total(free: float, verdict: Verdict) -> None:
    answer = forecast(
        Flags({"gpu_memory_utilization": 0.9}), model=None, devices=(card(free),), release=release("0.19.1")
    )

    assert answer.gates[0].step is Step.START_CHECK
    assert answer.gates[0].verdict is verdict


def test_releases_before_0_9_1_do_not_check() -> None:
    answer = forecast(Flags(), model=None, devices=(card(1),), release=release("0.9.0"))

    assert answer.gates == ()
    assert Step.START_CHECK in answer.not_forecast
    assert answer.verdict is Verdict.UNSURE


def test_the_poorest_device_decides() -> None:
    answer = forecast(Flags(), model=None, devices=(card(24), card(3), card(24)), release=release("0.32.0"))

    assert (answer.device.free, answer.count) == (Bounds(3 * GIB), 3)
    assert answer.verdict is Verdict.OVERFLOWS


def test_no_device_fits_while_later_gates_are_not_forecast() -> None:
    answer = forecast(Flags(), model=None, devices=devices("b200"), release=release("0.32.0"))

    assert answer.stopped_at is None
    assert answer.verdict is Verdict.UNSURE


def test_settings_say_where_they_come_from() -> None:
    answer = forecast(Flags({"max_num_seqs": 16}), model=None, devices=devices("rtx-5090"), release=release("0.19.1"))
    settings = answer.settings

    assert settings["max_num_seqs"].origin is Origin.GIVEN
    assert settings["gpu_memory_utilization"].origin is Origin.DEFAULT
    assert settings["cudagraph_capture_sizes"].value == (1, 2, 4, 8, 16, 24, 32)


def test_without_graphs_nothing_is_captured() -> None:
    eager = Flags({"enforce_eager": True})
    answer = forecast(eager, model=None, devices=devices("rtx-5090"), release=release("0.19.1"))

    assert answer.settings["cudagraph_capture_sizes"].value == ()


@given(releases, st.sampled_from(list(CATALOGUE.values())), st.floats(0.1, 1.0), st.integers(0, 64 * GIB))
def test_more_free_memory_never_turns_a_pass_into_a_refusal(
    asked: Release, device: Device, share: float, more: int
) -> None:
    def verdicts(free: int) -> list[Verdict]:
        seen = Device(name=device.name, total=device.total, free=Bounds(free))
        flags = Flags({"gpu_memory_utilization": share})
        return [gate.verdict for gate in forecast(flags, model=None, devices=(seen,), release=asked).gates]

    poorer = max(0, device.total - more)

    assert all(
        not (after is Verdict.OVERFLOWS and before is Verdict.FITS)
        for before, after in zip(verdicts(poorer), verdicts(device.total), strict=True)
    )
