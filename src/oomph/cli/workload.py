"""A workload on the command line: numbers, a trace, or both, where numbers come before what a trace says.

Knows how lengths are written. Does not know what a workload needs.
"""

import argparse
import re
import sys
from typing import TYPE_CHECKING, Final

from oomph.errors import UsageError
from oomph.fit.workload import Workload
from oomph.ledger.lengths import Lengths

if TYPE_CHECKING:
    from oomph.ledger.traffic import Traffic

_LONGEST_STEP: Final = 60_000.0  # milliseconds
_LENGTH: Final = re.compile(r"(?:(?P<usual>[0-9]{1,9})/)?(?P<long>[0-9]{1,9})")


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Say what is taken."""
    parser.add_argument("--prompt", metavar="N", help="tokens of a long prompt (p99), or usual/long: 1500/6000")
    parser.add_argument("--answer", metavar="N", help="tokens of a long answer (p99), or usual/long: 200/800")
    parser.add_argument("--users", type=int, metavar="N", help="requests at once at the peak")
    parser.add_argument("--prefix", type=int, metavar="N", default=0, help="tokens with which all prompts begin alike")
    parser.add_argument(
        "--trace", metavar="FILE|URL", help="lengths of real requests: JSON lines, or /metrics of a running engine"
    )
    parser.add_argument("--text", action="store_true", help="nobody sends pictures or sound")
    parser.add_argument("--step", type=float, metavar="MS", help="milliseconds between two tokens, at most")


def workload(arguments: argparse.Namespace) -> Workload:
    """As it was typed; what is missing is taken from the trace."""
    traffic = _traffic(arguments.trace)
    if arguments.step is not None and not 0 < arguments.step < _LONGEST_STEP:
        message = f"--step {arguments.step:g}: write milliseconds between two tokens, such as 30"
        raise UsageError(message)
    prompt = _lengths("prompt", arguments.prompt, None if traffic is None else traffic.prompt)
    answer = _lengths("answer", arguments.answer, None if traffic is None else traffic.answer)
    users = arguments.users if arguments.users is not None or traffic is None else traffic.at_once
    if users is None or users < 1:
        message = "how many users are there at once? write --users 32; a trace says it with timestamps and durations"
        raise UsageError(message)
    if not 0 <= arguments.prefix <= prompt.p99:
        message = f"--prefix {arguments.prefix}: prompts of {prompt.p99} tokens cannot begin alike for so long"
        raise UsageError(message)
    return Workload(
        prompt=prompt,
        answer=answer,
        users=users,
        prefix=arguments.prefix,
        text_only=arguments.text,
        step=None if arguments.step is None else arguments.step / 1000,
    )


def _traffic(where: str | None) -> "Traffic | None":
    if where is None:
        return None
    from oomph.readers.trace import read_traffic  # noqa: PLC0415 - numbers need no reader

    found = read_traffic(where)
    if found.at_once is not None:
        sys.stderr.write(f"oomph fit: {found.at_once:,} at once, {found.at_once_basis}\n")
    if found.refused_count:
        sys.stderr.write(f"oomph fit: {found.refused_count:,} lines say no lengths: {'; '.join(found.refused[:3])}\n")
    return found


def _lengths(what: str, written: str | None, seen: Lengths | None) -> Lengths:
    if written is None and seen is not None:
        return seen
    if written is None:
        message = f"how long is {'a prompt' if what == 'prompt' else 'an answer'}? write --{what} 6000, or --trace FILE"
        raise UsageError(message)
    found = _LENGTH.fullmatch(written)
    usual, long = (None, 0) if found is None else (found["usual"], int(found["long"]))
    if long < 1 or (usual is not None and int(usual) > long):
        message = f"--{what} {written}: write tokens (6000), or the usual and the long (1500/6000)"
        raise UsageError(message)
    return Lengths.given(long, p50=None if usual is None else int(usual), basis=f"--{what} {written}")
