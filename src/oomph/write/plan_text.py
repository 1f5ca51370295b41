"""A forecast for a person: the answer in one sentence, then the reasons. Plain text that survives any terminal."""

from collections import Counter
from collections.abc import Iterator

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Verdict
from oomph.ledger.settings import Setting


def plan_text(forecast: Forecast) -> str:
    """Answer first."""
    return "\n".join(_lines(forecast)) + "\n"


def _lines(forecast: Forecast) -> Iterator[str]:
    yield _answer(forecast)
    for warning in forecast.warnings:
        yield f"note: {warning}"
    for gate in forecast.gates:
        yield ""
        yield f"{gate.step}: {gate.verdict}"
        yield f"  needs  {gate.needs.likely.up}"
        yield f"  has    {gate.has.likely.down} ({gate.has.low.down} to {gate.has.high.down})"
        yield f"  why    {gate.because}"
        yield f"  inert  {', '.join(gate.inert)}"
    yield from _model(forecast)
    if forecast.not_forecast:
        yield ""
        yield f"not forecast yet: {', '.join(forecast.not_forecast)}"
    yield ""
    yield "settings"
    width = max(len(name) for name in forecast.settings)
    for name, setting in forecast.settings.items():
        yield f"  {name:{width}}  {_value(setting)}  ({setting.because or setting.origin})"


def _model(forecast: Forecast) -> Iterator[str]:
    """What is known to the byte of the model on one device."""
    for entry in forecast.ledger:
        yield ""
        yield f"{entry.account}: {entry.size}"
        yield f"  why    {entry.because}"
    if (kv := forecast.kv) is not None:
        yield ""
        yield f"kv pool: blocks of {kv.block_tokens:,} tokens, {kv.bytes_per_block} each"
        for group, times in Counter(kv.groups).items():
            many = f"{times} × " if times > 1 else ""
            page = f"pages of {int(group.page):,} B for {group.block_tokens:,} tokens"
            yield f"  group  {many}{group.layers} layers, {page}"
        if kv.blocks is not None:
            held = f"{kv.tokens or 0:,} tokens, {kv.concurrency or 0:.2f} requests of full length"
            yield f"  holds  {kv.blocks:,} blocks, {held}"
        if kv.need is not None:
            yield f"  needs  {kv.need.up} for one request of full length"
    if (profile := forecast.graph_profile) is not None:
        yield ""
        yield f"graph profile: a throw-away pool of {profile.total} before any budget exists"
        yield f"  why    {profile.words}"


def _answer(forecast: Forecast) -> str:
    who = f"{forecast.engine} {forecast.release} on {forecast.device.name}"
    stopped = forecast.stopped_at
    if stopped is None:
        passed = ", ".join(gate.step for gate in forecast.gates) or "no gate"
        sure = (
            "starts" if forecast.verdict is Verdict.FITS else f"passes {passed}; the later gates are not forecast yet"
        )
        return f"{who}: {sure}."
    if stopped.verdict is Verdict.OVERFLOWS:
        return f"{who}: fails at {stopped.step}, {_short(stopped)} short."
    return f"{who}: cannot tell at {stopped.step}, it depends on {stopped.has.doubt} that nobody has measured."


def _short(gate: Gate) -> str:
    return type(gate.needs.low)(gate.needs.likely - gate.has.likely).up


def _value(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, tuple):
        return f"{len(value)} sizes up to {value[-1]}" if value else "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
