"""Where an engine shall run, as arguments say it: which devices, and which release.

Knows the arguments that every forecast takes. Does not know what is forecast.
"""

import argparse

from oomph.engines.history import Release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.catalogue import devices
from oomph.ledger.device import Device
from oomph.readers.command import Command


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Say what is taken."""
    parser.add_argument(
        "--gpu",
        metavar="NAME[xN]",
        action="append",
        help="rtx-5090, a100-80gb x4, or a size: 24GiB; cards that differ by rank: 'rtx-3090 x2 + rtx-4090'; "
        "without it, this machine is looked at",
    )
    parser.add_argument("--device", metavar="FILE", help="the machine of a saved probe (oomph probe --json > FILE)")
    parser.add_argument("--release", metavar="R", help="of the engine: 0.19.1; else the image's, else the newest known")


def usual(arguments: argparse.Namespace) -> Release:
    """Where nobody names a release: the one that is installed on the machine that is looked at, else the newest."""
    if arguments.gpu is not None or arguments.device is not None:
        return HISTORY.read_through
    from oomph.readers.installed import installed  # noqa: PLC0415 - only a machine that is looked at has one

    return installed() or HISTORY.read_through


def where_asked(
    arguments: argparse.Namespace, command: Command, release: Release
) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """The devices, and what to say of them: by name, from a saved probe, or of this machine."""
    if arguments.gpu is not None and arguments.device is not None:
        message = "the devices are named twice: of --gpu and --device, write one"
        raise UsageError(message)
    if arguments.gpu is not None:
        return devices(" + ".join(arguments.gpu)), ()
    from oomph.cli.looked_at import looked_at  # noqa: PLC0415 - a forecast for a named card looks at no machine

    return looked_at(arguments.device, command, release)
