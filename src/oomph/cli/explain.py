"""Explain a log: which gate failed, why, how that is known, what to do about it, and what does not help."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oomph.cli.complete import complete
from oomph.cli.screen import save, show
from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import Outcome, explain, outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.hearing.hints import FIRST_HINTS, hints
from oomph.diagnose.reconcile import reconcile
from oomph.engines.history import Release, release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownDevice, UsageError
from oomph.ledger.settings import Flags
from oomph.readers.command import Command
from oomph.readers.command_line import read_command
from oomph.readers.hardware import Hardware, read_hardware
from oomph.readers.log import read_log
from oomph.write.explain_text import explain_lines

_STATUS: Final = {Outcome.EXPLAINED: 1, Outcome.UNSURE: 3, Outcome.NO_MEMORY_FAILURE: 0}


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("log", metavar="LOG", help="a file, compressed or not; - for what is piped in")
    parser.add_argument("--release", metavar="R", help="of the engine, where the log does not say it: 0.19.1")
    parser.add_argument("--gpu", metavar="NAME[xN]", help="if the log does not say it: rtx-5090, a100-80gb x4, 24GiB")
    parser.add_argument(
        "--device", metavar="FILE", help="likewise: a probe of that machine (oomph probe --json > FILE)"
    )
    parser.add_argument("--weights", metavar="SIZE", help="what loading took, where you know it: 18.47GiB")
    parser.add_argument(
        "--platform",
        action="append",
        default=[],
        choices=[str(platform) for platform in Platform],
        help="what the log does not say and changes what it means",
    )
    parser.add_argument("--all", action="store_true", help="every finding, every remedy and every figure")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.explain/1")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page; - for the standard output")
    parser.usage = "oomph explain [options] LOG [-- vllm serve MODEL …]"
    parser.epilog = "behind --: the command that was run; exit status: 0 no memory failure, 1 explained, 3 unsure"
    parser.set_defaults(words=[])


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; the exit status says how sure it is."""
    if arguments.html == "-" and arguments.json:
        message = "the standard output takes one answer: of --json and --html -, write one"
        raise UsageError(message)
    found = explanation(arguments)
    if arguments.html is not None:
        from oomph.write.explain_html import explain_html  # noqa: PLC0415 - few ask for a page

        save(explain_html(found), arguments.html)
    if arguments.json:
        from oomph.write.explain_json import explain_json  # noqa: PLC0415 - likewise

        save(explain_json(found), "-")
    elif arguments.html != "-":
        show(lambda width: explain_lines(found, width=width, whole=arguments.all))
    return _STATUS[found.outcome]


def explanation(arguments: argparse.Namespace) -> Explanation:
    """The log, what is said beside it, the forecast of both, and what the rules make of that."""
    said = None if arguments.release is None else release(arguments.release)
    command = _command(arguments.words, said)
    hardware = _hardware(arguments, command, said)
    case = case_of(
        lines_of(arguments.log),
        release=said or command.release,
        flags=command.flags,
        model_name=command.model,
        devices=hardware.devices,
    )
    platforms = {Platform(platform) for platform in arguments.platform}
    case = replace(case, platform=case.platform | hardware.platform | platforms)
    whole = complete(case, command, weights=arguments.weights)
    return explained(whole.case, whole.notes)


def explained(case: Case, notes: tuple[str, ...] = ()) -> Explanation:
    """What the rules make of a case."""
    findings = explain(case)
    return Explanation(
        case=case,
        findings=findings,
        outcome=outcome(case, findings),
        reconciled=reconcile(case),
        notes=(*case.notes, *notes),
    )


def lines_of(log: str) -> Iterator[tuple[int, str]]:
    """The lines that may matter, as a stream."""
    return read_log(log, hints=hints(), first_hints=FIRST_HINTS, after=2, ends=True)


def _hardware(arguments: argparse.Namespace, command: Command, said: Release | None) -> Hardware:
    written: str | None = arguments.gpu
    if written is not None and arguments.device is not None:
        message = "the devices are named twice: of --gpu and --device, write one"
        raise UsageError(message)
    if arguments.device is not None:
        from oomph.cli.looked_at import hardware  # noqa: PLC0415 - few have a probe beside their log

        return hardware(arguments.device, command, said or command.release or HISTORY.read_through)
    if written is None:
        return Hardware()
    found = read_hardware(written)
    if not found.devices and not found.platform:
        message = f"no device is known by {written[:60]!r} (write rtx-5090, a100-80gb x4 or 24GiB)"
        raise UnknownDevice(message)
    return found


def _command(words: list[str], said: Release | None) -> Command:
    """What was run; flags of a release that is older than all that were read are taken by the oldest."""
    if not words:
        return Command(model=None, flags=Flags())
    table = None if said is None else max(said, HISTORY.first)
    return read_command(words, table)
