"""What the scheduler is told besides lengths and blocks, and what it hands out those to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oomph.engines.vllm.pool.group import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """The settings of the scheduler, resolved; None is what the release does by itself."""

    sequences: int  # --max-num-seqs
    prefix_caching: bool = True
    overlapped: bool = False  # --async-scheduling: the next step is scheduled while one runs
    long_prompt_tokens: int = 0  # --long-prefill-token-threshold; 0: a prompt may fill a step
    watermark: float = 0.0  # share of the blocks that admission leaves free
    whole_prompt: bool | None = None  # --scheduler-reserve-full-isl: admitted only if all of its prompt fits


class Blocks(Protocol):
    """A planned pool: `pool.pool.Pool`, or anything with as many blocks in such groups."""

    @property
    def blocks(self) -> int:
        """All of them, the null block included."""

    @property
    def groups(self) -> Sequence[Group]:
        """Layers that share one table of blocks."""
