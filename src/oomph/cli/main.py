"""`oomph COMMAND …`: finds the command, runs it, and turns what it raises into a message and an exit status.

Exit status: 0 yes · 1 no · 2 wrong usage · 3 cannot tell.
"""

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final, Protocol, cast

import oomph
from oomph.cli.screen import columns, until_enough
from oomph.errors import OomphError, UsageError


class _Command(Protocol):
    """What a command's file holds; its docstring is its description."""

    def add(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


_COMMANDS: Final[Mapping[str, str]] = {
    "plan": "forecast the way up: which gate an engine will pass or fail, and why",
    "fit": "find the flags that serve a workload on given hardware, and what each costs",
    "probe": "look at this machine: what each GPU has, who holds it, and what the engine will believe",
    "prove": "drive a running server to its peak: whether it holds, where it breaks, and what is left",
    "watch": "watch running engines: how full each pool is, who waits, what is wrong now and why",
    "explain": "explain a log: which gate failed, why, and what to do",
    "export": "write rules for Prometheus, with their tests, or a dashboard for Grafana",
    "rule": "list the rules by which logs are explained, or print the page of one",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign shall still show the answer
    arguments = _arguments(sys.argv[1:] if argv is None else list(argv))
    try:
        status = _command(arguments.command).run(arguments)
        with until_enough():
            sys.stdout.flush()
    except OSError as trouble:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _refuse(f"oomph {arguments.command}: the answer cannot be written: {trouble}", status=3)
    except UsageError as wrong:
        return _refuse(f"oomph {arguments.command}: {wrong}", status=2)
    except OomphError as trouble:
        return _refuse(f"oomph {arguments.command}: {trouble}", status=3)
    return status


def _arguments(given: list[str]) -> argparse.Namespace:
    """What was typed; all behind `--` is the command of an engine, whatever stands before it."""
    cut = given.index("--") if "--" in given else len(given)
    asked = next((word for word in given[:cut] if word in _COMMANDS), None)
    parser = _parser(asked, None if asked is None else _command(asked))
    arguments = parser.parse_args(given[:cut])
    behind = given[cut + 1 :]
    if behind and not hasattr(arguments, "words"):
        parser.error(f"`{arguments.command}` takes no command behind --")
    elif behind:
        arguments.words = [*arguments.words, *behind]
    return arguments


def _command(name: str) -> _Command:
    """The command's file; the others are not imported."""
    return cast("_Command", import_module(f"oomph.cli.{name}"))


def _refuse(message: str, *, status: int) -> int:
    sys.stderr.write(message + "\n")
    return status


def _parser(asked: str | None, command: _Command | None) -> argparse.ArgumentParser:
    """Every command by its name, and the one that is asked for with its arguments."""
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
    for name, words in _COMMANDS.items():
        chosen = command if name == asked else None
        said = None if chosen is None else chosen.__doc__
        own = commands.add_parser(name, help=words, description=said, allow_abbrev=False, formatter_class=_formatter)
        if chosen is not None:
            chosen.add(own)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Told its width: argparse asks for it whenever an argument is added, and imports archives of files to find it."""
    return argparse.HelpFormatter(prog, width=columns(sys.stdout) - 2)
