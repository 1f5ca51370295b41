"""Remedies that help at several gates of a start-up, with their prices, as far as a case tells their values.

Knows levers in words. Does not know at which gate which one acts: rules and `sieve` do.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Remedy
from oomph.engines.vllm.charged import LARGEST_GRAPH, V1_BY_DEFAULT
from oomph.units import Bytes

_SEQUENCES: Final = 256  # that run at once where nobody says how many; the higher tier is four times that
_FEWEST: Final = 4


def fewer_sequences(case: Case, now: int | None = None) -> Remedy:
    """A quarter of those that run at once now; 64 where they are not known."""
    now = now or case.flags.positive("max_num_seqs") or _SEQUENCES
    fewer = max(now // 4, min(now, _FEWEST))
    return Remedy(
        change={"max_num_seqs": fewer},
        lever="max_num_seqs_down",
        price=f"at most {fewer:,} requests run at once; the others wait",
    )


def smaller_graphs(case: Case) -> tuple[Remedy, ...]:
    """Graphs for small batches only, as the release lets one say it; nothing where only sequences limit them."""
    if case.release is not None and case.release not in V1_BY_DEFAULT:
        return ()
    known = case.release is not None and case.release in LARGEST_GRAPH
    return (
        Remedy(
            change={"max_cudagraph_capture_size": 32} if known else {"compilation_config": _SIZES},
            lever="fewer_cudagraph_sizes",
            price="steps with more than 32 tokens run without a graph: slower decoding of large batches",
        ),
    )


_SIZES: Final = '{"cudagraph_capture_sizes": [1, 2, 4, 8, 16, 32]}'
EAGER: Final = Remedy(
    change={"enforce_eager": True},
    lever="enforce_eager",
    price="no graphs: slower decoding, most of all of small batches",
)


def more_ranks(case: Case) -> Remedy:
    """Twice as many devices share weights and heads."""
    ranks = 2 * case.flags.count("tensor_parallel_size")
    return Remedy(
        change={"tensor_parallel_size": ranks},
        lever="tp_or_more_gpus",
        price=f"{ranks} GPUs instead of {ranks // 2}",
    )


def newer(release: str, why: str) -> Remedy:
    """An upgrade."""
    return Remedy(
        change={"release": release},
        lever="upgrade",
        act=f"run {release} or newer",
        price=f"another release: {why}",
    )


def larger_share(now: float | None, lacking: int, total: int | None) -> Remedy | None:
    """The share with which so much more is there, rounded up to hundredths; None where there is none below 1."""
    if now is None or not total:
        act = "raise --gpu-memory-utilization" + (f" until {Bytes(lacking).up} more are there" if lacking > 0 else "")
        return Remedy(
            change={}, act=act, lever="gpu_memory_utilization_up", price="less of the device is left to others"
        )
    hundredths = -(-(round(now * 10_000) + -(-lacking * 10_000 // total)) // 100)
    if hundredths > _HIGHEST:
        return None
    return Remedy(
        change={"gpu_memory_utilization": hundredths / 100},
        lever="gpu_memory_utilization_up",
        price=f"{Bytes(total * (100 - hundredths) // 100).down} of the device are left for all that no budget counts",
    )


_HIGHEST: Final = 98  # hundredths; above it the driver's own context has no room
