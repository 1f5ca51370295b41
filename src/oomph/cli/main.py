"""`oomph COMMAND …`: finds the command, runs it, and turns what it raises into a message and an exit status.

Exit status: 0 yes · 1 no · 2 wrong usage · 3 cannot tell.
"""

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import oomph
from oomph.cli import plan
from oomph.cli.screen import columns
from oomph.errors import OomphError, UsageError


class _Command(Protocol):
    """What a command's file holds."""

    HELP: str

    def add(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


_COMMANDS: Final[Mapping[str, _Command]] = {"plan": plan}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign shall still show the answer
    arguments = _parser().parse_args(argv)
    try:
        status = _COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as trouble:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _refuse(f"oomph {arguments.command}: the answer cannot be written: {trouble}", status=3)
    except UsageError as wrong:
        return _refuse(f"oomph {arguments.command}: {wrong}", status=2)
    except OomphError as trouble:
        return _refuse(f"oomph {arguments.command}: {trouble}", status=3)
    return status


def _refuse(message: str, *, status: int) -> int:
    sys.stderr.write(message + "\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oomph",
        description="Foresee, explain and prevent out-of-memory failures of LLM serving engines.",
        epilog="exit status: 0 yes, 1 no, 2 wrong usage, 3 cannot tell",
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"oomph {oomph.__version__}")
    commands = parser.add_subparsers(
        dest="command",
        metavar="COMMAND",
        required=True,
        prog="oomph",  # else argparse formats a usage to find its name
    )
    for name, command in _COMMANDS.items():
        own = commands.add_parser(
            name, help=command.HELP, description=command.__doc__, allow_abbrev=False, formatter_class=_formatter
        )
        command.add(own)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Told its width: argparse asks for it whenever an argument is added, and imports archives of files to find it."""
    return argparse.HelpFormatter(prog, width=columns(sys.stdout) - 2)
