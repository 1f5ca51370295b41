"""Print the page of a rule by its code, or list all rules."""

import argparse
import sys
from difflib import get_close_matches
from typing import Final

from oomph.cli.screen import colourful, columns, show
from oomph.diagnose.rule import Rule, rules
from oomph.errors import UsageError
from oomph.write.page_text import listed, page_lines

_WIDEST: Final = 100


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="of a finding: GP001; without it, all are listed")


def run(arguments: argparse.Namespace) -> int:
    """Print one page, or the list."""
    if arguments.code is None:
        show(lambda width: listed(rules(), width=width))
        return 0
    rule = _found(arguments.code)
    if colourful(sys.stdout):
        _print_rendered(rule)
    else:
        show(lambda width: page_lines(rule, width=width))
    return 0


def _found(written: str) -> Rule:
    """By its code, however it is written, or by its name."""
    asked = written.strip()[:60]
    known = {rule.code: rule for rule in rules()}
    by_name = {rule.name: rule for rule in known.values()}
    rule = known.get(asked.upper()) or by_name.get(asked.lower().replace("_", "-"))
    if rule is not None:
        return rule
    near = get_close_matches(asked.upper(), known, n=1, cutoff=0.4) or get_close_matches(asked.lower(), by_name, n=1)
    hint = f"did you mean {near[0]}?" if near else "`oomph rule` lists them"
    message = f"no rule {asked!r}: {hint}"
    raise UsageError(message)


def _print_rendered(rule: Rule) -> None:
    from rich.console import Console  # noqa: PLC0415 - a pipe does not pay for it
    from rich.markdown import Markdown  # noqa: PLC0415 - likewise

    console = Console(width=min(columns(sys.stdout), _WIDEST), highlight=False)
    console.print(Markdown(f"# {rule.code} {rule.name}\n\n{rule.page}"))
