"""A proposal for a person: what to run, what it holds, what each flag costs, what else there is, and why not the usual.

Knows what is said in which order. Does not know colours, nor how a proposal is found.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.typed import typed, written
from oomph.engines.vllm.levers.startup import Change
from oomph.fit.demand import demand
from oomph.fit.given import caches_beginnings
from oomph.fit.hardware import Hardware
from oomph.fit.judge import Judged
from oomph.fit.played import Played
from oomph.fit.proposal import Fitted, Proposal
from oomph.fit.sizing import Sized
from oomph.fit.workload import Workload
from oomph.ledger.command import Command
from oomph.ledger.rest import Rest
from oomph.units import Bytes
from oomph.write.facts import heading, labelled, section
from oomph.write.manifest.shell_line import vllm_line
from oomph.write.sentences import sentence
from oomph.write.span import Line, Span, Style, wrapped

_TEXT: Final = 110  # columns; longer lines are hard to read
_KINDS: Final = 8  # of hardware that a person reads
_DEFAULTS: Final = "nothing: these are the release's defaults"
_PRECISION: Final = frozenset({"quantization", "kv_cache_dtype", "language_model_only"})


def fit_lines(answer: Fitted, command: Command | None, *, width: int = 80) -> Iterator[Line]:
    """Answer first, then the command, then the reasons."""
    width = min(width, _TEXT)
    style = Style.FITS if answer.holds else Style.OVERFLOWS
    for line in wrapped(sentence(_outcome(answer)), width):
        yield (Span(line, Style.UNSURE if answer.unsure and answer.holds else style),)
    yield from _faint(_asked(answer.workload), width)
    yield from _faint(_where(answer), width)
    yield from _command(command)
    if answer.proposal is not None:
        yield from _proposal(answer.proposal, answer.workload, width)
    if answer.played is not None:
        yield from labelled("played", _played(answer.played, answer.workload), width)
    yield from _others(answer, width)
    yield from section("to hold all of them", (("-", words) for words in answer.instead), width, label=2)
    yield from _not_taken(answer, width)
    yield ()
    yield from _faint(_effort(answer), width)


def sized_lines(answer: Sized, command: Command | None, *, width: int = 80) -> Iterator[Line]:
    """What is owned, if it is enough; else the hardware that is, and what to run on the least of it."""
    width = min(width, _TEXT)
    if not answer.found and answer.owned is not None:
        yield from fit_lines(answer.owned, command, width=width)
        return
    if answer.owned is not None:
        yield from _faint(f"What you own: {_outcome(answer.owned)}.", width)
    first = answer.found[0].words if answer.found else None
    words = "No device that is known holds this" if first is None else f"The least memory that holds this is {first}"
    yield (Span(f"{words}.", Style.OVERFLOWS if first is None else Style.FITS),)
    yield from section(
        "what holds it, the least memory first",
        ((f"{each.memory}", _kind(each)) for each in answer.found[:_KINDS]),
        width,
        label=12,
    )
    if answer.found:
        yield ()
        yield from fit_lines(answer.best, command, width=width)


def _kind(hardware: Hardware) -> str:
    """How it is written, what it must be told, and how fast it can be at best."""
    with_it = " ".join(typed(flag, value) for flag, value in hardware.change.items() if flag in _PRECISION)
    narrow = f", with {with_it}" if with_it else ""
    speed = "" if hardware.floor is None else f"; no token faster than every {hardware.floor * 1000:.0f} ms"
    return f"{hardware.key} x{hardware.count}{narrow}{speed}"


def _outcome(answer: Fitted) -> str:
    users, wanted = answer.workload.users, answer.proposal
    if wanted is None and answer.workload.step is not None:
        return f"no setting of vLLM {answer.release} holds one such request here and can give a token so soon"
    if wanted is None:
        return f"no setting of vLLM {answer.release} starts with this model on this hardware and holds one such request"
    sure = "likely" if wanted.judged.risk is Rest.LIKELY else "surely"
    if answer.holds:
        but = ", but no setting is sure to" if answer.unsure else ""
        return f"this {sure} holds {_count(users, 'user')} at once, {_lengths(answer.workload)}{but}"
    return (
        f"nothing holds all {users:,} users at once; this {sure} holds {wanted.judged.users:,}, "
        f"{_lengths(answer.workload)}, and the rest wait"
    )


def _lengths(workload: Workload) -> str:
    if workload.usual == workload.longest:
        return f"each with {workload.longest:,} tokens"
    return f"with {workload.usual:,} tokens each, or up to {workload.longest:,}"


def _asked(workload: Workload) -> str:
    prompt, answer = workload.prompt, workload.answer
    shared = f", of which {workload.prefix:,} are the same for all" if workload.prefix else ""
    return (
        f"{workload.users:,} at the peak; prompts of {prompt.p99:,} tokens{shared}, answers of {answer.p99:,} "
        f"({prompt.basis}; {answer.basis})"
    )


def _where(answer: Fitted) -> str:
    if answer.proposal is None:
        return f"vLLM {answer.release}"
    start = answer.proposal.judged.startup
    name = "" if start.model is None else f"{start.model.name}, "
    count = answer.proposal.gpus
    device = answer.proposal.forecast.device
    return f"{name}{f'{count} × ' if count > 1 else ''}{device.name} ({device.total}), vLLM {answer.release}"


def _command(command: Command | None) -> Iterator[Line]:
    if command is None:
        return
    yield ()
    for line in vllm_line(command).rstrip("\n").split("\n"):
        yield (Span(f"  {line}", Style.FLAG),)


def _proposal(proposal: Proposal, workload: Workload, width: int) -> Iterator[Line]:
    costs = [(typed(flag, value), proposal.prices.get(flag, "")) for flag, value in proposal.change.items()]
    if costs:
        yield from heading("what it costs", width)
        for flag, price in costs:
            yield from labelled("", flag, width, style=Style.FLAG, wide=0)
            yield from labelled("", price, width, wide=2)
    else:
        words = "nothing: all else is the release's default" if proposal.judged.startup.flags else _DEFAULTS
        yield from section("what it costs", (("-", words),), width, label=2)
    yield from section("what it holds", _holds(proposal, workload), width)


def _holds(proposal: Proposal, workload: Workload) -> Iterator[tuple[str, str]]:
    judged, kv = proposal.judged, proposal.forecast.kv
    if kv is None:
        return
    asked = demand(kv, workload, shares=caches_beginnings(judged.startup))
    size = Bytes(asked.longest * kv.bytes_per_block)
    together = f"; {_count(asked.shared, 'block')} are kept once for all" if asked.shared else ""
    yield "long", f"a request of {workload.longest:,} tokens takes {_count(asked.longest, 'block')}, {size}{together}"
    if asked.spread:
        usual = Bytes(round(asked.mean * kv.bytes_per_block))
        room = f"{_count(judged.users, 'user')} have room in 999 of 1000 moments"
        yield "usual", f"{asked.mean:,.0f} blocks on the average, {usual}; {room}"
    if proposal.forecast.pool is not None and kv.tokens is not None:
        each = " on each replica" if judged.users != judged.held else ""
        yield "the pool", f"{proposal.forecast.pool.likely}, about {kv.tokens:,} tokens{each}; {_room(judged)}"
    longest = proposal.forecast.settings.whole("max_model_len")
    yield "beyond", f"more users wait; requests of more than {longest:,} tokens are refused"
    if proposal.floor is not None:
        yield "a token", f"no faster than every {proposal.floor * 1000:.1f} ms: what a step must read of the memory"


def _played(played: Played, workload: Workload) -> str:
    """What the scheduler makes of it."""
    seen, users = played.seen, played.users
    what = "for room, or for a step that takes their prompts" if seen.waits_for_room else "for a step that takes them"
    waits = f"up to {seen.peak_waiting:,} wait {what}" if seen.peak_waiting else "nobody waits"
    thrown = f"{_count(seen.preemptions, 'preemption')}" if seen.preemptions else "no preemption"
    lengths = "usual and long ones" if workload.usual < workload.longest else "all of them long"
    among = "" if users == workload.users else f" of {workload.users:,}, as one replica has them"
    return (
        f"{_count(users, 'user')}{among} who ask again at once, {lengths}: {seen.peak_running:,} run at once, "
        f"{waits}, {thrown}; at most {seen.peak_usage:.0%} of the likely pool is taken{_calm(played)}"
    )


def _calm(played: Played) -> str:
    """From how many users on somebody waits for room."""
    calm = played.calm
    if calm is None:
        return ""
    begins = f"; waiting begins with {_count(calm.users + 1, 'user')}"
    return begins if calm.limited else f"; nor do {calm.users:,} wait for room"


def _room(judged: Judged) -> str:
    """For how many, as surely as was asked for."""
    return f"room for {_count(judged.users, 'user')}"


def _others(answer: Fitted, width: int) -> Iterator[Line]:
    if answer.others:
        yield from heading("or", width, "what gives up something else")
    for other in answer.others:
        with_it = " ".join(typed(flag, value) for flag, value in other.change.items()) or "the defaults"
        named = "" if other.model is None else f"{other.model} "
        yield from labelled("do", f"{named}{with_it}", width, style=Style.FLAG)
        yield from labelled("price", "; ".join(filter(None, other.prices.values())), width)
        gpus = "" if other.gpus == 1 else f" on {other.gpus} GPUs"
        yield from labelled("holds", f"{_count(other.judged.users, 'user')} at once{gpus}", width)


def _not_taken(answer: Fitted, width: int) -> Iterator[Line]:
    """Choices with the same reason stand together."""
    grouped: dict[str, list[Change]] = {}
    for each in answer.not_taken:
        grouped.setdefault(each.why, []).append(each.change)
    if grouped:
        yield from heading("why not", width)
    for why, changes in grouped.items():
        flags = ", ".join(_named(change) for change in changes)
        yield from labelled("", flags, width, style=Style.FLAG, wide=0)
        yield from labelled("", why, width, wide=2)


def _named(change: Change) -> str:
    """A switch that is turned off by its own name."""
    return " ".join(
        f"--no-{written(flag)[2:]}" if value is False else typed(flag, value) for flag, value in change.items()
    )


def _effort(answer: Fitted) -> str:
    return f"{answer.settings:,} settings were decided with {answer.forecasts:,} forecasts."


def _faint(words: str, width: int) -> Iterator[Line]:
    for line in wrapped(words, width):
        yield (Span(line, Style.FAINT),)


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
