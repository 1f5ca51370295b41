"""Watch running engines: how full each pool is, who waits, what is wrong now and why. One engine or a hundred."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from oomph.cli.screen import colourful, columns, save, show, styled
from oomph.diagnose.serving.fleet import Fleet, State
from oomph.errors import UsageError

_STATUS: Final = {State.WELL: 0, State.FINDINGS: 1, State.UNREAD: 3}
_OFTEN: Final = 0.5  # seconds: more often would be work for the engines that are watched
_RARELY: Final = 3_600.0
_LONGEST: Final = 31 * 86_400.0


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "urls", metavar="URL", nargs="+", help="host:port, http://host:port with or without /metrics, @FILE of them"
    )
    parser.add_argument("--interval", metavar="SECONDS", type=float, default=5.0, help="between looks; 5 unless told")
    parser.add_argument("--for", metavar="SECONDS", dest="lasting", type=float, help="end by itself after that long")
    parser.add_argument(
        "--once", action="store_true", help="print once and end: after one look, or after --for SECONDS of looking"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the contract oomph.watch/1; without --once, one line a look"
    )
    parser.epilog = "exit status, by the last look: 0 all well, 1 findings, 3 no endpoint told of an engine"


def run(arguments: argparse.Namespace) -> int:
    """Watch until told to end; the exit status is of what was seen last."""
    from oomph.live.watch import watch  # noqa: PLC0415 - asyncio costs more than the rest of this command
    from oomph.readers.endpoint import endpoints  # noqa: PLC0415 - likewise

    if not _OFTEN <= arguments.interval <= _RARELY or not 0 <= (arguments.lasting or 0.0) <= _LONGEST:
        message = f"--interval is {_OFTEN:g} to {_RARELY:g} seconds, --for at most {_LONGEST:.0f}"
        raise UsageError(message)
    asked = endpoints(arguments.urls)
    lasting = arguments.lasting or 0.0 if arguments.once else arguments.lasting
    seen: list[Fleet] = []
    try:
        with _screen(arguments) as draw:
            watch(asked, interval=arguments.interval, lasting=lasting, show=lambda fleet: draw(_kept(seen, fleet)))
    except KeyboardInterrupt:
        pass
    if arguments.once and seen:
        _print(arguments, seen[-1])
    return _STATUS[seen[-1].state] if seen else _STATUS[State.UNREAD]


def _kept(seen: list[Fleet], fleet: Fleet) -> Fleet:
    """Only the last is needed again."""
    seen[:] = [fleet]
    return fleet


@contextmanager
def _screen(arguments: argparse.Namespace) -> Iterator[Callable[[Fleet], None]]:
    """How a look is shown: not at all until the end, one below the other, or each in the place of the last."""
    if arguments.once:
        yield lambda _: None
    elif arguments.json or not colourful(sys.stdout):
        yield lambda fleet: _print(arguments, fleet)
    else:
        with _live() as draw:
            yield draw


def _print(arguments: argparse.Namespace, fleet: Fleet) -> None:
    if arguments.json:
        from oomph.write.watch_json import watch_json  # noqa: PLC0415 - only who asks for it pays for it

        save(watch_json(fleet, one_of_many=not arguments.once), "-")
    else:
        from oomph.write.watch_text import watch_lines  # noqa: PLC0415 - likewise

        show(lambda width: watch_lines(fleet, width=width, clock=_clock(fleet)))
    sys.stdout.flush()


@contextmanager
def _live() -> Iterator[Callable[[Fleet], None]]:
    """The whole terminal, given back as it was; what was seen last stays on it."""
    from rich.console import Console  # noqa: PLC0415 - costs more than the figures
    from rich.live import Live  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    from oomph.write.watch_text import watch_lines  # noqa: PLC0415 - likewise

    console = Console(highlight=False, markup=False, emoji=False)

    def drawn(fleet: Fleet) -> Text:
        lines = watch_lines(fleet, width=columns(sys.stdout), height=console.height, clock=_clock(fleet))
        return Text("\n").join(Text.assemble(*(styled(span) for span in line)) for line in lines)

    last = Text()
    try:
        with Live(Text("asking …"), console=console, screen=True, auto_refresh=False) as live:

            def draw(fleet: Fleet) -> None:
                nonlocal last
                last = drawn(fleet)
                live.update(last, refresh=True)

            yield draw
    finally:
        console.print(last)


def _clock(fleet: Fleet) -> str:
    return time.strftime("%H:%M:%S", time.localtime(fleet.at))
