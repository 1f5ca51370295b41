"""What a plan promised of an engine's pool, for whoever watches whether the promise is kept.

Knows the figures. Does not know the file that they stand in (`readers`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPool:
    """One engine's pool, as it was planned."""

    blocks: int  # likely
    least_blocks: int  # by the careful end of the forecast
    concurrency: float | None = None  # requests of the longest length that fit at once
    engines: int = 1  # behind one server, which tells the sum of their blocks

    def __post_init__(self) -> None:
        if not 0 < self.least_blocks <= self.blocks or self.engines < 1:
            message = f"no pool: {self.least_blocks} to {self.blocks} blocks of {self.engines} engines"
            raise ValueError(message)
