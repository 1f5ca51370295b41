"""Look at this machine: what each GPU has, who holds it, and what the engine's start check will say. Loads no model."""

import argparse
import sys
import time
from typing import Final

from oomph.cli.screen import save, show
from oomph.diagnose.machine.judgement import Judgement, judge
from oomph.engines.history import Release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.gate import Verdict
from oomph.ledger.probe import Probe

_YES, _NO, _UNSURE = 0, 1, 3
_OFTEN: Final = 0.2  # seconds: below that, watching would be work for the machine that is watched
_RARELY: Final = 86_400.0  # seconds: above that nobody watches
_CLEAR: Final = "\x1b[H\x1b[2J"


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "--release", metavar="R", help="of the engine: 0.19.1; else the installed, else the newest known"
    )
    parser.add_argument(
        "--context", action="store_true", help="ask the CUDA driver too: takes some 0.5 GiB for a moment"
    )
    parser.add_argument("--device", metavar="FILE", help="judge a saved probe instead; - for what is piped in")
    parser.add_argument("--json", action="store_true", help="print the contract oomph.probe/1, which can be saved")
    parser.add_argument(
        "--watch",
        metavar="SECONDS",
        nargs="?",
        type=float,
        const=2.0,
        help="look again and again until interrupted; every 2 seconds unless told",
    )
    parser.epilog = (
        "exit status: 0 every device passes the start check at the default share, 1 one does not, 3 unsure or not known"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what is here; the exit status says whether the default share would pass on every device."""
    if arguments.watch is not None:
        return _watch(arguments)
    return _look(arguments)


def _watch(arguments: argparse.Namespace) -> int:
    pause = arguments.watch
    if arguments.device is not None or not _OFTEN <= pause <= _RARELY:
        message = f"--watch looks at this machine, every {_OFTEN:g} seconds at the most and once a day at the least"
        raise UsageError(message)
    status = _YES
    try:
        while True:
            if sys.stdout.isatty() and not arguments.json:
                sys.stdout.write(_CLEAR)
            begun = time.process_time()
            status = _look(arguments)
            sys.stdout.flush()
            time.sleep(max(pause, 10 * (time.process_time() - begun)))  # never more than a tenth of a core
    except KeyboardInterrupt:
        return status


def _look(arguments: argparse.Namespace) -> int:
    found = _probe(arguments)
    judged = judge(found, _release(arguments))
    if arguments.json:
        from oomph.write.judgement_json import judged_json  # noqa: PLC0415 - only who asks for it pays for it

        save(judged_json(found, judged), "-")
    else:
        from oomph.write.probe_text import probe_lines  # noqa: PLC0415 - likewise

        show(lambda width: probe_lines(found, judged, width=width))
    return _status(judged)


def _probe(arguments: argparse.Namespace) -> Probe:
    if arguments.device is not None:
        from oomph.readers.probe_file import read_probe  # noqa: PLC0415 - likewise

        return read_probe(arguments.device)
    from oomph.readers.probe import probe  # noqa: PLC0415 - likewise

    return probe(context=arguments.context)


def _release(arguments: argparse.Namespace) -> Release:
    if arguments.release is not None:
        return HISTORY.release(arguments.release)
    if arguments.device is None:
        from oomph.readers.installed import installed  # noqa: PLC0415 - likewise

        return installed() or HISTORY.read_through
    return HISTORY.read_through


def _status(judged: Judgement) -> int:
    """No where one device says so; yes only where every device surely says so, and none was lost."""
    verdicts = {None if each.check is None else each.check.verdict for each in judged.devices}
    if Verdict.OVERFLOWS in verdicts:
        return _NO
    return _YES if verdicts == {Verdict.FITS} and not judged.visible.lost else _UNSURE
