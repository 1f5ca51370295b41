"""Forecast the way up of an engine: which gate it will pass or fail, and why."""

import argparse
import sys
from typing import Final

from oomph.architectures.registry import geometry, quantization
from oomph.engines.vllm.forecast import Model, forecast
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.catalogue import devices
from oomph.ledger.gate import Verdict
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.readers.command_line import read_command
from oomph.readers.model import read_model
from oomph.units import Bounds, Bytes
from oomph.write.plan_json import plan_json
from oomph.write.plan_text import plan_text

HELP: Final = "forecast the way up: which gate an engine will pass or fail, and why"
_STATUS: Final = {Verdict.FITS: 0, Verdict.OVERFLOWS: 1, Verdict.UNSURE: 3}


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--gpu", metavar="NAME[xN]", required=True, help="rtx-5090, a100-80gb x4, or a size: 24GiB")
    parser.add_argument("--release", metavar="R", default=str(HISTORY.read_through), help="of the engine: 0.19.1")
    parser.add_argument("--weights", metavar="SIZE", help="what loading took, where you know it: 18.47GiB")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.plan/1")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="MODEL | -- vllm serve MODEL …",
        help="a Hub id, a folder or a config.json; or the command",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the forecast; the exit status is its verdict."""
    release = HISTORY.release(arguments.release)
    command = read_command(arguments.words, release)
    where = devices(arguments.gpu)
    model = None if command.model is None else _model(command.model, weights=arguments.weights)
    answer = forecast(command.flags, model=model, devices=where, release=release)
    sys.stdout.write(plan_json(answer) if arguments.json else plan_text(answer))
    return _STATUS[answer.verdict]


def _model(where: str, *, weights: str | None) -> Model:
    found = read_model(where)
    file = f"{found.name}: config.json"
    stored = quantization(found.config, found.quantization, found.checkpoint, where=file)
    return Model(
        name=found.name,
        geometry=geometry(found.config, where=file),
        quantization=stored,
        weights=None if weights is None else _stated(weights),
        checkpoint=found.checkpoint,
    )


def _stated(written: str) -> Entry:
    """Weights as the user measured them."""
    try:
        size = Bytes.parse(written)
    except ValueError as wrong:
        message = f"--weights: {wrong}"
        raise UsageError(message) from None
    return Entry(account=Account.WEIGHTS, size=Bounds(size), basis=Basis.OBSERVED, because=f"--weights {written}")
