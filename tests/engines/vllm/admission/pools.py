"""Pools and settings for the tests of admission: groups of one layer each, in as few words as possible."""

from oomph.engines.history import Release, release
from oomph.engines.vllm.admission.admitted import Admitted, Moment
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import Request, User
from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.pool import Pool, Share
from oomph.units import Bytes

NEWEST = release("0.32.0")


def attention(keeps: Keeps = Keeps.ALL, *, window: int | None = None, block: int = 16) -> AttentionCache:
    """A layer that keeps all tokens, or a window of them."""
    return AttentionCache(
        block_tokens=block,
        kv_heads=1,
        head_dim=8,
        value_dim=8,
        format=KvFormat.BFLOAT16,
        state=32,
        keeps=keeps,
        window=window,
    )


def pool(blocks: int, *caches: Cache) -> Pool:
    """So many blocks to be held, besides the null block."""
    groups = tuple(Group(names=(str(place),), cache=cache) for place, cache in enumerate(caches or (attention(),)))
    share = Share(groups=groups, bytes_per_block=Bytes(1), tensors=(), need=Bytes(0), usable=Bytes(0))
    return Pool(blocks=blocks + 1, context_tokens=0, tokens=None, concurrency=None, shares=(share,))


def asks(prompt: int, answer: int, prefix: int = 0) -> Request:
    """One request."""
    return Request(prompt_tokens=prompt, answer_tokens=answer, prefix_tokens=prefix)


def run(
    held: Pool,
    users: "list[User] | tuple[User, ...]",
    *,
    asked: Release = NEWEST,
    step_tokens: int = 500,
    sequences: int = 50,
    caching: bool = True,
    overlapped: bool = False,
    seen: list[Moment] | None = None,
) -> Admitted:
    """What becomes of them, in a context of 400 tokens."""
    limits = Limits(context_tokens=400, step_tokens=step_tokens)
    scheduling = Scheduling(sequences=sequences, prefix_caching=caching, overlapped=overlapped)
    return simulate(held, users, limits, scheduling, asked, watch=None if seen is None else seen.append)
