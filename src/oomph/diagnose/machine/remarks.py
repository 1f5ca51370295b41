"""What is odd about one device, in words: sources that disagree, who is in the way, what would break there.

Each remark has a name that scripts may rely on. Knows one device of a probe and what a release believes of it. Does
not know the machine around it: `machine` does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from oomph.diagnose.machine.holders import Holder, Kind, held_by
from oomph.engines.history import Release
from oomph.engines.vllm.believed import Believed, asks_host
from oomph.engines.vllm.start_check import largest_share
from oomph.ledger.claims import Claim, Source, apart, preloaded, served
from oomph.ledger.gate import Verdict
from oomph.ledger.probe import Probe
from oomph.ledger.visible import Place
from oomph.units import GIB, Bytes

_LARGE = 70 * GIB  # from which a card's default limits of a step are larger (engine/arg_utils.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that a user should know, and what to do where something can be done."""

    name: str
    words: str
    do: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """All that is known of one device while it is judged."""

    place: Place
    probe: Probe
    release: Release
    claims: tuple[Claim, ...]
    holders: tuple[Holder, ...]
    believed: Believed | None
    verdict: Verdict | None

    def of(self, source: Source) -> Claim | None:
        """What that source says."""
        return next((claim for claim in self.claims if claim.source is source), None)


def remarks(look: Look) -> Iterator[Remark]:
    """The gravest first."""
    yield from _orphans(look)
    yield from _disagreements(look)
    yield from _limit(look)
    yield from _less_than_believed(look)
    yield from _sums(look)
    yield from _neighbours(look)
    yield from _display(look)
    yield from _page_cache(look)
    yield from _exclusive(look)
    yield from _whole_card(look)


def _orphans(look: Look) -> Iterator[Remark]:
    found = tuple(held_by(look.holders, Kind.ORPHAN))
    if found:
        pids = " ".join(str(holder.process.pid) for holder in found)
        yield Remark(
            name="orphan-engine",
            words=f"{_who(found)}: an engine whose server is gone, so nobody will stop it; a lower share only shrinks "
            f"the new engine around it",
            do=f"kill {pids}",
        )


def _disagreements(look: Look) -> Iterator[Remark]:
    """Sources that differ by more than what a driver keeps for itself."""
    library, driver, clamp = look.of(Source.NVML), look.of(Source.DRIVER), look.of(Source.HAMI)
    if driver is not None and clamp is not None and driver.size > clamp.size and apart(driver.size, clamp.size):
        yield Remark(
            name="clamp-unseen-by-driver",
            words=f"{clamp.because} allows {clamp.size}, but the driver says {driver.size}: vLLM believes the driver, "
            f"and what it allocates beyond the limit may be refused",
            do=None if preloaded(look.probe) else "load HAMi's library (LD_PRELOAD or /etc/ld.so.preload)",
        )
    elif driver is not None and library is not None and apart(driver.size, library.size):
        yield Remark(
            name="sources-disagree",
            words=f"NVML says {library.size}, the driver {driver.size}: vLLM believes the driver",
        )
    elif driver is None and clamp is not None and library is not None and apart(clamp.size, library.size):
        unsure = "" if preloaded(look.probe) else ", if its library is loaded, which was not seen"
        yield Remark(
            name="sources-disagree",
            words=f"NVML says {library.size}, {clamp.because} allows {clamp.size}: the driver will answer vLLM with "
            f"the limit{unsure}",
            do="oomph probe --context asks the driver itself",
        )
    elif driver is None and clamp is not None and library is not None:
        yield Remark(
            name="clamp-unproven",
            words=f"NVML shows the {clamp.size} that {clamp.because} allows; whether the driver tells vLLM the same "
            f"was not asked",
            do="oomph probe --context asks the driver itself",
        )


def _limit(look: Look) -> Iterator[Remark]:
    """MPS leaves the total as it is, so that a share of the total asks for more than one client may have."""
    limit, found = look.of(Source.MPS), look.believed
    if limit is None:
        return
    if found is not None and found.free_from.source is not Source.MPS and look.of(Source.DRIVER) is None:
        yield Remark(name="mps-limit-idle", words=f"{limit.because} limits nothing: no MPS daemon was found")
    elif found is not None:
        yield Remark(
            name="mps-limit",
            words=f"{limit.because}: one process may have {limit.size}, yet the total stays {found.total}, of which "
            f"vLLM takes its share",
            do="set --gpu-memory-utilization to the largest that passes",
        )


def _less_than_believed(look: Look) -> Iterator[Remark]:
    found = look.believed
    if found is not None and found.really < found.now.low and apart(found.really, found.now.low):
        least = min((claim for claim in look.claims if claim.free == found.really), key=lambda claim: claim.size)
        yield Remark(
            name="less-than-believed",
            words=f"vLLM will find {found.now.low} free, but {least.source} leaves only {found.really}: what it "
            f"allocates beyond that is refused",
            do=_fitting(found, look.release),
        )


def _fitting(found: Believed, release: Release) -> str:
    """The share of the believed total that what can really be had holds, with the engine's context beside it."""
    left = max(found.free.low - (found.now.low - found.really), 0)
    share = largest_share(found.total, Bytes(left), release)
    if share is None:
        return "free memory there first: no share fits into what can be had"
    return f"--gpu-memory-utilization {share:.2f}, which fits into what can be had"


def _sums(look: Look) -> Iterator[Remark]:
    part = look.place.part
    if part.total is None or part.free is None or part.used is None:
        return
    told = Bytes(part.free + part.used + (part.reserved or 0))
    if told > part.total and apart(told, part.total):
        yield Remark(
            name="sums-disagree",
            words=f"free, used and reserved add up to {told}, more than the {part.total} that are there: one of these "
            f"figures is wrong",
        )


def _neighbours(look: Look) -> Iterator[Remark]:
    found = tuple(held_by(look.holders, Kind.TENANT, Kind.ENGINE, Kind.OUTSIDE))
    others = any(gpu.error is None and gpu.index != look.place.gpu.index for gpu in look.probe.gpus)
    other = "choose another device with CUDA_VISIBLE_DEVICES, " if others else ""
    if found and look.verdict is not Verdict.FITS:
        yield Remark(
            name="neighbours",
            words=f"{_who(found)}, which another engine cannot have",
            do=f"stop that, {other}or take a smaller share",
        )


def _display(look: Look) -> Iterator[Remark]:
    found = tuple(held_by(look.holders, Kind.DISPLAY))
    if found or look.place.gpu.display:
        who = f"{_who(found)}: " if found else ""
        yield Remark(
            name="display",
            words=f"{who}a desktop is drawn by this card, and takes more when more windows open",
            do="draw it by another card, or leave a few hundredths of the share free",
        )


def _page_cache(look: Look) -> Iterator[Remark]:
    """Where the driver counts cached files as used, and the release believes it."""
    cache = look.probe.host.page_cache
    if look.place.gpu.coherent and not look.place.gpu.unified:
        yield Remark(
            name="coherent-memory",
            words="the host may use this card's memory as its own, so that files it has cached may take some of it",
            do="sync; echo 3 > /proc/sys/vm/drop_caches",
        )
    if not cache or not look.place.gpu.unified:
        return
    if asks_host.at(look.release)(look.place.gpu):
        yield Remark(
            name="unified-memory",
            words=f"its memory is the host's; {look.release} asks the host what is available, so that {cache} of page "
            f"cache do not count as used",
        )
    else:
        yield Remark(
            name="page-cache",
            words=f"its memory is the host's, and {look.release} asks the driver, which counts {cache} of page cache "
            f"as used: dropping it would give up to that much back",
            do="sync; echo 3 > /proc/sys/vm/drop_caches",
        )


def _exclusive(look: Look) -> Iterator[Remark]:
    others = tuple(holder for holder in look.holders if not holder.process.graphics)
    if look.place.gpu.exclusive and others and not served(look.place, look.probe):
        yield Remark(
            name="exclusive",
            words=f"the card is in exclusive mode and {_who(others)}: nobody else can open it",
            do="stop it, or: nvidia-smi --compute-mode=DEFAULT",
        )


def _whole_card(look: Look) -> Iterator[Remark]:
    """Default limits of a step follow NVML's total of the whole card, not the slice."""
    card, found = look.place.gpu.total, look.believed
    if card is not None and found is not None and card >= _LARGE > found.total:
        yield Remark(
            name="defaults-of-whole-card",
            words=f"vLLM chooses its default limits of a step for the {card} of the whole card, not for {found.total}",
            do="say --max-num-batched-tokens and --max-num-seqs",
        )


def _who(found: tuple[Holder, ...]) -> str:
    names = ", ".join(f"{_name(holder)} (pid {holder.process.pid})" for holder in found[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""  # noqa: PLR2004 - as many as are named
    sizes = [holder.process.holds for holder in found]
    held = sum(size for size in sizes if size is not None)
    amount = f"{Bytes(held)}" if None not in sizes else f"{Bytes(held)} or more" if held else "memory"
    return f"{names}{more} hold{'s' if len(found) == 1 else ''} {amount}"


def _name(holder: Holder) -> str:
    return holder.process.name or (holder.process.command or "a process")[:40]
