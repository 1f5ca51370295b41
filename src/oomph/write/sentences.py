"""What is said the same way on a terminal, on a page and in a picture: the answer, margins, flags, remedies, settings.

Knows words. Does not know where they are put. A size reads the same wherever it stands; what is left over is rounded
down, and what is missing up, all by `Bytes`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.ledger import Account, Entry, Ledger
from oomph.ledger.settings import Setting, Value
from oomph.units import Bounds, Bytes
from oomph.write.picture import BY_SHARE, ORDER, Fate, Row

if TYPE_CHECKING:
    from oomph.diagnose.finding import Finding, Remedy  # a plan that fits has none, and should not wait for them

HAPPENS: Final = {
    Step.START_CHECK: "is the asked share free?",
    Step.LOAD: "weights are loaded",
    Step.PROFILE: "the largest step is tried",
    Step.GRAPH_PROFILE: "graphs are tried in a throw-away pool",
    Step.POOL_SIZE: "what is left becomes the KV pool",
    Step.ONE_REQUEST: "does the longest request fit?",
    Step.CAPTURE: "graphs are captured",
    Step.WARM_UP: "every kernel runs once",
    Step.SERVING: "the busiest moment",
}


def subject(forecast: Forecast) -> str:
    """What is started, on what, with what."""
    engine, device = f"{forecast.engine} {forecast.release}", _devices(forecast)
    return f"{engine} on {device}" if forecast.model is None else f"{forecast.model} on {device}, {engine}"


def _devices(forecast: Forecast) -> str:
    """Those that are alike counted together, in the order of their first rank."""
    names = [device.name for device in forecast.devices] or [forecast.device.name] * forecast.count
    return " + ".join(f"{count} × {name}" if count > 1 else name for name, count in Counter(names).items())


def outcome(forecast: Forecast) -> str:
    """What becomes of it, without saying of what."""
    stopped = forecast.stopped_at
    if stopped is None:
        if forecast.verdict is Verdict.FITS:
            return f"starts{_held(forecast)}"
        passed = ", ".join(gate.step for gate in forecast.gates) or "no gate"
        return f"passes {passed}; the other gates are not forecast"
    if stopped.verdict is Verdict.OVERFLOWS:
        return f"fails at {stopped.step}, {short(stopped)} short"
    worse = None if _likely_short(stopped) else next(filter(_likely_short, forecast.gates), None)
    if worse is not None:
        return f"cannot tell at {stopped.step}, where it likely fits; likely short at {worse.step}"
    lean = "likely falls short" if _likely_short(stopped) else "likely fits"
    known = f"what it needs and has is only known to within {stopped.spare.doubt}"
    return f"cannot tell at {stopped.step}; it {lean}, but {known}"


def _likely_short(gate: Gate) -> bool:
    return gate.needs.likely > gate.has.likely


def answer(forecast: Forecast) -> str:
    """The one sentence."""
    return f"{subject(forecast)}: {outcome(forecast)}."


def sentence(words: str) -> str:
    """With a capital and a full stop."""
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def _held(forecast: Forecast) -> str:
    if forecast.kv is None or forecast.kv.tokens is None:
        return ""
    return f", with room for {forecast.kv.tokens:,} tokens"


def short(gate: Gate) -> str:
    """By how much it likely falls short."""
    return Bytes(gate.needs.likely - gate.has.likely).up


def margin(row: Row) -> str:
    """The end of a row: what is left over for sure, or what is missing."""
    gate = row.gate
    if gate is None or row.fate is Fate.NOT_REACHED:
        return str(row.fate)
    if gate.verdict is Verdict.UNSURE:
        return "likely short" if _likely_short(gate) else "likely fits"
    return f"{short(gate)} short" if gate.verdict is Verdict.OVERFLOWS else f"{gate.spare.low.down} spare"


def sides(gate: Gate) -> tuple[str, str]:
    """What it needs, and what it has."""
    return str(gate.needs), str(gate.has)


def ranged(size: Bounds) -> str:
    """Between what and what; nothing where it is exact."""
    return "" if size.exact else f"{size.low} to {size.high}"


def together(forecast: Forecast) -> str:
    """Between what and what all that is shown of the ledger is together."""
    gate, total = _shown(forecast), shown_ledger(forecast)[1].total
    if gate is not None and gate.step not in _OTHER_SIDES:
        ends = Bounds(forecast.device.total) - gate.spare
        if total.likely in ends:  # doubts that do not add up end to end were added by the gate
            return ranged(ends + (total.likely - ends.likely))
    pool = shown_ledger(forecast)[1].of(Account.KV_POOL)
    return ranged(total) if pool is None or pool.exact else "the pool takes the rest"


_OTHER_SIDES: Final = BY_SHARE | {Step.START_CHECK}  # gates that do not compare all that is there with the device


def shown_ledger(forecast: Forecast) -> tuple[str, Ledger]:
    """What is on the device where it stops, else once it serves; and when that is."""
    stopped = forecast.stopped_at
    if stopped is not None and stopped.ledger.entries:
        return f"at {stopped.step}", stopped.ledger
    return "once it serves", forecast.ledger


def _shown(forecast: Forecast) -> Gate | None:
    """The gate of which that is the ledger."""
    stopped = forecast.stopped_at
    if stopped is not None and stopped.ledger.entries:
        return stopped
    return next((gate for gate in forecast.gates if gate.step is Step.SERVING), None)


def by_account(ledger: Ledger) -> Iterator[Entry]:
    """One entry per account, in the order in which a bar shows them."""
    for account in ORDER:
        parts = Ledger(tuple(entry for entry in ledger if entry.account is account))
        if parts.entries:
            why = "; ".join(entry.because for entry in parts)
            yield Entry(account=account, size=parts.total, basis=parts.basis, because=why)


def whose(forecast: Forecast) -> str:
    """Of which device the bars speak."""
    if forecast.count == 1:
        return f"{forecast.device.name}, {forecast.device.total}"
    return f"rank {forecast.rank} of {forecast.count}, {forecast.device.name}, {forecast.device.total}"


def change(remedy: "Remedy", engine: str) -> str:
    """As it is typed."""
    return " ".join(_typed(name, value, engine) for name, value in remedy.change.items())


def _typed(name: str, value: Value, engine: str) -> str:
    if name == "release":
        return f"{engine} {value}"
    if name.isupper():
        return f"{name}={_quoted(value)}"
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return f"no {flag}"
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}"
    values = value if isinstance(value, tuple) else (value,)
    return " ".join((flag, *map(_quoted, values)))


def _quoted(value: Value) -> str:
    from shlex import quote  # noqa: PLC0415 - a plan that fits has nothing to type

    return quote(str(value))


def result(remedy: "Remedy") -> str:
    """What the forecast says with it."""
    if remedy.fails_at is not None:
        return f"passes this gate, next it fails at {remedy.fails_at}"
    words = {Verdict.FITS: "it starts", Verdict.OVERFLOWS: "it still fails", Verdict.UNSURE: "it may start"}
    spare = remedy.spare
    if spare is None or spare.low < 0:
        return words[remedy.verdict]
    return f"{words[remedy.verdict]}; {spare.low.down} to spare at that gate"


def typed(words: str) -> bool:
    """Whether it is a flag or a variable, not a deed."""
    return words.startswith("-") or "=" in words


def also_inert(forecast: Forecast, findings: "Iterable[Finding]") -> tuple[str, ...]:
    """Flags that change nothing where it stops, and of which no finding has said so."""
    stopped = forecast.stopped_at
    said = {flag for finding in findings for flag in finding.unhelpful or {}}
    return () if stopped is None else tuple(flag for flag in stopped.inert if flag not in said)


def value(setting: Setting) -> str:
    """As people read it."""
    held = setting.value
    if isinstance(held, tuple):
        return f"{len(held)} sizes up to {held[-1]}" if held else "none"
    return f"{held:,}" if isinstance(held, int) and not isinstance(held, bool) else str(held)


def pool_facts(forecast: Forecast) -> Iterator[tuple[str, str]]:
    """What the pool is and holds, a name and its words at a time; what it would hold is not said where it never is."""
    kv, stopped = forecast.kv, forecast.stopped_at
    never = stopped is not None and stopped.verdict is Verdict.OVERFLOWS
    if forecast.pool is not None and not never:
        yield "size", str(forecast.pool)
    if kv is None:
        return
    if kv.blocks is not None and not never:
        yield "holds", f"{kv.blocks:,} blocks, {kv.tokens or 0:,} tokens"
        yield "serves", f"{kv.concurrency or 0:.2f} requests of full length at once"
    yield "block", f"{kv.block_tokens:,} tokens, {kv.bytes_per_block}"
    if kv.need is not None:
        yield "request", f"{kv.need} for one of full length"


def groups(forecast: Forecast) -> Iterator[str]:
    """Layers that take blocks together."""
    found = () if forecast.kv is None else forecast.kv.groups
    for group, times in Counter(found).items():
        many = f"{times} × " if times > 1 else ""
        yield f"{many}{group.layers} layers, pages of {int(group.page):,} B for {group.block_tokens:,} tokens"


def notes(forecast: Forecast) -> Iterator[str]:
    """What else one should know."""
    yield from forecast.warnings
    for step, why in forecast.skipped.items():
        yield f"no {step}: {why}"
    if forecast.not_forecast:
        yield f"not forecast: {', '.join(forecast.not_forecast)}"
