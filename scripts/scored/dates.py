"""When releases of vLLM came, and how many commits it had when each was branched off.

Knows dates of tags and counts of commits, as the repository has them. A build without tags is numbered by its commits
(`0.1.dev18496`), so the counts tell between which releases it lies.
"""

from bisect import bisect_right
from typing import Final

from oomph.engines.history import Release, release

# Dates of the tags; of 0.11.0 and 0.29.0, the day on which a start-up of it, or of a build after it, was seen.
_CAME: Final = """
    0.6.0 2024-09-04, 0.6.1 2024-09-11, 0.6.2 2024-09-25, 0.6.3 2024-10-14, 0.6.3.post1 2024-10-17, 0.6.4 2024-11-14,
    0.6.4.post1 2024-11-15, 0.6.5 2024-12-17, 0.6.6 2024-12-26, 0.7.0 2025-01-26, 0.7.1 2025-01-31, 0.7.2 2025-02-06,
    0.7.3 2025-02-20, 0.8.0 2025-03-18, 0.8.1 2025-03-19, 0.8.2 2025-03-24, 0.8.3 2025-04-05, 0.8.4 2025-04-14,
    0.8.5 2025-04-28, 0.8.5.post1 2025-05-02, 0.9.0 2025-05-27, 0.9.0.1 2025-05-30, 0.9.1 2025-06-10, 0.9.2 2025-07-06,
    0.10.0 2025-07-23, 0.10.1 2025-08-18, 0.10.1.1 2025-08-20, 0.10.2 2025-09-15, 0.11.0 2025-10-08, 0.11.1 2025-11-18,
    0.11.2 2025-11-19, 0.12.0 2025-12-02, 0.13.0 2025-12-18, 0.14.0 2026-01-16, 0.14.1 2026-01-23, 0.15.0 2026-01-28,
    0.15.1 2026-02-03, 0.16.0 2026-02-24, 0.17.0 2026-03-06, 0.17.1 2026-03-11, 0.18.0 2026-03-19, 0.18.1 2026-03-30,
    0.19.0 2026-04-02, 0.19.1 2026-04-17, 0.20.0 2026-04-27, 0.20.1 2026-05-04, 0.20.2 2026-05-07, 0.21.0 2026-05-14,
    0.22.0 2026-05-29, 0.22.1 2026-06-03, 0.23.0 2026-06-14, 0.24.0 2026-06-28, 0.25.0 2026-07-11, 0.25.1 2026-07-12,
    0.26.0 2026-07-26, 0.27.0 2026-08-10, 0.27.1 2026-08-11, 0.29.0 2026-09-13
"""
CAME: Final = tuple((day, name) for name, day in (each.split() for each in _CAME.split(",")))

# Commits of the main line that the branch of a release shares.
_BRANCHED: Final = {"0.22.0": 16_939, "0.23.0": 17_360, "0.24.0": 17_918, "0.25.0": 18_477, "0.26.0": 18_894}


def newest(day: str | None) -> Release | None:
    """The newest release on a day, `2026-05-07`; None where the day is not known, or before the first."""
    place = 0 if day is None else bisect_right(CAME, (day, "~"))
    return release(CAME[place - 1][1]) if place else None


def branched(commits: int) -> Release | None:
    """The release that was branched off last before a build of so many commits; None outside of what is known."""
    before = [name for name, count in _BRANCHED.items() if count <= commits]
    return release(before[-1]) if before and commits <= max(_BRANCHED.values()) else None
