"""What PyTorch says when it runs out: read piece by piece, and added up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines import pytorch
from oomph.ledger.observation import Quantity
from oomph.units import GIB, KIB, MIB, Bounds

NOW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.56 GiB. GPU 0 has a total capacity of 31.36 GiB "
    "of which 1.37 GiB is free. Including non-PyTorch memory, this process has 29.98 GiB memory in use. Of the "
    "allocated memory 24.95 GiB is allocated by PyTorch, and 758.67 MiB is reserved by PyTorch but unallocated."
)
BEFORE = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 4; 31.75 GiB total capacity; "
    "30.29 GiB already allocated; 3.75 MiB free; 30.40 GiB reserved in total by PyTorch)"
)


def account(text: str) -> dict[Quantity, Bounds]:
    return pytorch.account(pytorch.pieces(text))


def test_every_figure_of_the_sentence_is_read() -> None:
    said = account(NOW)
    likely = {quantity: round(size.likely / GIB, 4) for quantity, size in said.items()}

    assert likely == {
        Quantity.TRIED: 1.56,
        Quantity.DEVICE_TOTAL: 31.36,
        Quantity.DEVICE_FREE: 1.37,
        Quantity.IN_USE: 29.98,
        Quantity.ALLOCATED: 24.95,
        Quantity.RESERVED: round(758.67 / 1024, 4),
        Quantity.OUTSIDE: round(29.98 - 24.95 - 758.67 / 1024, 4),
    }


def test_what_is_outside_of_pytorch_is_known_only_within_all_rounding() -> None:
    outside = account(NOW)[Quantity.OUTSIDE]
    doubt = 2 * 0.005 * GIB + 0.005 * MIB

    assert abs(outside.low - (outside.likely - doubt)) < 4
    assert abs(outside.high - (outside.likely + doubt)) < 4


def test_the_old_account_gives_what_is_reserved_in_total() -> None:
    said = account(BEFORE)

    assert said[Quantity.ALLOCATED].likely == round(30.29 * GIB)
    assert abs(said[Quantity.RESERVED].likely - 0.11 * GIB) < 2
    assert said[Quantity.DEVICE_FREE].likely == round(3.75 * MIB)
    assert Quantity.OUTSIDE not in said


@pytest.mark.parametrize(
    ("text", "in_use", "foreign"),
    [
        ("Process 7 has 3.00 GiB memory in use.", 3, None),  # in a container, it does not know itself
        ("Process 7 has 3.00 GiB memory in use. Process 8 has 1.00 GiB memory in use.", None, None),
        ("Process 7 has 3.00 GiB memory in use. Then this process has 5.00 GiB memory in use.", 5, 3),
        ("Process has 2.00 GiB memory in use.", 2, None),
    ],
)
def test_memory_of_other_processes_is_not_taken_for_its_own(text: str, in_use: int | None, foreign: int | None) -> None:
    said = {quantity: size.likely // GIB for quantity, size in account(text).items()}

    assert said.get(Quantity.IN_USE) == in_use
    assert said.get(Quantity.FOREIGN) == foreign


def test_a_typing_error_that_one_release_has_is_read_too() -> None:
    said = account("GPU 0 has a total capacty of 23.69 GiB of which 12.00 MiB is free.")

    assert said[Quantity.DEVICE_TOTAL].likely == round(23.69 * GIB)


def test_memory_in_pools_of_graphs_is_told_apart() -> None:
    text = (
        "memory 70.10 GiB is allocated by PyTorch, with 66.00 MiB allocated in private pools (e.g., CUDA Graphs), and"
    )

    assert account(text)[Quantity.PRIVATE].likely == 66 * MIB


@given(st.integers(0, 1 << 44))
def test_what_is_printed_may_have_been_what_it_was(size: int) -> None:
    text = pytorch.NOTATIONS["size"].write(size)
    read = pytorch.printed(text)

    assert size in read
    assert read.doubt <= 0.01 * max(GIB if "GiB" in text else MIB if "MiB" in text else KIB, 100) + 2


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    assert set(account(text + NOW[:150] + text)) >= {Quantity.TRIED}
