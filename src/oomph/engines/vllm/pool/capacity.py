"""Tokens that a pool holds and requests it can serve at once, as each release computes them to print them."""

from oomph.engines.vllm.pool.caches import StateCache
from oomph.engines.vllm.pool.group import Groups
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.needs import blocks as blocks_of_request
from oomph.engines.vllm.pool.requests import group_pages
from oomph.engines.vllm.pool.rules import Rules


def of_one_group(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """All blocks full of tokens, over the longest request."""
    del rules
    tokens = blocks * groups[0].block_tokens
    return tokens, tokens / limits.context_tokens


def of_equal_shares(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """Tokens as if every group had the same share of the blocks."""
    return _printed(groups, blocks, limits), _requests_by_bytes(groups, blocks, limits, rules)


def of_one_group_on_ranks(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """The same; where there is one group, ranks that split a request add up."""
    ranks = limits.decode_ranks if len(groups) == 1 else 1
    return _printed(groups, blocks, limits) * ranks, _requests_by_bytes(groups, blocks, limits, rules)


def of_equal_shares_on_ranks(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """The same; ranks that split a request add up."""
    return _shared(groups, blocks) * rules.ranks(limits), _requests_by_bytes(groups, blocks, limits, rules)


def of_requests(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """Tokens of as many longest requests as fit, so that it depends on how long those are."""
    requests = _requests_by_bytes(groups, blocks, limits, rules)
    return int(requests * limits.context_tokens), requests


def of_requests_by_blocks(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> tuple[int, float]:
    """The same; a request takes whole blocks of every group."""
    requests = blocks / blocks_of_request(groups, limits, limits.context_tokens, rules)
    return int(requests * limits.context_tokens), requests


def _printed(groups: Groups, blocks: int, limits: Limits) -> int:
    """Recurrent layers by themselves are counted in blocks of attention, which they do not have."""
    if len(groups) == 1 and isinstance(groups[0].cache, StateCache):
        return blocks * limits.block_tokens
    return _shared(groups, blocks)


def _shared(groups: Groups, blocks: int) -> int:
    return blocks // len(groups) * min(group.block_tokens for group in groups)


def _requests_by_bytes(groups: Groups, blocks: int, limits: Limits, rules: Rules) -> float:
    """Blocks over what one request takes in bytes, in blocks of the first group."""
    taken = sum(group_pages(group, limits, limits.context_tokens, rules) * group.page for group in groups)
    return blocks / -(-taken // groups[0].page)
