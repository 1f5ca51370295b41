"""The order in which a release groups, checks and counts: one function per way that was ever gone.

Knows the steps of `v1/core/kv_cache_utils.py` and of `v1/engine/core.py` before 0.11. Everything that a step does is
in `Rules`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from oomph.engines.vllm.pool import needs
from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps
from oomph.engines.vllm.pool.group import Group, Groups, Layers
from oomph.engines.vllm.pool.grouping import groups
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.pool import Pool, Share, Worker
from oomph.engines.vllm.pool.refusal import Reason, Refusal, Unplannable
from oomph.engines.vllm.pool.rules import Rules
from oomph.ledger.same import Same
from oomph.units import Bytes


def as_the_smallest(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """Every worker as if it had the least memory and the most layers of all."""
    available = min(worker.available for worker in workers)
    most = max(len(worker.layers) for worker in workers)
    shares = []
    for worker in workers:
        need = _checked_layers(Worker(layers=worker.layers, available=available), limits, rules)
        found = groups(worker.layers, replace(limits, hybrid=False), rules)
        blocks = rules.override(available // found[0].page // most, limits)
        shares.append(_share(found, blocks, limits, rules, need=need, usable=available))
    return _pool(shares, [blocks] * len(shares), limits, rules)


def each_in_one_kind(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """Each worker by itself, all its layers as one kind."""
    return each_alone(workers, replace(limits, hybrid=False), rules)


def each_alone(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """Each worker by itself; then the fewest blocks count, but memory for more stays taken."""
    shares, blocks = [], []
    for worker in workers:
        need = _checked_layers(worker, limits, rules)
        found = tuple(sorted(groups(worker.layers, limits, rules), key=rules.ordered))
        blocks.append(_blocks(found, worker.available, limits, rules))
        shares.append(_share(found, blocks[-1], limits, rules, need=need, usable=worker.available))
    _agreed(shares)
    return _pool(shares, blocks, limits, rules)


def together_but_unshrunk(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """The whole model is grouped; then the fewest blocks count, but memory for more stays taken."""
    needed = [_checked_layers(worker, limits, rules) for worker in workers]
    parts = _parts(workers, limits, rules)
    blocks = [_blocks(part, worker.available, limits, rules) for part, worker in zip(parts, workers, strict=True)]
    shares = [
        _share(part, count, limits, rules, need=need, usable=worker.available)
        for part, count, need, worker in zip(parts, blocks, needed, workers, strict=True)
    ]
    return _pool(shares, blocks, limits, rules)


def checked_by_layer(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """The check comes first, layer by layer; then the whole model is grouped."""
    needed = [_checked_layers(worker, limits, rules) for worker in workers]
    rooms = [worker.available for worker in workers]
    return _counted(_parts(workers, limits, rules), rooms, rooms, needed, limits, rules)


def checked_by_smallest(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """The whole model is held against the worker with least memory, even where each has only some layers."""
    found = groups(_merged(workers, limits, rules), limits, rules)
    room = min(worker.available for worker in workers)
    if limits.auto_length and found:
        limits = _shortened(limits, _longest(found, room, limits, rules))
    need = _checked(found, room, limits, rules) if found else 0
    parts, rooms = [rules.projected(found, w.layers) for w in workers], [w.available for w in workers]
    return _counted(parts, rooms, [room] * len(parts), [need] * len(parts), limits, rules)


def checked_by_worker(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Pool:
    """Each worker's share of the model is held against its own memory."""
    parts = _parts(workers, limits, rules)
    rooms, usable = _rooms(parts, workers, limits, rules)
    if limits.auto_length and any(parts):
        limits = _shortened(limits, _longest_of(parts, usable, limits, rules))
    needed = [_checked(part, bound, limits, rules) if part else 0 for part, bound in zip(parts, usable, strict=True)]
    return _counted(parts, rooms, usable, needed, limits, rules)


def longest_by_layer(workers: Sequence[Worker], limits: Limits, rules: Rules) -> int:
    """The longest request whose layers, each by itself, fit every worker."""
    return min(_longest_of_layers(worker, limits, rules) for worker in workers)


def longest_by_smallest(workers: Sequence[Worker], limits: Limits, rules: Rules) -> int:
    """The longest request of the whole model that fits the worker with least memory."""
    found = groups(_merged(workers, limits, rules), limits, rules)
    room = min(worker.available for worker in workers)
    return _longest(found, room, limits, rules) if found else limits.context_tokens


def longest_by_worker(workers: Sequence[Worker], limits: Limits, rules: Rules) -> int:
    """The longest request that fits every worker's share."""
    parts = _parts(workers, limits, rules)
    _, usable = _rooms(parts, workers, limits, rules)
    return _longest_of(parts, usable, limits, rules)


def _parts(workers: Sequence[Worker], limits: Limits, rules: Rules) -> list[tuple[Group, ...]]:
    if len(workers) == 1 and not rules.retained(limits):
        return [alone(workers[0].layers, limits, rules)]
    found = groups(_merged(workers, limits, rules), limits, rules)
    return [rules.projected(found, worker.layers) for worker in workers]


def alone(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...]:
    """The groups of one worker that has the whole model."""
    grouping = Limits(context_tokens=1, step_tokens=1, layout=limits.layout, hybrid=limits.hybrid)
    return _alone(Same(layers), grouping, Same(rules))


@lru_cache(maxsize=256)
def _alone(layers: Same[Layers], limits: Limits, rules: Same[Rules]) -> tuple[Group, ...]:
    """The groups of one worker that has the whole model; of the limits, grouping reads layout and hybrid alone."""
    return rules.it.projected(groups(layers.it, limits, rules.it), layers.it)


def _merged(workers: Sequence[Worker], limits: Limits, rules: Rules) -> Layers:
    """The layers of all workers; a window keeps what a draft reads again."""
    retained = rules.retained(limits)
    layers: dict[str, Cache] = {}
    for worker in workers:
        for name, cache in worker.layers.items():
            if layers.setdefault(name, cache) != cache:
                raise Unplannable(Reason.UNSUPPORTED)
    return {name: _retaining(cache, retained) for name, cache in layers.items()} if retained else layers


def _retaining(cache: Cache, tokens: int) -> Cache:
    if isinstance(cache, AttentionCache) and cache.keeps is Keeps.WINDOW:
        return replace(cache, retained=tokens)
    return cache


def _agreed(shares: Sequence[Share]) -> None:
    """Workers that group by themselves must have come to the same kinds in the same order."""
    for share in shares[1:]:
        for first, other in zip(shares[0].groups, share.groups, strict=False):  # one may have fewer
            if first.cache != other.cache:
                raise Unplannable(Reason.UNSUPPORTED)


def _rooms(
    parts: Sequence[Groups], workers: Sequence[Worker], limits: Limits, rules: Rules
) -> tuple[list[int], list[int]]:
    """What each worker has, or what the blocks take that the user asks for; and that less what is never given out."""
    rooms, usable = [], []
    for part, worker in zip(parts, workers, strict=True):
        each = needs.per_block(part, limits, rules) if part else 0
        overridden = limits.override_blocks is not None and rules.override_counts and part
        rooms.append((limits.override_blocks or 0) * each if overridden else worker.available)
        usable.append(rooms[-1] - rules.reserved_blocks * each)
    return rooms, usable


def _blocks(part: Groups, room: int, limits: Limits, rules: Rules) -> int:
    if not part:
        return 1  # a pool without layers has its one block that is never given out
    return rules.override(max(room // needs.per_block(part, limits, rules), 0), limits)


def _checked_layers(worker: Worker, limits: Limits, rules: Rules) -> int:
    if not worker.layers:
        return 0
    if worker.available <= 0:
        raise Unplannable(Reason.NO_MEMORY)
    need = needs.of_layers(worker.layers, limits, limits.context_tokens, rules)
    if need > worker.available:
        raise _too_small(need, worker.available, _longest_of_layers(worker, limits, rules))
    return need


def _checked(part: Groups, usable: int, limits: Limits, rules: Rules) -> int:
    if usable <= 0:
        raise Unplannable(Reason.NO_MEMORY)
    need = rules.need(part, limits, limits.context_tokens, rules)
    if need > usable:
        raise _too_small(need, usable, _longest(part, usable, limits, rules))
    return need


def _too_small(need: int, usable: int, fitting: int) -> Unplannable:
    return Unplannable(
        Refusal(reason=Reason.TOO_SMALL, need=Bytes(need), available=Bytes(usable), fitting_tokens=fitting)
    )


def _longest_of_layers(worker: Worker, limits: Limits, rules: Rules) -> int:
    return needs.longest(
        lambda length: needs.of_layers(worker.layers, limits, length, rules) <= worker.available,
        limits.context_tokens,
    )


def _longest(part: Groups, usable: int, limits: Limits, rules: Rules) -> int:
    if rules.need is needs.of_blocks:  # as many blocks as fit, instead of their bytes again and again
        most = usable // needs.per_block(part, limits, rules)
        return needs.longest(lambda length: needs.blocks(part, limits, length, rules) <= most, limits.context_tokens)
    return needs.longest(lambda length: rules.need(part, limits, length, rules) <= usable, limits.context_tokens)


def _longest_of(parts: Sequence[Groups], usable: Sequence[int], limits: Limits, rules: Rules) -> int:
    found = [_longest(part, bound, limits, rules) for part, bound in zip(parts, usable, strict=True) if part]
    return min(found, default=limits.context_tokens)


def _shortened(limits: Limits, length: int) -> Limits:
    if length <= 0:
        raise Unplannable(Reason.NOTHING_FITS)
    return replace(limits, context_tokens=length)


def _counted(
    parts: Sequence[tuple[Group, ...]],
    rooms: Sequence[int],
    usable: Sequence[int],
    needed: Sequence[int],
    limits: Limits,
    rules: Rules,
) -> Pool:
    """The fewest blocks of all workers, and tensors no larger than those."""
    blocks = [_blocks(part, room, limits, rules) for part, room in zip(parts, rooms, strict=True)]
    fewest = min(blocks)
    shares = [
        _share(part, fewest, limits, rules, need=need, usable=bound)
        for part, need, bound in zip(parts, needed, usable, strict=True)
    ]
    return _pool(shares, [fewest], limits, rules)


def _share(part: Groups, blocks: int, limits: Limits, rules: Rules, *, need: int, usable: int) -> Share:
    if not part:
        return Share(groups=(), bytes_per_block=Bytes(0), tensors=(), need=Bytes(need), usable=Bytes(usable))
    each = needs.per_block(part, limits, rules)
    return Share(
        groups=tuple(part),
        bytes_per_block=Bytes(each),
        tensors=tuple(map(Bytes, rules.tensors(part, blocks, each, limits.layout))),
        need=Bytes(need),
        usable=Bytes(usable),
    )


def _pool(shares: Sequence[Share], blocks: Sequence[int], limits: Limits, rules: Rules) -> Pool:
    """What the first worker prints, of its own blocks; what counts is the fewest."""
    if min(blocks) <= 0:
        raise Unplannable(Reason.NO_BLOCKS)
    found = shares[0].groups
    tokens, concurrency = rules.capacity(found, blocks[0], limits, rules) if found else (None, None)
    return Pool(
        blocks=min(blocks),
        context_tokens=limits.context_tokens,
        tokens=tokens,
        concurrency=concurrency,
        shares=tuple(shares),
    )
