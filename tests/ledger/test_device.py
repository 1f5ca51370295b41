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
        ("4090", "NVIDIA GeForce RTX 4090", 1),
        ("5090 x2", "NVIDIA GeForce RTX 5090", 2),
        ("RTX4090", "NVIDIA GeForce RTX 4090", 1),
        ("A6000", "NVIDIA RTX A6000", 1),
        ("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", 1),
        ("NVIDIA A100-SXM4-80GB x8", "NVIDIA A100-SXM4-80GB", 8),
        ("Tesla T4", "Tesla T4", 1),
    ],
)
def test_a_device_is_found_by_name_count_or_size(written: str, name: str, count: int) -> None:
    found = devices(written)

    assert [device.name for device in found] == [name] * count


@pytest.mark.parametrize(
    ("written", "totals"),
    [
        ("rtx-3090,rtx-4090", ["23.57 GiB", "23.63 GiB"]),
        ("rtx-3090 x2 + rtx-4090", ["23.57 GiB", "23.57 GiB", "23.63 GiB"]),
        ("RTX 4090 + 24GiB x2, t4", ["23.63 GiB", "24.00 GiB", "24.00 GiB", "14.56 GiB"]),
    ],
)
def test_devices_that_differ_are_written_one_after_the_other_in_the_order_of_ranks(
    written: str, totals: list[str]
) -> None:
    assert [str(device.total) for device in devices(written)] == totals


@pytest.mark.parametrize("written", ["l4 x0", "l4x0", "24GiB x1000", "rtx-3090, l4 x0"])
def test_a_count_that_no_machine_has_is_refused_as_a_count(written: str) -> None:
    with pytest.raises(UnknownDevice, match=r"GPUs: write a count from 1 to 999, such as .* x2"):
        devices(written)


def test_a_hint_names_only_what_the_catalogue_has() -> None:
    with pytest.raises(UnknownDevice) as size:
        devices("0GiB")
    with pytest.raises(UnknownDevice) as number:
        devices("123")

    assert "rtx" not in str(size.value)
    assert "rtx" not in str(number.value)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("rtx-3090,", "not a device: ''"),
        ("rtx-3090 + rtx-4091", "did you mean rtx-4090?"),
        ("6000", "such as rtx-pro-6000"),
        ("rtx-5091", "did you mean rtx-5090?"),
        ("24GB", "write 24GiB"),
        ("voodoo", "known: t4"),
        ("", "not a device"),
        ("0GiB", "no GPU has 0 B"),
        ("a100", "did you mean a100-40gb or a100-80gb?"),
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
