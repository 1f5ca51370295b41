"""Drive a running server to its peak and beyond: whether it holds, where it breaks, and what is left."""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Final

from oomph.cli.screen import save, show
from oomph.diagnose.proof.judge import Result
from oomph.diagnose.proof.scenes import KILLERS
from oomph.errors import UsageError
from oomph.ledger.proof import Ask, Wishes

if TYPE_CHECKING:
    from oomph.diagnose.proof.proof import Proof
    from oomph.live.prove import Question

_STATUS: Final = {Result.HELD: 0, Result.BROKE: 1}
_CANNOT_TELL: Final = 3
_MAY: Final = ("waiting", "preemption")
_RAMP: Final = 15.0  # seconds, at most
_MOST_USERS: Final = 4096  # of whom a burst makes four times as many, which is what one machine has ports for
_LONGEST: Final = 14_400.0  # seconds: every request is remembered until the end


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    load = parser.add_argument_group("the load")
    load.add_argument("--prompt", type=int, metavar="N", default=512, help="tokens of a prompt at the peak (512)")
    load.add_argument("--answer", type=int, metavar="N", default=128, help="tokens of an answer (128)")
    load.add_argument("--users", type=int, metavar="N", help="requests at once (8); with --find the most to try (256)")
    load.add_argument(
        "--prefix", type=int, metavar="N", default=0, help="tokens with which all prompts begin alike (0)"
    )
    load.add_argument("--for", dest="seconds", type=float, metavar="S", default=60.0, help="seconds of the hold (60)")
    load.add_argument(
        "--ramp", type=float, metavar="S", help="seconds over which users join (a quarter of --for, at most 15)"
    )
    load.add_argument(
        "--find", action="store_true", help="look for the least number of users that breaks it, then hold one less"
    )
    load.add_argument(
        "--killers", metavar="LIST", default="all", help=f"all, none, or some of: {', '.join(KILLERS)} (all)"
    )
    wishes = parser.add_argument_group("what must hold, besides every request being answered")
    wishes.add_argument("--ttft", type=float, metavar="S", help="seconds until the first token, at p99")
    wishes.add_argument("--itl", type=float, metavar="S", help="seconds between tokens, at p99")
    wishes.add_argument("--e2e", type=float, metavar="S", help="seconds until the whole answer, at p99")
    wishes.add_argument(
        "--allow",
        metavar="LIST",
        default="",
        help="waiting, preemption or both: without it, either one breaks the load",
    )
    parser.add_argument("--model", metavar="NAME", help="where the server has several")
    parser.add_argument(
        "--plan", metavar="FILE", help="what was planned (oomph plan --json > FILE), to be held against it"
    )
    parser.add_argument("--every", type=float, metavar="S", default=1.0, help="seconds between looks at /metrics (1)")
    parser.add_argument(
        "--patience",
        type=float,
        metavar="S",
        default=60.0,
        help="seconds without a token or a step until it hangs (60)",
    )
    parser.add_argument("--json", action="store_true", help="print the contract oomph.proof/1")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page; - for the standard output")
    parser.add_argument("url", metavar="URL", help="of the server: http://127.0.0.1:8000")
    parser.epilog = (
        "not for a server that people use: the killers may end it; a key is taken from VLLM_API_KEY or OPENAI_API_KEY; "
        "exit status: 0 held, 1 broke, 2 wrong usage, 3 cannot tell"
    )


def run(arguments: argparse.Namespace) -> int:
    """Drive it, print the report; the exit status is the verdict."""
    if arguments.json and arguments.html == "-":
        message = "the standard output takes one answer: of --json and --html -, write one"
        raise UsageError(message)
    question = _question(arguments)
    try:
        proof = _proved(question)
    except KeyboardInterrupt:
        sys.stderr.write("oomph prove: interrupted before anything was sent\n")
        return _CANNOT_TELL
    _write(arguments, proof)
    return _STATUS.get(proof.result, _CANNOT_TELL)


def _proved(question: "Question") -> "Proof":
    from oomph.cli.prove_progress import progress  # noqa: PLC0415 - wrong usage is told without it
    from oomph.live.prove import prove  # noqa: PLC0415 - likewise
    from oomph.readers.device_memory import memory_beside  # noqa: PLC0415 - likewise

    with memory_beside(question.url) as devices, progress(question.url) as shown:
        return asyncio.run(prove(question, devices=devices, told=shown.told, judged=shown.judged))


def _question(arguments: argparse.Namespace) -> "Question":
    from oomph.live.prove import Question  # noqa: PLC0415 - likewise
    from oomph.readers.planned import read_planned  # noqa: PLC0415 - likewise

    users = arguments.users if arguments.users is not None else 256 if arguments.find else 8
    _refuse_senseless(arguments, users)
    ramp = min(_RAMP, arguments.seconds / 4) if arguments.ramp is None else arguments.ramp
    may = _listed("--allow", arguments.allow, _MAY)
    return Question(
        url=arguments.url,
        ask=Ask(prompt=arguments.prompt, answer=arguments.answer, prefix=arguments.prefix),
        users=users,
        seconds=arguments.seconds,
        ramp=ramp,
        killers=_killers(arguments.killers),
        find=arguments.find,
        model=arguments.model,
        wishes=Wishes(
            first_token=arguments.ttft,
            between_tokens=arguments.itl,
            whole=arguments.e2e,
            may_wait="waiting" in may,
            may_preempt="preemption" in may,
        ),
        planned=None if arguments.plan is None else read_planned(arguments.plan),
        every=arguments.every,
        patience=arguments.patience,
    )


def _killers(said: str) -> tuple[str, ...]:
    if said in {"all", "none"}:
        return tuple(KILLERS) if said == "all" else ()
    return _listed("--killers", said, tuple(KILLERS))


def _listed(flag: str, said: str, known: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in said.split(",") if name.strip())
    if wrong := [name for name in names if name not in known]:
        message = f"{flag} does not know {wrong[0]!r} (it knows {', '.join(known)})"
        raise UsageError(message)
    return names


def _refuse_senseless(arguments: argparse.Namespace, users: int) -> None:
    """Numbers with which nothing could be driven."""
    limits = (
        ("--prompt", arguments.prompt, 1, 1 << 24),
        ("--answer", arguments.answer, 1, 1 << 24),
        ("--users", users, 1, _MOST_USERS),
        ("--prefix", arguments.prefix, 0, arguments.prompt),
        ("--for", arguments.seconds, 0, _LONGEST),
        ("--ramp", arguments.ramp or 0, 0, _LONGEST),
        ("--every", arguments.every, 0.05, 60),
        ("--patience", arguments.patience, 1, _LONGEST),
        ("--ttft", arguments.ttft or 1, 0, _LONGEST),
        ("--itl", arguments.itl or 1, 0, _LONGEST),
        ("--e2e", arguments.e2e or 1, 0, _LONGEST),
    )
    for flag, given, least, most in limits:
        if not least <= given <= most:
            message = f"{flag} {given:g} makes no sense here: from {least:g} to {most:g}"
            raise UsageError(message)


def _write(arguments: argparse.Namespace, proof: "Proof") -> None:
    if arguments.html is not None:
        from oomph.write.proof_html import proof_html  # noqa: PLC0415 - only who asks for it pays for it

        save(proof_html(proof), arguments.html)
    if arguments.json:
        from oomph.write.proof_json import proof_json  # noqa: PLC0415 - likewise

        save(proof_json(proof), "-")
    elif arguments.html != "-":
        from oomph.write.proof_text import proof_lines  # noqa: PLC0415 - likewise

        show(lambda width: proof_lines(proof, width=width))
