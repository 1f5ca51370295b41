"""What happens on the way up: every gate of a start-up, with what it needs and has, on the rank that decides.

Knows the order of the gates, which of them a start-up meets, and that the poorest rank decides. Does not know how large
any part is, nor what would help.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts, gates, kv, on_device, seen
from oomph.engines.vllm.asked import Asked
from oomph.engines.vllm.compilation import Graphs, compilation
from oomph.engines.vllm.context import overridden, too_long
from oomph.engines.vllm.footprint import footprint
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.measured.calibration import Calibration
from oomph.engines.vllm.measured.shipped import SHIPPED
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.planned import Planned, given_pool
from oomph.engines.vllm.rank import Rank, add_up, free_at_start
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.requested import budget
from oomph.engines.vllm.resolve import longest, resolve
from oomph.engines.vllm.shapes import Start, shapes
from oomph.engines.vllm.speculation import speculation
from oomph.engines.vllm.unread import not_modelled
from oomph.engines.vllm.weights import online, world
from oomph.engines.vllm.weights.headers import held
from oomph.engines.vllm.weights.loaded import load_peak, resident
from oomph.engines.vllm.weights.loading import loading
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import parameters, total
from oomph.errors import UsageError
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.geometry import Geometry
from oomph.ledger.kv import GraphProfile
from oomph.ledger.ledger import Basis, Entry, weakest
from oomph.ledger.observed import Observed
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Settings
from oomph.units import Bounds, Bytes

_AGREE: Final = 0.02  # of the weights: scales and zero points that a kernel keeps differently
_WORSE: Final = {Verdict.OVERFLOWS: 0, Verdict.UNSURE: 1, Verdict.FITS: 2}
_UNSEEN: Final = Observed()


def forecast(
    flags: Flags,
    *,
    model: Model | None,
    devices: tuple[Device, ...],
    release: Release,
    usage: Usage = Usage.SERVER,
    observed: Observed | None = None,
    calibration: Calibration = SHIPPED,
) -> Forecast:
    """The whole way up; the poorest rank decides, because every rank must pass."""
    _refuse_too_few(flags, len(devices))
    if model is not None:
        model = _as_told(model, flags, release)
    poorest = min(devices, key=lambda device: device.total if device.free is None else device.free.low)
    context_tokens = None if model is None else longest(model.geometry, release)
    settings = resolve(flags, device=poorest, release=release, context_tokens=context_tokens, usage=usage)
    asked = Asked(
        flags=flags,
        settings=settings,
        devices=devices,
        release=release,
        observed=observed or _UNSEEN,
        calibration=calibration,
    )
    plain = Forecast(
        engine=HISTORY.engine,
        release=str(release),
        basis=HISTORY.basis(release),
        model=None if model is None else model.name,
        device=poorest,
        count=len(devices),
        devices=devices,
        settings=settings,
        gates=() if model is not None else tuple(_without_model(asked, poorest)),
        warnings=tuple(filter(None, (HISTORY.warning(release),))),
    )
    return plain if model is None else _with_model(plain, asked, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One rank's way up."""

    rank: Rank
    gates: tuple[Gate, ...]
    profile: GraphProfile | None

    @property
    def order(self) -> tuple[int, int, int]:
        """The first that surely fails comes first, then the first that may fail, then the least pool."""
        for verdict in (Verdict.OVERFLOWS, Verdict.UNSURE):
            for place, gate in enumerate(self.gates):
                if gate.verdict is verdict:
                    return _WORSE[verdict], place, self.rank.pool.likely
        return _WORSE[Verdict.FITS], 0, self.rank.pool.likely


def _without_model(asked: Asked, device: Device) -> Iterator[Gate]:
    """The start check alone, which looks at no model."""
    if facts.start_check.at(asked.release):
        before = asked.calibration.context * 1
        yield _start_check(asked, device, free=free_at_start(device, before), before=before)


def _start_check(asked: Asked, device: Device, *, free: Bounds, before: Bounds) -> Gate:
    share = asked.settings.number("gpu_memory_utilization")
    may_use = budget(device.total, share=share, release=asked.release)
    return gates.start_check(device, share=share, budget=may_use, free=free, before=before)


def _with_model(plain: Forecast, asked: Asked, model: Model) -> Forecast:
    kept = kv.kept(
        model.geometry,
        asked.flags,
        asked.settings,
        device=plain.device,
        release=asked.release,
        narrow=model.quantization is not None and model.quantization.cache_scales,
        quantized=online.made(loading(asked.flags).format, model.quantization) is not None,
    )
    weighed = model.weights is not None or asked.observed.weights is not None
    unread = not_modelled(asked.flags, model.quantization, weighed=weighed)
    ranks = tuple(_ranks(asked, model, kept, assumed=unread is not None))
    pool = Planned.of(kept, ranks, asked)
    profile = kv.graph_profile(kept, asked.settings, asked.release)
    ways = [_way(each, pool, kept, asked, profile) for each in ranks]
    worst = min(ways, key=lambda way: way.order)
    told = pool.sized if pool.sized is not None else pool.plain
    return replace(
        plain,
        basis=Basis.ASSUMED if unread else plain.basis,
        device=worst.rank.device,
        rank=worst.rank.place,
        gates=tuple(gate for gate in worst.gates if unread is None or gate.step is Step.START_CHECK),
        skipped={} if unread or pool.plain is None else _skipped(worst, kept, asked),
        geometry=model.geometry,
        parameters=_parameters(Same(model.geometry)),
        ledger=on_device.steady(worst.rank),
        kv=told,
        pool=worst.rank.pool if told is not None else None,
        graph_profile=worst.profile,
        warnings=tuple(filter(None, (*plain.warnings, pool.words, unread, _disagreement(model)))),
    )


def _ranks(asked: Asked, model: Model, kept: kv.Kept, *, assumed: bool) -> Iterator[Rank]:
    """Every rank that differs from the others: by its device, or by its stage."""
    tensor, pipeline = (asked.flags.count(f"{kind}_parallel_size") for kind in ("tensor", "pipeline"))
    met = set()
    for place, device in enumerate(asked.devices[: world.gpus(asked.flags)]):
        stage = place // tensor % pipeline
        if (device, stage) not in met:
            met.add((device, stage))
            yield _rank(asked, model, kept, device=device, place=place, stage=stage, assumed=assumed)


def _rank(asked: Asked, model: Model, kept: kv.Kept, *, device: Device, place: int, stage: int, assumed: bool) -> Rank:
    where = world.ranks(asked.flags, stage=stage)
    start = Start(
        geometry=model.geometry,
        device=device,
        flags=asked.flags,
        settings=asked.settings,
        ranks=where,
        release=asked.release,
        second_runner=kept.second_runner,
    )
    entry = model.weights or resident(model, asked.flags, device.capability, asked.release, ranks=where)
    found = add_up(
        device=device,
        place=place,
        share=asked.settings.number("gpu_memory_utilization"),
        weights=seen.weights(asked.observed, _assumed(entry) if assumed else entry, place),
        loading=load_peak(model, asked.flags, device.capability, asked.release, ranks=where),
        parts=seen.parts(asked.observed, footprint(shapes(start), asked.calibration), place),
        release=asked.release,
        given=given_pool(asked, kept),
    )
    return seen.pool(asked.observed, found)


def _assumed(entry: Entry) -> Entry:
    """An entry beside a flag whose effect is not computed."""
    return replace(entry, basis=weakest(entry.basis, Basis.ASSUMED))


def _way(rank: Rank, pool: Planned, kept: kv.Kept, asked: Asked, profile: GraphProfile | None) -> _Way:
    if profile is not None:
        ran_out = None if asked.observed.allocated is None else asked.observed.allocated.at(rank.place)
        profile = replace(profile, fails=gates.first_failing(profile, rank, ran_out))
    met = (gate for gate in _gates(rank, pool, kept, asked, profile) if gate is not None)
    return _Way(rank=rank, gates=tuple(met), profile=profile)


def _gates(
    rank: Rank, pool: Planned, kept: kv.Kept, asked: Asked, profile: GraphProfile | None
) -> Iterator[Gate | None]:
    """In the order in which they are met."""
    if facts.start_check.at(asked.release):
        yield _start_check(asked, rank.device, free=rank.free, before=rank.parts.before)
    yield gates.load(rank)
    yield gates.profile(rank)
    if profile is not None:
        yield gates.graph_profile(rank, profile)
    if rank.given is None or rank.given.checked is None:
        yield gates.pool_size(rank)
    if pool.plain is None:
        return
    if not kept.limits.auto_length:
        yield gates.one_request(rank, pool.plain, asked.settings, fitting=pool.fitting)
    if _captures(asked.settings):
        yield gates.capture(rank, pool.plain, sequences=_sequences_with_blocks(kept, asked))
    yield gates.warm_up(rank)
    yield gates.serving(rank)


def _sequences_with_blocks(kept: kv.Kept, asked: Asked) -> Bounds | None:
    """Sequences that must each have a block for their state: all of them, where whole decode steps are captured.

    Some attention kernels capture in pieces where tokens are guessed, and then none must.
    """
    whole = compilation(asked.flags).captured(asked.release) not in {Graphs.NONE, Graphs.PIECEWISE}
    if not (facts.block_for_each_state.at(asked.release) and kept.recurrent and whole):
        return None
    count = asked.settings.whole("max_num_seqs")
    return Bounds(0 if speculation(asked.flags).tokens else count, count, count)


def _captures(settings: Settings) -> bool:
    return bool(settings["cudagraph_capture_sizes"].value)


def _skipped(way: _Way, kept: kv.Kept, asked: Asked) -> dict[Step, str]:
    """Gates that are not met on this way up, and why."""
    met = {gate.step for gate in way.gates}
    given = "--kv-cache-memory-bytes or --num-gpu-blocks-override says how large the pool is"
    eager = "no graphs are captured" if not _captures(asked.settings) else None
    runner = "its second runner" if kept.second_runner else "it"
    why = {
        Step.START_CHECK: f"{asked.release} does not ask whether as much is free as it may use",
        Step.GRAPH_PROFILE: eager
        or (f"{given}, so nothing is profiled" if "kv_cache_memory_bytes" in asked.flags else None)
        or f"{asked.release} makes no pool to profile graphs in: {runner} estimates none",
        Step.POOL_SIZE: given,
        Step.ONE_REQUEST: "--max-model-len -1 shortens requests until one fits"
        if kept.limits.auto_length
        else "nothing is kept for a request",
        Step.CAPTURE: eager or "",
    }
    return {step: words for step, words in why.items() if step not in met and words}


@lru_cache(maxsize=64)
def _parameters(geometry: Same[Geometry]) -> int:
    return parameters(geometry.it)


def _as_told(model: Model, flags: Flags, release: Release) -> Model:
    """The model with what flags change of its positions; a length that the engine refuses is refused."""
    geometry = overridden(model.geometry, flags)
    if (refusal := too_long(flags, geometry, release)) is not None:
        raise UsageError(refusal)
    return model if geometry is model.geometry else replace(model, geometry=geometry)


def _refuse_too_few(flags: Flags, devices: int) -> None:
    wanted = world.gpus(flags)
    if wanted > devices:
        message = f"{wanted} ranks need as many GPUs, but --gpu names {devices} (write --gpu 'NAME x{wanted}')"
        raise UsageError(message)


def _disagreement(model: Model) -> str | None:
    """What to say where headers and config speak of different models; formats that are repacked may differ a little."""
    if model.checkpoint is None:
        return None
    stored = held(model.checkpoint, model.geometry)
    derived = _whole(Same(model))
    if abs(stored - derived) <= _AGREE * derived:
        return None
    return f"the checkpoint holds {stored} of weights, its config speaks of {derived}: one of them is not this model's"


@lru_cache(maxsize=64)
def _whole(model: Same[Model]) -> Bytes:
    return total(model.it.geometry, Ranks(), quantization=model.it.quantization)
