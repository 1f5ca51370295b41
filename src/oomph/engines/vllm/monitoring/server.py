"""What is asked of the server rather than of its engine: whether it is there, since when, and with which pool.

Knows that a server of several processes tells no time of its start, and that its counters fall when it begins again.
"""

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.expression import folded, series
from oomph.engines.vllm.monitoring.sources import Source, scraped


def up(where: tuple[str, ...]) -> str:
    """1 where the last scrape succeeded, 0 where it failed."""
    return series("up", where)


def beginnings(
    release: Release, *, by: tuple[str, ...], job: str, where: tuple[str, ...] = (), window: str
) -> tuple[str, str]:
    """How often it began again: by its own time, and by a counter that fell."""
    started = series(scraped(Source.STARTED, release) or "", (f'job=~"{job}"', *where))
    counted = series(scraped(Source.GENERATED, release) or "", where)
    return folded("max", by, f"changes({started}[{window}])"), folded("max", by, f"resets({counted}[{window}])")


def pools(release: Release, *, by: tuple[str, ...], where: tuple[str, ...] = ()) -> str:
    """How many engines have a pool of the kind that the labels tell."""
    return folded("count", by, series(scraped(Source.POOL, release) or "", where))


POOL_LABELS = (
    "num_gpu_blocks",
    "block_size",
    "kv_cache_size_tokens",
    "cache_dtype",
    "enable_prefix_caching",
    "gpu_memory_utilization",
)
