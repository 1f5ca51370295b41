"""Forecast the way up of an engine: which gate it will pass or fail, and why."""

import argparse
import sys
from typing import Final

from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.catalogue import devices
from oomph.ledger.gate import Verdict
from oomph.readers.command_line import read_command
from oomph.write.plan_json import plan_json
from oomph.write.plan_text import plan_text

HELP: Final = "forecast the way up: which gate an engine will pass or fail, and why"
_STATUS: Final = {Verdict.FITS: 0, Verdict.OVERFLOWS: 1, Verdict.UNSURE: 3}


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--gpu", metavar="NAME[xN]", required=True, help="rtx-5090, a100-80gb x4, or a size: 24GiB")
    parser.add_argument("--release", metavar="R", default=str(HISTORY.read_through), help="of the engine: 0.19.1")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.plan/1")
    parser.add_argument("words", nargs="*", metavar="-- vllm serve MODEL …", help="the start command, as you type it")


def run(arguments: argparse.Namespace) -> int:
    """Print the forecast; the exit status is its verdict."""
    release = HISTORY.release(arguments.release)
    command = read_command(arguments.words, release)
    answer = forecast(command.flags, model=command.model, devices=devices(arguments.gpu), release=release)
    sys.stdout.write(plan_json(answer) if arguments.json else plan_text(answer))
    return _STATUS[answer.verdict]
