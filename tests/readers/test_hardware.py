"""What people write of their machines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.case import Platform
from oomph.ledger.catalogue import CATALOGUE
from oomph.readers.hardware import read_hardware
from oomph.units import GIB


@pytest.mark.parametrize(
    ("written", "key", "count", "total"),
    [
        ("rtx-5090", "rtx-5090", 1, None),
        ("a100-80gb x4", "a100-80gb", 4, None),
        ("RTX 3090 24GB", "rtx-3090", 1, None),
        ("2x RTX 3090 24GB, TP=2", "rtx-3090", 2, None),
        ("8x H200 (139.81 GiB), TP=8", "h200", 8, 139.81),
        ("RTX 5090 32GB under WSL2 (31.84 GiB)", "rtx-5090", 1, 31.84),
    ],
)
def test_a_card_is_found_by_the_words_around_it(written: str, key: str, count: int, total: float | None) -> None:
    found = read_hardware(written).devices

    assert {device.name for device in found} == {CATALOGUE[key].name}
    assert len(found) == count
    assert found[0].total == (CATALOGUE[key].total if total is None else round(total * GIB))


@pytest.mark.parametrize("written", ["RTX 4090/3090", "8 GPUs, TP=8", "A100", "none", ""])
def test_what_is_not_one_card_is_none(written: str) -> None:
    assert read_hardware(written).devices == ()


def test_a_size_alone_is_a_device() -> None:
    (device,) = read_hardware("80GB (79.15 GiB)").devices

    assert device.name == "a device of 79.15 GiB"


@pytest.mark.parametrize(
    ("written", "platform"),
    [
        ("RTX 4060 8GB (WSL2)", {Platform.WSL2}),
        ("H100 MIG 40GB", {Platform.MIG}),
        ("DGX Spark GB10 (121 GiB unified)", {Platform.UNIFIED}),
        ("Strix Halo", {Platform.UNIFIED, Platform.ROCM}),
        ("Intel XPU (30.3 GiB)", {Platform.XPU}),
        ("A100 80GB", set()),
    ],
)
def test_words_that_change_the_meaning_of_a_message_are_heard(written: str, platform: set[Platform]) -> None:
    assert read_hardware(written).platform == platform


@given(st.text(max_size=80))
def test_nothing_that_is_written_is_an_error(written: str) -> None:
    assert all(device.total > 0 for device in read_hardware(written).devices)
