import pytest

from oomph.errors import UnknownDevice
from oomph.ledger.catalogue import CATALOGUE, devices
from oomph.ledger.device import Device, Tenant
from oomph.units import GIB, Bounds, Bytes


def test_a_5090_has_31_35_gib_and_not_the_32_of_its_box() -> None:
    assert str(CATALOGUE["rtx-5090"].total) == "31.35 GiB"


@pytest.mark.parametrize(
    ("written", "name", "count"),
    [
        ("rtx-5090", "NVIDIA GeForce RTX 5090", 1),
        ("RTX 5090", "NVIDIA GeForce RTX 5090", 1),
        ("a100-80gb x4", "NVIDIA A100-SXM4-80GB", 4),
        ("h100-80gbx8", "NVIDIA H100 80GB HBM3", 8),
        ("24GiB", "a device of 24.00 GiB", 1),
        ("24GiB x2", "a device of 24.00 GiB", 2),
    ],
)
def test_a_device_is_found_by_name_count_or_size(written: str, name: str, count: int) -> None:
    found = devices(written)

    assert [device.name for device in found] == [name] * count


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("rtx-5091", "did you mean rtx-5090?"),
        ("24GB", "write 24GiB"),
        ("voodoo", "known: t4"),
        ("", "not a device"),
        ("0GiB", "no GPU has 0 B"),
        ("3090", "such as rtx-3090"),
        ("h100", "did you mean h100-80gb or h100-nvl?"),
    ],
)
def test_an_unknown_device_is_refused_with_what_to_write(written: str, hint: str) -> None:
    with pytest.raises(UnknownDevice, match=hint.replace("?", r"\?")):
        devices(written)


def test_more_free_than_there_is_cannot_be() -> None:
    with pytest.raises(ValueError, match="cannot be free"):
        Device(name="odd", total=Bytes(GIB), free=Bounds(2 * GIB))


def test_what_tenants_hold_is_unknown_as_soon_as_one_of_them_is() -> None:
    told = Tenant(pid=1, name="python", holds=Bytes(GIB))
    untold = Tenant(pid=2, name="Xorg", holds=None)

    assert Device(name="shared", total=Bytes(8 * GIB), tenants=(told, told)).held == 2 * GIB
    assert Device(name="shared", total=Bytes(8 * GIB), tenants=(told, untold)).held is None
