"""Weights that public start-ups measured, beside ours; and the rounding that makes the difference."""

import os
from typing import Final

import pytest

from exact import corpus, explained
from exact.corpus import Record
from oomph.engines.vllm.formulas.allocator import held
from oomph.units import MIB

NEAR: Final = 0.91  # of the records that determine a checkpoint, within 1 %: measured, less a little slack


@pytest.fixture(scope="module")
def records() -> list[Record]:
    if not corpus.STARTUPS.exists():
        if os.environ.get("CI"):
            pytest.fail("the shared corpus is not beside this checkout")
        pytest.skip("the shared corpus is not beside this checkout")
    return list(corpus.records())


def test_measured_weights_are_ours_within_a_hundredth(records: list[Record]) -> None:
    known = [each for each in records if each.undetermined is None]
    near = [each for each in known if each.near]

    assert len(known) >= 45
    assert len(near) / len(known) >= NEAR


def test_every_outlier_is_explained_and_only_outliers_are(records: list[Record]) -> None:
    outliers = {each.id for each in records if each.undetermined is None and not each.near}

    assert outliers == set(explained.MEASURED)


def test_a_record_that_determines_no_checkpoint_says_what_it_lacks(records: list[Record]) -> None:
    lacking = {each.undetermined for each in records if each.undetermined is not None}

    assert lacking == {corpus.UNNAMED, corpus.UNSAID, corpus.INEXACT, corpus.ADAPTERS}
    assert all((each.ours is None) is (each.undetermined is not None) for each in records)


@pytest.mark.parametrize(
    ("id_", "gib"),
    [
        ("s0003", 14.9888),  # Llama 3.1 8B: 14.9575 of parameters, and 32 MiB of positions
        ("s0113", 5.7915),  # Qwen 2.5 3B: 36 matrices of 43 MiB hold 44 MiB each
        ("s0082", 74.2810),  # Qwen3-Next 80B on two ranks: a quarter of each head is rotated
        ("s0191", 28.4570),  # Qwen3 30B A3B on two ranks
        ("s0209", 14.2487),  # Qwen 2 7B
        ("s0212", 7.1216),  # and on two ranks
    ],
)
def test_what_a_log_printed_is_met_to_four_digits(id_: str, gib: float, records: list[Record]) -> None:
    (record,) = (each for each in records if each.id == id_)

    assert record.ours == pytest.approx(gib, abs=1e-4)
    assert record.ours == pytest.approx(record.measured, abs=3e-4)


@pytest.mark.parametrize(
    ("size", "holds"),
    [
        (1, 512),
        (513, 1024),
        (3 * MIB, 3 * MIB),
        (10 * MIB, 10 * MIB),
        (43 * MIB, 44 * MIB),  # a segment of 44 MiB, whose last MiB is too little to cut off
        (43 * MIB - 512, 43 * MIB - 512),  # more than a MiB is left, and cut off
        (44 * MIB - 1, 44 * MIB),
    ],
)
def test_the_allocator_holds_blocks(size: int, holds: int) -> None:
    assert held(size) == holds
