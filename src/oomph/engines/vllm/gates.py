"""The questions that the engine asks of its memory on the way up, each with its two sides in words.

Knows which parts are on the device at each gate, and which flags change neither side there. Does not know how large a
part is, nor what would help.
"""

from typing import Final

from oomph.engines.vllm import on_device
from oomph.engines.vllm.rank import Rank
from oomph.ledger.device import Device
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.kv import GraphProfile, KvPool
from oomph.ledger.ledger import Account, Ledger
from oomph.ledger.settings import Settings
from oomph.units import Bounds, Bytes, together

_SHARE: Final = "--gpu-memory-utilization"
_LENGTH: Final = "--max-model-len"
_SEQUENCES: Final = "--max-num-seqs"
_STEP: Final = "--max-num-batched-tokens"
_GIVEN: Final = "--kv-cache-memory-bytes"
_BLOCKS: Final = "--num-gpu-blocks-override"
_EAGER: Final = "--enforce-eager"
_KEPT: Final = "--kv-cache-dtype"

_MUCH: Final = 1.05  # times as much as is counted

# Flags that change neither side of a gate, in any release.
INERT: Final = {
    Step.START_CHECK: (_LENGTH, _SEQUENCES, _STEP, _GIVEN, _BLOCKS, _EAGER, _KEPT, "--quantization"),
    Step.LOAD: (_SHARE, _LENGTH, _SEQUENCES, _KEPT, _GIVEN, _BLOCKS, _EAGER),
    Step.PROFILE: (_SHARE, _KEPT, _GIVEN, _BLOCKS),
    Step.GRAPH_PROFILE: (_SHARE, _LENGTH, _BLOCKS),
    Step.POOL_SIZE: (_LENGTH, _KEPT),
    Step.ONE_REQUEST: (),
    Step.CAPTURE: (_KEPT,),
    Step.WARM_UP: (_KEPT,),
    Step.SERVING: (_KEPT,),
}


def start_check(device: Device, *, share: float, budget: Bytes, free: Bounds, before: Bounds) -> Gate:
    """Whether as much is free as the engine may use."""
    seen = "seen free" if device.free is not None else "left free by a CUDA context on an empty device"
    return Gate(
        step=Step.START_CHECK,
        needs=Bounds(budget),
        has=free,
        said=lambda: f"{_SHARE} {share:g} of {device.total} is {budget}; {free.low} to {free.high} are {seen}",
        inert=INERT[Step.START_CHECK],
        holds=lambda: Ledger(tuple(on_device.driver(device, before))),
    )


def load(rank: Rank) -> Gate:
    """Whether the weights fit, with what loading them takes for a moment."""
    moment = f", {rank.loading.high.up} more for a moment" if rank.loading.high else ""
    return Gate(
        step=Step.LOAD,
        needs=together(rank.before, rank.weights.size, rank.parts.buffers, rank.loading),
        has=rank.room,
        said=lambda: f"weights of {rank.weights.size}{moment}; {_was_free(rank)}",
        inert=tuple(flag for flag in INERT[Step.LOAD] if flag != _SEQUENCES or not rank.parts.counts_words),
        holds=lambda: on_device.loading(rank),
    )


def profile(rank: Rank) -> Gate:
    """Whether the largest step fits beside the weights."""
    peak = rank.parts.peak
    return Gate(
        step=Step.PROFILE,
        needs=rank.beside_weights(peak),
        has=rank.room,
        said=lambda: f"the largest step takes {peak} for a moment, beside {rank.resident.likely}; {_was_free(rank)}",
        inert=INERT[Step.PROFILE],
        holds=lambda: on_device.held(rank, (Account.ACTIVATIONS, peak, "the largest step, for a moment")),
    )


def graph_profile(rank: Rank, throw_away: GraphProfile) -> Gate:
    """Whether the throw-away pool of the graph profile fits; there is no budget yet."""
    sampled = Bounds(0, max(0, int(rank.parts.graphs.likely)), 0)
    return Gate(
        step=Step.GRAPH_PROFILE,
        needs=rank.beside_weights(Bounds(throw_away.total), sampled),
        has=rank.room,
        said=lambda: (
            f"{throw_away.words} are {throw_away.total}, beside weights of {rank.weights.size}; {_was_free(rank)}"
            + _failing(throw_away)
        ),
        inert=INERT[Step.GRAPH_PROFILE],
        holds=lambda: on_device.held(
            rank, (Account.KV_POOL, Bounds(throw_away.total), f"{throw_away.words}, thrown away afterwards")
        ),
    )


def pool_size(rank: Rank) -> Gate:
    """Whether anything of the budget is left for the pool."""
    charged = rank.parts.estimate if rank.parts.charged else None
    graphs = "" if charged is None else f", with {charged.likely} estimated for CUDA graphs"
    return Gate(
        step=Step.POOL_SIZE,
        needs=rank.taken,
        has=Bounds(rank.budget),
        said=lambda: (
            f"of a budget of {rank.budget}, everything but the pool takes {rank.taken}{graphs}; "
            f"{_left(rank.left)} left for the pool"
        ),
        inert=INERT[Step.POOL_SIZE] if not rank.parts.unfolds else (_KEPT,),
        holds=lambda: on_device.held(rank, on_device.pooled(rank)),
    )


def one_request(rank: Rank, kv: KvPool, settings: Settings, *, fitting: int | None) -> Gate | None:
    """Whether the pool holds one request of the longest length; None where nothing is kept."""
    if kv.need is None:
        return None
    room, part = rank.checked, _part(kv)
    shorter = "" if fitting is None else f"; {fitting:,} tokens would fit"
    return Gate(
        step=Step.ONE_REQUEST,
        needs=Bounds(kv.need),
        has=room,
        said=lambda: (
            f"one request of {settings.whole('max_model_len'):,} tokens {'is counted as' if part else 'takes'} "
            f"{kv.need}, {_left(room)} left for the pool{shorter}{part}"
        ),
        inert=(_SHARE,) if rank.given is not None and rank.given.checked is not None else (),
        holds=lambda: on_device.held(rank, on_device.pooled(rank)),
    )


def _part(kv: KvPool) -> str:
    """What to say where the release counts less for a request than it takes."""
    if kv.need is None or not kv.blocks or not kv.concurrency:
        return ""
    takes = Bytes(round(kv.blocks * kv.bytes_per_block / kv.concurrency))
    return "" if takes < kv.need * _MUCH else f"; it takes {takes}, of which this release counts a part"


def capture(rank: Rank, kv: KvPool, *, sequences: Bounds | None) -> Gate:
    """Whether the graphs fit beside the pool; `sequences`: each of so many needs a block of its own."""
    graphs = rank.parts.graphs
    beside = Gate(
        step=Step.CAPTURE,
        needs=rank.beside_pool(Bounds(0)),
        has=rank.room,
        said=lambda: f"graphs take {graphs} beside the pool and the weights; {_was_free(rank)}",
        inert=INERT[Step.CAPTURE],
        holds=lambda: on_device.held(
            rank, on_device.pooled(rank), on_device.used(rank), (Account.GRAPHS, graphs, "as captured")
        ),
    )
    blocks = None if sequences is None else _one_block_each(rank, kv, sequences)
    return blocks if blocks is not None and beside.verdict is not Verdict.OVERFLOWS else beside


def _one_block_each(rank: Rank, kv: KvPool, sequences: Bounds) -> Gate | None:
    """Each sequence of a captured decode step keeps its state in a block of its own (config/compilation.py)."""
    gate = Gate(
        step=Step.CAPTURE,
        needs=sequences * int(kv.bytes_per_block),
        has=rank.pool,
        said=lambda: (
            f"{_SEQUENCES} {int(sequences.likely)}: each needs a block of {kv.bytes_per_block} for its state, "
            f"and {_left(rank.pool)} left for the pool"
        ),
        inert=(_LENGTH, _KEPT),
        holds=lambda: on_device.held(rank, on_device.pooled(rank)),
    )
    return None if gate.verdict is Verdict.FITS else gate


def warm_up(rank: Rank) -> Gate:
    """Whether choosing tokens for all sequences at once fits beside everything else."""
    rows = rank.parts.sampling
    return Gate(
        step=Step.WARM_UP,
        needs=rank.beside_pool(rows),
        has=rank.room,
        said=lambda: (
            (
                f"choosing the next token of all sequences takes {rows} for a moment"
                if rows.high
                else "tokens are chosen on the last stage, not here"
            )
            + f"; {_was_free(rank)}"
        ),
        inert=INERT[Step.WARM_UP],
        holds=lambda: on_device.held(
            rank,
            on_device.pooled(rank),
            on_device.used(rank),
            on_device.captured(rank),
            (Account.ACTIVATIONS, rows, "sampling, for a moment"),
        ),
    )


def serving(rank: Rank) -> Gate:
    """Whether the worst step fits beside everything else."""
    worst = rank.parts.serving
    return Gate(
        step=Step.SERVING,
        needs=rank.beside_pool(worst),
        has=rank.room,
        said=lambda: f"the worst step takes {worst} for a moment; {_was_free(rank)}",
        inert=INERT[Step.SERVING],
        holds=lambda: on_device.steady(rank),
    )


def _was_free(rank: Rank) -> str:
    if rank.device.free is None:
        return f"the device has {rank.room.likely}, of which a CUDA context takes {rank.before.likely}"
    return f"{rank.room.likely} were free before loading"


def _left(pool: Bounds) -> str:
    """Never less than nothing, in words."""
    return f"{Bounds(max(0, pool.low), pool.high, max(0, pool.likely))} is" if pool.high > 0 else "nothing is"


def _failing(throw_away: GraphProfile) -> str:
    if throw_away.fails is None:
        return ""
    best, worst = throw_away.fails
    if throw_away.tensors == 1:
        return "; it fails at once"
    which = ordinal(best) if best == worst else f"{ordinal(worst)} to {ordinal(best)}"
    return f"; the {which} of {throw_away.tensors} allocations is the one that fails"


def ordinal(place: int) -> str:
    """A place as it is said: 1st, 2nd, 3rd, 4th."""
    teen = place % 100 in {11, 12, 13}
    return f"{place}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def first_failing(throw_away: GraphProfile, rank: Rank, allocated: Bounds | None) -> tuple[int, int] | None:
    """The first allocation that fails, at best and at worst; None where all may fit.

    `allocated`: by PyTorch when this start-up ran out, where somebody saw it: weights, and the allocations before.
    """
    beyond = None if allocated is None else allocated - rank.weights.size
    room = rank.room - rank.beside_weights() if beyond is None else beyond
    best, worst = (max(0, end) // int(throw_away.tensor) + 1 for end in (room.high, room.low))
    return (best, worst) if best <= throw_away.tensors else None
