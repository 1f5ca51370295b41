"""A probe for a person: one sentence for each device, a bar, who holds what, what is odd and what to do, then the rest.

Knows what is said in which order, and keeps every line within the width. Does not know colours: each span has a style,
and the edge chooses how that looks. Without any style it reads the same.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.machine.holders import Kind
from oomph.diagnose.machine.judgement import Judged, Judgement
from oomph.diagnose.machine.remarks import Remark
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.claims import apart
from oomph.ledger.gate import Verdict
from oomph.ledger.probe import Host, Probe
from oomph.units import Bounds
from oomph.write.facts import labelled, section
from oomph.write.probe_bars import bar_lines, bars_of, label_of
from oomph.write.span import Line, Span, Style, joined, shortened, wrapped

_NARROWEST: Final = 40
_WIDEST: Final = 200
_TEXT: Final = 110  # columns; longer lines are hard to read
_BULLET: Final = 2  # cells of a dash before a note
_HOLDERS: Final = 8  # on one device; more are counted
_STYLES: Final = {
    Verdict.FITS: Style.FITS,
    Verdict.OVERFLOWS: Style.OVERFLOWS,
    Verdict.UNSURE: Style.UNSURE,
    None: Style.PLAIN,
}
_KINDS: Final = {
    Kind.ORPHAN: "an engine whose server is gone",
    Kind.ENGINE: "an engine that is running",
    Kind.SERVER: "the MPS server",
    Kind.DISPLAY: "draws a desktop",
    Kind.OUTSIDE: "outside this container",
    Kind.TENANT: "",
}
_ENVIRONMENT: Final = ("NVIDIA_", "CUDA_", "PYTORCH_", "HIP_", "ROCR_", "LD_PRELOAD", "VLLM_", "/")


def probe_text(probe: Probe, found: Judgement, *, width: int = 80) -> str:
    """The words alone, for a pipe."""
    return "".join(f"{joined(line)}\n" for line in probe_lines(probe, found, width=width))


def probe_lines(probe: Probe, found: Judgement, *, width: int = 80) -> Iterator[Line]:
    """Answer first."""
    width = min(max(width, _NARROWEST), _WIDEST)
    text = min(width, _TEXT)
    yield from _answers(found, text)
    bars = bars_of(found, probe)
    if bars:
        yield ()
        yield from bar_lines(bars, width)
    yield from _holders(found, text)
    yield from _remarks(found, text)
    yield from section("what vLLM will believe, and who says it", _beliefs(found), text, once=True)
    yield from section("host", _host(probe), text, once=True)
    yield from section("environment", _environment(probe), text, label=0)
    yield from section("notes", (("-", note) for note in probe.notes), text, label=_BULLET)


def _answers(found: Judgement, width: int) -> Iterator[Line]:
    if not found.devices:
        for line in wrapped("No GPU that an engine started here would see.", width):
            yield (Span(line, Style.OVERFLOWS),)
    for each in found.devices:
        style = _STYLES[None if each.check is None else each.check.verdict]
        for line in wrapped(answer(each, found), width):
            yield (Span(line, style),)


def answer(each: Judged, found: Judgement) -> str:
    """One device in one sentence."""
    place, known = each.place, each.believed
    name = place.gpu.name or "a device" if each.device is None else each.device.name
    who = f"GPU {place.gpu.index}, {name}" if len(found.devices) > 1 else name
    who = f"cuda:{place.ordinal} ({who})" if found.visible.ordered else who
    if known is None:
        return f"{who}: nobody says how much memory it has."
    had = f", though only {known.really.down} can be had" if apart(known.really, known.now.low) else ""
    had = had if known.really < known.now.low else ""
    return f"{who}: {_ranged(known.now)} of {known.total.down} free{had}; {_verdict(each, found)}."


def _verdict(each: Judged, found: Judgement) -> str:
    engine, check = f"{HISTORY.engine} {found.release}", each.check
    if check is None or check.verdict is None:
        return f"{engine} has no start check: it does not ask whether that is enough before it loads"
    if check.doubt is not None:
        return f"unsure whether {engine} passes its start check: {check.doubt}"
    share = f"its default share of {check.share:g}"
    largest = "no share" if check.largest is None else f"{check.largest:.2f}"
    match check.verdict:
        case Verdict.FITS:
            more = f", up to {largest}" if check.largest is not None and check.largest > check.share else ""
            return f"{engine} passes its start check with {share}{more}"
        case Verdict.OVERFLOWS:
            return f"{engine} refuses {share}; {largest} passes"
        case _:
            return f"{engine} may refuse {share}; {largest} surely passes"


def _ranged(size: Bounds) -> str:
    return size.low.down if size.exact else f"{size.low.down} to {size.high.down}"


def _holders(found: Judgement, width: int) -> Iterator[Line]:
    facts = [fact for each in found.devices for fact in _held(each, label_of(each.place, found))]
    yield from section("held by", facts, width, once=True)


def _held(each: Judged, where: str) -> Iterator[tuple[str, str]]:
    for holder in each.holders[:_HOLDERS]:
        process = holder.process
        size = "an untold amount" if process.holds is None else str(process.holds)
        what = process.name or (process.command or "a process")[:60]
        kind = f", {_KINDS[holder.kind]}" if _KINDS[holder.kind] else ""
        yield where, f"{size}  {what}, pid {process.pid}{kind}"
    if len(each.holders) > _HOLDERS:
        yield where, f"and {len(each.holders) - _HOLDERS} more"
    if not each.place.gpu.listed and each.place.part.used:
        yield where, f"{each.place.part.used}  by whom, the driver does not say here"


def _remarks(found: Judgement, width: int) -> Iterator[Line]:
    """On devices, then on the machine."""
    for remark, places in _remarked(found).items():
        yield ()
        where = f" on {', '.join(places)}" if places else ""
        yield (Span(shortened(f"{remark.name}{where}", width), Style.STRONG),)
        for line in wrapped(remark.words, width - 2):
            yield (Span(f"  {line}"),)
        if remark.do is not None:
            yield from labelled("do", remark.do, width, style=Style.FLAG, wide=5)


def _remarked(found: Judgement) -> dict[Remark, list[str]]:
    """Each remark once, with the devices that it is about."""
    met: dict[Remark, list[str]] = {}
    for each in found.devices:
        for remark in each.remarks:
            met.setdefault(remark, []).append(label_of(each.place, found))
    return met | {remark: [] for remark in found.remarks}


def _beliefs(found: Judgement) -> Iterator[tuple[str, str]]:
    """Of one device everything; of several only where more than one source speaks of it."""
    for each in found.devices:
        known, check, where = each.believed, each.check, label_of(each.place, found)
        if known is None or check is None or (len(each.claims) == 1 and len(found.devices) > 1):
            continue
        yield where, f"total {known.total}, from {known.total_from.source} ({known.total_from.because})"
        free = f"{_ranged(known.free)} free when it looks, its own context open by then"
        yield where, f"{free}; from {known.free_from.source}, {_ranged(known.now)} now"
        yield where, f"{check.share:g} of the total is {check.budget.up}; {_shares(each)}"
        if each.smallest is not None and each.smallest.size < known.total:
            least = each.smallest
            yield where, f"smallest plausible memory {least.size.down}: {least.source} ({least.because})"


def _shares(each: Judged) -> str:
    check = each.check
    if check is not None and check.verdict is None:
        return "this release has no start check"
    if check is not None and check.doubt is not None:
        return "which share passes is not known"
    if check is None or check.likely is None:
        return "no share passes"
    if check.largest is None:
        return f"a share of {check.likely:.2f} likely passes, none surely"
    likely = "" if check.likely == check.largest else f", {check.likely:.2f} likely does"
    return f"the largest share that surely passes is {check.largest:.2f}{likely}"


def _host(probe: Probe) -> Iterator[tuple[str, str]]:
    host = probe.host
    if host.total is not None:
        yield "memory", ", ".join(_memory(host))
    if host.limit is not None:
        used = "" if host.used is None else f", {host.used} used"
        yield "limit", f"{host.limit} for this control group{used}"
    if host.shm_total is not None:
        left = "" if host.shm_free is None else f", {host.shm_free.down} free"
        yield "shared", f"{host.shm_total}{left}, in /dev/shm"
    if host.swap_total:
        yield "swap", f"{host.swap_total}" + ("" if host.swap_free is None else f", {host.swap_free.down} free")
    where = ["WSL2"] if host.wsl else []
    where += [word for word in (host.container, host.board, host.kernel) if word]
    if where:
        yield "runs on", ", ".join(where)
    if probe.driver is not None:
        yield "driver", probe.driver + ("" if probe.cuda is None else f", CUDA up to {probe.cuda}")


def _memory(host: Host) -> Iterator[str]:
    yield str(host.total)
    if host.available is not None:
        yield f"{host.available.down} available"
    if host.page_cache is not None:
        yield f"{host.page_cache} page cache"


def _environment(probe: Probe) -> Iterator[tuple[str, str]]:
    for name, value in probe.environment.items():
        if name.startswith(_ENVIRONMENT):
            yield "", f"{name}: {value}" if name.startswith("/") else f"{name}={value}"
