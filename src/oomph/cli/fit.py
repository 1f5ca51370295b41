"""Find the flags that serve a workload on given hardware, and say what each costs."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final

from oomph.cli.machine import add_machine, usual, where_asked
from oomph.cli.model import model_at
from oomph.cli.recall import recall
from oomph.cli.screen import save, show
from oomph.cli.workload import add_workload, workload
from oomph.engines.history import Release
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.choice import Option
from oomph.fit.fit import fit
from oomph.fit.proposal import Fitted, Proposal
from oomph.fit.question import Question
from oomph.fit.search import PREFERENCES
from oomph.fit.sizing import sized
from oomph.ledger.catalogue import devices
from oomph.ledger.command import Command
from oomph.ledger.device import Device
from oomph.ledger.rest import Rest
from oomph.readers.command import Command as Typed
from oomph.readers.command_line import read_command
from oomph.write.fit_json import fit_json, sized_json
from oomph.write.fit_text import fit_lines, sized_lines
from oomph.write.manifest.forms import Form, written
from oomph.write.span import Line, joined

_RISKS: Final = {"sure": Rest.SURE, "likely": Rest.LIKELY}
_ANY: Final = ["any"]
_WIDE: Final = 110  # columns of a line that goes to no screen


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_machine(parser)
    parser.add_argument("--have", metavar="NAME[xN]", help="with --gpu any: what you own, which is asked first")
    add_workload(parser)
    parser.add_argument("--or", dest="others", action="append", metavar="MODEL", help="another checkpoint of the model")
    parser.add_argument("--risk", choices=tuple(_RISKS), default="sure", help="how sure it must be (sure)")
    parser.add_argument("--prefer", choices=PREFERENCES, default="quality", help="what is given up last (quality)")
    parser.add_argument("--as-stored", action="store_true", help="round neither weights nor keys to fewer bits")
    parser.add_argument("--as", dest="form", choices=tuple(Form), help="print only the proposal, in this form")
    parser.add_argument("--weights", metavar="SIZE", help="what loading took, where you know it: 18.47GiB")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.fit/1")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="MODEL | -- vllm serve MODEL …",
        help="a Hub id, a folder or a config.json; or a command, whose flags stay as they are",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the proposal; the exit status says whether it holds everything."""
    _refuse_idle(arguments)
    said = None if arguments.release is None else HISTORY.release(arguments.release)
    typed = read_command(arguments.words, said)
    if typed.model is None:
        message = "fit what? name a model: oomph fit MODEL --gpu rtx-4090 --prompt 6000 --answer 800 --users 32"
        raise UsageError(message)
    release = said or typed.release or usual(arguments)
    if arguments.gpu == _ANY:
        have = () if arguments.have is None else devices(arguments.have)
        return _sized(arguments, *_question(arguments, typed, release, have), have)
    where, notes = where_asked(arguments, typed, release)
    sys.stderr.writelines(f"oomph fit: {note}\n" for note in (*typed.notes, *notes))
    question, names = _question(arguments, typed, release, where)
    return _fitted(arguments, fit(question), names)


def _refuse_idle(arguments: argparse.Namespace) -> None:
    """What would be passed over in silence."""
    anywhere = arguments.gpu == _ANY
    idle = {
        "--have goes with --gpu any": arguments.have is not None and not anywhere,
        "--device names a machine, and --gpu any looks for one": arguments.device is not None and anywhere,
        "of --as and --json, write one": arguments.form is not None and arguments.json,
    }
    for message, said in idle.items():
        if said:
            raise UsageError(message)


def _question(
    arguments: argparse.Namespace, typed: Typed, release: Release, where: tuple[Device, ...]
) -> tuple[Question, Mapping[str, str]]:
    """What is asked, and how each checkpoint was called by the user."""
    first = str(typed.model)
    model = model_at(first, weights=arguments.weights)
    others = {name: model_at(name, weights=None) for name in arguments.others or ()}
    start = Startup(
        flags=typed.flags,
        model=model,
        devices=where or devices("h100-80gb"),  # where nothing is owned, only to resolve what no device decides
        release=release,
        usage=typed.usage,
        observed=recall(model, typed.flags, devices=where, release=release) if where else None,
    )
    question = Question(
        startup=start,
        workload=workload(arguments),
        models=tuple(Option(model=other) for other in others.values()),
        risk=_RISKS[arguments.risk],
        preference=arguments.prefer,
        rounds=not arguments.as_stored,
    )
    return question, {model.name: _place(first), **{other.name: _place(name) for name, other in others.items()}}


def _place(name: str) -> str:
    """As a shell takes it: a folder beside the user could be a repository's name."""
    plain = name not in {".", ".."} and name.startswith(("/", ".", "~"))
    return name if plain or not os.path.exists(name) else f"./{name}"  # noqa: PTH110 - pathlib costs more to import


def _fitted(arguments: argparse.Namespace, answer: Fitted, names: Mapping[str, str]) -> int:
    command = None if answer.proposal is None else _command(answer.proposal, names)
    _write(
        arguments,
        command,
        as_json=lambda: fit_json(answer, command),
        as_text=lambda width: fit_lines(answer, command, width=width),
    )
    return _status(answer)


def _sized(
    arguments: argparse.Namespace, question: Question, names: Mapping[str, str], have: tuple[Device, ...]
) -> int:
    answer = sized(question, have=have)
    command = None if answer.best.proposal is None else _command(answer.best.proposal, names)
    _write(
        arguments,
        command,
        as_json=lambda: sized_json(answer, command),
        as_text=lambda width: sized_lines(answer, command, width=width),
    )
    return _status(answer.best)


def _write(
    arguments: argparse.Namespace,
    command: Command | None,
    *,
    as_json: Callable[[], str],
    as_text: Callable[[int], Iterable[Line]],
) -> None:
    """In the form that is asked for; a form without anything to write leaves the standard output empty."""
    if arguments.json:
        save(as_json(), "-")
    elif arguments.form is None:
        show(as_text)
    elif command is not None:
        save(written(command, arguments.form), "-")
    else:
        sys.stderr.writelines(f"oomph fit: {joined(line)}\n" for line in islice(as_text(_WIDE), 1))


def _command(proposal: Proposal, names: Mapping[str, str]) -> Command:
    start = proposal.judged.startup
    name = "" if start.model is None else start.model.name
    return Command(
        release=str(start.release),
        model=names.get(name, name),
        flags=start.flags,
        devices=start.devices[: proposal.gpus],
        files=None if start.model is None or start.model.checkpoint is None else start.model.checkpoint.size,
    )


def _status(answer: Fitted) -> int:
    """Yes, no, or only likely though it was to be sure."""
    if not answer.holds:
        return 1
    return 3 if answer.unsure else 0
