"""Sizes, bounds and releases for hypothesis, in one place so that every property sees the same corners."""

from hypothesis import strategies as st

from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.gate import Gate, Step
from oomph.units import Bounds, Bytes

MOST = 1 << 45  # 32 TiB: beyond every device

sizes = st.integers(min_value=0, max_value=MOST)
bounds = st.lists(sizes, min_size=3, max_size=3).map(sorted).map(lambda three: Bounds(three[0], three[2], three[1]))
releases = st.sampled_from(HISTORY.releases)


def gate(has: Bounds, needs: Bounds) -> Gate:
    return Gate(step=Step.START_CHECK, needs=needs, has=has, said="made by a test")


__all__ = ["MOST", "Bytes", "bounds", "gate", "releases", "sizes"]
