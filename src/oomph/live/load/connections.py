"""How many connections this machine lets one process have, and asks for more where it may.

Knows the limit of open files. Where a system has none (it is not Unix), nothing is asked and nothing refused.
"""

from typing import Final

from oomph.errors import UsageError

_BESIDE: Final = 64  # files that are open anyway


def make_room(connections: int) -> None:
    """Raise the soft limit to what is needed; refused where even the hard limit is lower."""
    try:
        import resource  # noqa: PLC0415 - only Unix has it
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _BESIDE
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        message = (
            f"{connections:,} requests at once need as many connections, and this machine lets a process open {hard:,} "
            "files: fewer --users (the killer `burst` sends four times as many), or a higher limit (ulimit -Hn)"
        )
        raise UsageError(message)
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
