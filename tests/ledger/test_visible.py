import pytest
from hypothesis import given

from hardware.probes import gpu, machine_of, probes
from oomph.ledger.probe import Gpu, Maker, Probe, Seen, Slice
from oomph.ledger.visible import Visible, visible
from oomph.units import GIB, Bytes


def indices(found: Visible) -> list[int]:
    return [place.gpu.index for place in found.places]


def seen(ordinal: int) -> Seen:
    return Seen(free=Bytes(GIB), total=Bytes(GIB), ordinal=ordinal)


FOUR = tuple(gpu(index) for index in range(4))
CUT = gpu(
    0,
    mig=True,
    slices=(Slice(uuid="MIG-aa", name="1g.5gb"), Slice(uuid="MIG-ab", name="3g.20gb")),
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0,1,2,3", [0, 1, 2, 3]),
        ("3,1", [3, 1]),
        (" 2 , 0", [2, 0]),
        ("1gpu,2", [1, 2]),  # what follows the digits is passed over
        ("", []),
        ("-1", []),
        ("0,-1,2", [0]),  # what does not name a device ends the list
        ("1,7,2", [1]),
        ("1,1", []),  # named twice: CUDA then shows none
        ("all", []),
        ("GPU-00000002-1a2b", [2]),
        ("GPU-00000002,GPU-00000000", [2, 0]),
        ("gpu-00000003", [3]),
        ("GPU-0", []),  # begins the UUID of more than one
        ("GPU-00000001,2", [1]),  # numbers do not mix with UUIDs
        ("GPU-99", []),
    ],
)
def test_a_process_sees_what_the_variable_names_up_to_the_first_word_that_names_nothing(
    value: str, expected: list[int]
) -> None:
    found = visible(machine_of(*FOUR, CUDA_VISIBLE_DEVICES=value))

    assert indices(found) == expected
    assert [place.ordinal for place in found.places] == list(range(len(expected)))
    assert set(found.hidden) == set(range(4)) - set(expected)


def test_without_the_variable_every_card_is_seen() -> None:
    assert indices(visible(machine_of(*FOUR))) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("value", "slice_"),
    [
        ("MIG-ab", "MIG-ab"),
        ("MIG-aa", "MIG-aa"),
        ("0", "MIG-aa"),
        (None, "MIG-aa"),
        ("MIG-GPU-00000000-1a2b/1/0", "MIG-aa"),
    ],
)
def test_of_a_card_that_is_cut_one_slice_is_seen_and_no_other_card(value: str | None, slice_: str) -> None:
    probe = machine_of(CUT, gpu(1)) if value is None else machine_of(CUT, gpu(1), CUDA_VISIBLE_DEVICES=value)
    (place,) = visible(probe).places

    assert place.slice is not None
    assert place.slice.uuid == slice_


def test_a_card_in_mig_mode_without_a_slice_and_a_lost_one_are_not_seen() -> None:
    found = visible(machine_of(gpu(0, mig=True), gpu(1, error="GPU is lost"), gpu(2)))

    assert indices(found) == [2]
    assert found.hidden == {0: "it is in MIG mode and has no slice", 1: "GPU is lost"}


def test_which_of_two_different_cards_is_first_is_not_claimed_unless_cuda_was_asked() -> None:
    two = (gpu(0), gpu(1, name="NVIDIA H100 80GB HBM3"))
    asked = (gpu(0, seen=seen(1)), gpu(1, name="NVIDIA H100 80GB HBM3", seen=seen(0)))

    assert not visible(machine_of(*two)).ordered
    assert not visible(machine_of(*two, CUDA_VISIBLE_DEVICES="0")).ordered
    assert visible(machine_of(*two, CUDA_DEVICE_ORDER="PCI_BUS_ID")).ordered
    assert visible(machine_of(*two, CUDA_VISIBLE_DEVICES="GPU-00000001")).ordered
    assert visible(machine_of(*asked)).ordered
    assert indices(visible(machine_of(*asked))) == [1, 0]


def test_amds_cards_are_chosen_by_amds_variable() -> None:
    cards = tuple(gpu(index, maker=Maker.AMD) for index in range(2))

    assert indices(visible(machine_of(*cards, HIP_VISIBLE_DEVICES="1"))) == [1]


@given(probes)
def test_whatever_a_machine_says_each_place_is_a_card_that_is_there_and_works(probe: Probe) -> None:
    found = visible(probe)
    shown: list[Gpu] = [place.gpu for place in found.places]

    assert [place.ordinal for place in found.places] == list(range(len(shown)))
    assert all(gpu in probe.gpus and gpu.error is None for gpu in shown)
    assert all(place.slice is not None for place in found.places if place.gpu.mig)
    assert len(shown) == 1 or not any(place.slice for place in found.places)
    assert set(found.hidden) | {gpu.index for gpu in shown} == {gpu.index for gpu in probe.gpus}
