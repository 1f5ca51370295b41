"""The KV pool that a release of vLLM would make, or why it would make none."""

from collections.abc import Sequence

from oomph.engines.history import Release
from oomph.engines.vllm import facts as vllm_facts
from oomph.engines.vllm.pool import facts
from oomph.engines.vllm.pool.group import Layers
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.needs import per_block
from oomph.engines.vllm.pool.planning import alone
from oomph.engines.vllm.pool.pool import Pool, ThrowAway, Worker
from oomph.engines.vllm.pool.refusal import Refusal, Unplannable
from oomph.units import Bytes


def plan(workers: Sequence[Worker], limits: Limits, release: Release) -> Pool | Refusal:
    """The pool of these workers: one with all layers, or one per pipeline stage and rank."""
    rules = facts.rules(release)
    try:
        return rules.planned(workers, limits, rules)
    except Unplannable as refused:
        return refused.refusal


def largest_length(workers: Sequence[Worker], limits: Limits, release: Release) -> int | Refusal:
    """The longest request that fits, up to `limits.context_tokens`; 0 where not even one token does."""
    rules = facts.rules(release)
    try:
        return rules.longest(workers, limits, rules)
    except Unplannable as refused:
        return refused.refusal


def minimal_pool(
    layers: Layers,
    limits: Limits,
    release: Release,
    *,
    sequences: int,
    largest_capture: int,
    second_runner: bool = False,
) -> ThrowAway | Refusal | None:
    """The throw-away pool in which one worker estimates its CUDA graphs; None where it makes none."""
    table = vllm_facts.graph_profile_blocks_v2 if second_runner else vllm_facts.graph_profile_blocks
    blocks = table.at(release)(sequences=sequences, largest_capture=largest_capture)
    if blocks is None or not layers:
        return None
    rules = facts.rules(release)
    try:
        found = alone(layers, limits, rules)
        each = per_block(found, limits, rules)
        tensors = rules.tensors(found, blocks, each, limits.layout)
    except Unplannable as refused:
        return refused.refusal
    return ThrowAway(groups=found, blocks=blocks, bytes_per_block=Bytes(each), tensors=tuple(map(Bytes, tensors)))
