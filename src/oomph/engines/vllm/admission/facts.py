"""What changed in the scheduler and its KV cache manager, release by release.

Begins with 0.8.5, the first release of the second engine whose allocation is that of today: before, blocks were taken
ahead of their tokens. Speculative decoding, connectors and encoders are not described.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.admission.splitting import (
    Split,
    by_boundary,
    by_last_block,
    by_prompt_end,
    by_replay,
    unanswered,
    uncached_first,
    whole,
)


class Reused(StrEnum):
    """Blocks that are given back."""

    NONE = "none"
    PASSED = "passed"  # those of windows, and those that are read no more
    ALL = "all"


# Whether a request is admitted only if all of its prompt fits, not just the first chunk of it.
whole_prompt: Final = Since(
    {
        "0.8.5": False,  # v1/core/sched/scheduler.py
        "0.19.0": True,  # config/scheduler.py
    }
)

# Whether that counts a window as the most it ever holds, not as the whole prompt.
capped: Final = Since(
    {
        "0.8.5": False,  # v1/core/kv_cache_manager.py
        "0.20.0": True,  # v1/core/single_type_kv_cache_manager.py
    }
)

# Whether --long-prefill-token-threshold also cuts the prompt of a request that is alone.
cuts_alone: Final = Since(
    {
        "0.8.5": True,  # v1/core/sched/scheduler.py
        "0.31.0": False,  # v1/core/sched/scheduler.py
    }
)

# Which blocks are reused before all others if nobody could find them again.
first_reused: Final = Since(
    {
        "0.8.5": Reused.NONE,  # v1/core/block_pool.py
        "0.23.0": Reused.PASSED,  # v1/core/single_type_kv_cache_manager.py
        "0.24.0": Reused.ALL,  # v1/core/block_pool.py
    }
)

# Whether blocks below a window stay until the steps under way have been computed.
after_flight: Final = Since(
    {
        "0.8.5": False,  # v1/core/kv_cache_manager.py
        "0.26.0": True,  # v1/core/kv_cache_manager.py
    }
)

# Whether states that are no longer read are freed.
states_freed: Final = Since(
    {
        "0.8.5": False,  # v1/core/single_type_kv_cache_manager.py
        "0.14.0": True,  # v1/core/single_type_kv_cache_manager.py
    }
)

# Whether, with groups of several kinds, only what all of them could find again is remembered.
remembered_together: Final = Since(
    {
        "0.8.5": False,  # v1/core/kv_cache_coordinator.py
        "0.22.0": True,  # v1/core/kv_cache_coordinator.py
    }
)

# Whether a window or state is remembered only where a prompt ended or forked: --prefix-cache-retention-interval 0.
sparse: Final = Since(
    {
        "0.8.5": False,  # v1/core/block_pool.py
        "0.29.0": True,  # config/cache.py
    }
)

# Whether it is noticed where a prompt leaves those that others sent.
forks: Final = Since(
    {
        "0.8.5": False,  # v1/core/kv_cache_manager.py
        "0.24.0": True,  # v1/core/kv_cache_coordinator.py
    }
)

# Whether a state that is computed in this step can be found only in the next.
states_settle: Final = Since(
    {
        "0.8.5": False,  # v1/core/single_type_kv_cache_manager.py
        "0.17.0": True,  # v1/core/single_type_kv_cache_manager.py
    }
)

# Whether the state at the end of a prompt is taken for computed in this step while no further block is full.
renews: Final = Since(
    {
        "0.8.5": False,  # v1/core/single_type_kv_cache_manager.py
        "0.32.0": True,  # v1/core/single_type_kv_cache_manager.py
    }
)

# Whether all states before the last are freed, also those behind a gap.
gaps_freed: Final = Since(
    {
        "0.8.5": False,  # v1/core/single_type_kv_cache_manager.py
        "0.30.0": True,  # v1/core/single_type_kv_cache_manager.py
    }
)

# Whether a step under way that reaches the answer's limit is known to be the last.
stops_early: Final = Since(
    {
        "0.8.5": False,  # v1/core/sched/scheduler.py
        "0.11.1": True,  # v1/core/sched/scheduler.py
    }
)

# Where a chunk of a prompt ends when recurrent layers keep states at the ends of blocks.
split: Final[Since[Split]] = Since(
    {
        "0.8.5": whole,  # v1/core/sched/scheduler.py
        "0.15.0": unanswered,  # v1/core/sched/scheduler.py
        "0.17.0": by_last_block,  # v1/core/sched/scheduler.py
        "0.24.0": uncached_first,  # v1/core/sched/scheduler.py
        "0.26.0": by_boundary,  # v1/core/sched/scheduler.py
        "0.27.0": by_prompt_end,  # v1/core/sched/scheduler.py
        "0.32.0": by_replay,  # v1/core/sched/scheduler.py
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What one release does; each field is explained where its table stands."""

    whole_prompt: bool
    capped: bool
    cuts_alone: bool
    first_reused: Reused
    after_flight: bool
    states_freed: bool
    remembered_together: bool
    sparse: bool
    forks: bool
    states_settle: bool
    renews: bool
    gaps_freed: bool
    stops_early: bool
    split: Split


def habits(release: Release) -> Habits:
    """Every entry of these tables at one release."""
    return Habits(
        whole_prompt=whole_prompt.at(release),
        capped=capped.at(release),
        cuts_alone=cuts_alone.at(release),
        first_reused=first_reused.at(release),
        after_flight=after_flight.at(release),
        states_freed=states_freed.at(release),
        remembered_together=remembered_together.at(release),
        sparse=sparse.at(release),
        forks=forks.at(release),
        states_settle=states_settle.at(release),
        renews=renews.at(release),
        gaps_freed=gaps_freed.at(release),
        stops_early=stops_early.at(release),
        split=split.at(release),
    )
