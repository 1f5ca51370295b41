"""Forecast the way up of an engine: which gate it will pass or fail, and why."""

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oomph.cli.machine import add_machine, usual, where_asked
from oomph.cli.model import model_at
from oomph.cli.recall import recall
from oomph.cli.screen import save, show
from oomph.engines.history import Release
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import OomphError, UsageError
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Verdict
from oomph.ledger.observed import Observed
from oomph.readers.command import Command
from oomph.readers.command_line import read_command
from oomph.write.plan_text import plan_lines

if TYPE_CHECKING:  # a plan that fits has none of them, and should not wait
    from oomph.diagnose.finding import Finding
    from oomph.ledger.observation import Observation

_STATUS: Final = {Verdict.FITS: 0, Verdict.OVERFLOWS: 1, Verdict.UNSURE: 3}


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_machine(parser)
    parser.add_argument("--weights", metavar="SIZE", help="what loading took, where you know it: 18.47GiB")
    parser.add_argument("--learn", metavar="LOG", help="keep what a start-up of yours measured; - for what is piped in")
    parser.add_argument("--all", action="store_true", help="every gate with its two sides, and every reason")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.plan/1")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page; - for the standard output")
    parser.add_argument("--svg", metavar="FILE", help="write the picture; - for the standard output")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="MODEL | -- vllm serve MODEL …",
        help="a Hub id, a folder or a config.json; or the command",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the forecast; the exit status is its verdict."""
    _refuse_two_answers(arguments)
    said = None if arguments.release is None else HISTORY.release(arguments.release)
    command, heard = _command(arguments, said)
    release = said or command.release or usual(arguments)
    where, seen = where_asked(arguments, command, release)
    if heard is not None:
        from oomph.cli.learn import learn  # noqa: PLC0415 - a plan without a log needs none of it

        command = learn(heard, command, said=said, device=where[0])
        release = said or command.release or release
    try:
        model = None if command.model is None else model_at(command.model, weights=arguments.weights)
    except OomphError as trouble:
        if arguments.learn is None or arguments.words:
            raise
        sys.stderr.write(f"oomph plan: learned, but not planned: {trouble}\n")
        return 0
    observed = None if model is None else recall(model, command.flags, devices=where, release=release)
    answer = forecast(
        command.flags, model=model, devices=where, release=release, usage=command.usage, observed=observed
    )
    answer = _noted(answer, command, seen)
    _write(arguments, answer, _found(answer, command, model, where, observed=observed))
    return _STATUS[answer.verdict]


def _found(
    answer: Forecast, command: Command, model: Model | None, where: tuple[Device, ...], *, observed: Observed | None
) -> "tuple[Finding, ...]":
    """What is wrong and what would help; levers are imported where something is."""
    if answer.stopped_at is None:
        return ()
    from oomph.diagnose.at_gate import findings  # noqa: PLC0415 - likewise
    from oomph.engines.vllm.levers.startup import Startup  # noqa: PLC0415 - likewise

    release = HISTORY.release(answer.release)
    start = Startup(
        flags=command.flags, model=model, devices=where, release=release, usage=command.usage, observed=observed
    )
    return findings(answer, start)


def _command(arguments: argparse.Namespace, said: Release | None) -> tuple[Command, "tuple[Observation, ...] | None"]:
    """As it was given; with --learn, also what the log says, which completes it."""
    if arguments.learn is None:
        return read_command(arguments.words, said), None
    from oomph.cli.learn import hear, released  # noqa: PLC0415 - a plan without a log needs none of it

    heard = hear(arguments.learn)
    return read_command(arguments.words, said or released(heard[-1])), heard


def _noted(answer: Forecast, command: Command, seen: tuple[str, ...]) -> Forecast:
    """Say with the answer what was assumed or repaired to read the command, and what is odd about the machine."""
    notes = (*command.notes, *seen)
    if command.gpus is not None and command.gpus < answer.count:
        notes += (f"--gpu names {answer.count} GPUs, and the command lets the engine see only {command.gpus}",)
    return replace(answer, warnings=(*notes, *answer.warnings)) if notes else answer


def _write(arguments: argparse.Namespace, answer: Forecast, findings: "tuple[Finding, ...]") -> None:
    """Files first, then the standard output, which takes one answer only; a writer is imported when it is asked for."""
    if arguments.html is not None:
        from oomph.write.plan_html import plan_html  # noqa: PLC0415 - likewise

        save(plan_html(answer, findings), arguments.html)
    if arguments.svg is not None:
        from oomph.write.plan_svg import plan_svg  # noqa: PLC0415 - likewise

        save(plan_svg(answer, findings), arguments.svg)
    if arguments.json:
        from oomph.write.plan_json import plan_json  # noqa: PLC0415 - likewise

        save(plan_json(answer, findings), "-")
    elif "-" not in (arguments.html, arguments.svg):
        show(lambda width: plan_lines(answer, findings, width=width, whole=arguments.all))


def _refuse_two_answers(arguments: argparse.Namespace) -> None:
    if sum((arguments.html == "-", arguments.svg == "-", arguments.json)) > 1:
        message = "the standard output takes one answer: of --json, --html - and --svg -, write one"
        raise UsageError(message)
