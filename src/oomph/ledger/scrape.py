"""What one running engine said of itself at one moment.

Knows the quantities, whatever an engine calls them. What a page did not say is None, never 0. Does not know how it is
written (`engines`), nor how it is fetched (`readers`), and concludes nothing (`diagnose`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oomph.ledger.histogram import Histogram
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """One engine at one time. Counters count since the process began, and fall only when it begins again."""

    at: float  # seconds, by the clock of who scraped
    engine: str = ""  # its number among those behind one endpoint; empty from releases that had but one
    model: str = ""  # as it is served
    started: float | None = None  # seconds since 1970, of the process that answers
    resident: Bytes | None = None  # of host memory, by the process that answers

    kv_used: float | None = None  # 0..1 of the pool
    running: int | None = None
    waiting: int | None = None
    waiting_by: Mapping[str, int] = field(default_factory=dict)  # reason → how many, where the release says why
    swapped: int | None = None  # to host memory, by releases that did so
    asleep: bool | None = None  # its weights are away

    preemptions: int | None = None  # from here on: since the process began
    prefix_queries: int | None = None  # tokens that were looked for
    prefix_hits: int | None = None  # tokens that were found
    prefix_hit_rate: float | None = None  # 0..1, of releases that counted no tokens
    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    finished: Mapping[str, int] = field(default_factory=dict)  # reason → requests
    rejected: Mapping[str, int] = field(default_factory=dict)  # reason → requests refused at the door
    steps: int | None = None  # batches that were run

    blocks: int | None = None  # of this engine's pool
    block_tokens: int | None = None
    pool_tokens: int | None = None  # as the engine itself counts them
    prefix_caching: bool | None = None

    prompt_lengths: Histogram | None = None  # tokens of requests that are finished
    answer_lengths: Histogram | None = None
    first_token: Histogram | None = None  # seconds until the first token
    between_tokens: Histogram | None = None  # seconds from one token to the next
    whole_request: Histogram | None = None  # seconds from arrival to the end
    queued: Histogram | None = None  # seconds that requests waited

    @property
    def requests(self) -> int | None:
        """All that are finished, whatever the reason; None where nothing was said of them."""
        return sum(self.finished.values()) if self.finished else None

    @property
    def tokens(self) -> int | None:
        """How many the pool holds: as the engine says, else all of its blocks."""
        if self.pool_tokens is not None:
            return self.pool_tokens
        return None if self.blocks is None or self.block_tokens is None else self.blocks * self.block_tokens
