"""What happens on the way up: the gates of a start-up, with what each needs and has.

Knows the start check, and where loading or the graph profile surely fails. Every further gate that is forecast is
added here, in the order in which it is met.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts, kv
from oomph.engines.vllm.pool.refusal import Refusal
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import longest, resolve
from oomph.engines.vllm.speculation import speculation
from oomph.engines.vllm.unread import not_modelled
from oomph.engines.vllm.weights.headers import held
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import draft, parameters, total
from oomph.errors import UsageError
from oomph.ledger.checkpoint import Checkpoint
from oomph.ledger.device import Capability, Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.geometry import Geometry
from oomph.ledger.kv import GraphProfile, KvPool
from oomph.ledger.ledger import Account, Basis, Entry, Ledger, weakest
from oomph.ledger.quantization import Quantization
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Settings
from oomph.units import MIB, Bounds, Bytes

# A CUDA context and the handles of its libraries, on a device on which nobody else is: seen between these in public
# start-up logs. It is there before the engine looks, so it is missing from what the engine finds free.
_CONTEXT: Final = Bounds(250 * MIB, 750 * MIB, 450 * MIB)

_AGREE: Final = 0.02  # of the weights: scales and zero points that a kernel keeps differently

# What the start check does not look at: it compares a share of the total with what is free, before anything is loaded.
_INERT_AT_START: Final = (
    "--max-model-len",
    "--max-num-seqs",
    "--max-num-batched-tokens",
    "--kv-cache-memory-bytes",
    "--num-gpu-blocks-override",
    "--enforce-eager",
    "--kv-cache-dtype",
    "--quantization",
)


# What loading does not look at: the share is only compared before, and only divides what is left afterwards.
_INERT_AT_LOAD: Final = (
    "--gpu-memory-utilization",
    "--max-model-len",
    "--max-num-seqs",
    "--kv-cache-dtype",
    "--kv-cache-memory-bytes",
    "--enforce-eager",
)

# What the throw-away pool does not look at: it is made before any budget is.
_INERT_IN_PROFILE: Final = ("--gpu-memory-utilization", "--max-model-len", "--num-gpu-blocks-override")


def free_at_start(device: Device) -> Bounds:
    """What the engine finds free: as it was seen, else all but a CUDA context."""
    return Bounds(device.total) - _CONTEXT if device.free is None else device.free


def start_check(settings: Settings, *, device: Device, release: Release) -> Gate | None:
    """The first gate: is as much free as the engine may use? None where the release does not ask."""
    if not facts.start_check.at(release):
        return None
    share = settings.number("gpu_memory_utilization")
    needs = math.ceil(facts.requested.at(release)(total=device.total, share=share))
    has = free_at_start(device)
    seen = "seen free" if device.free is not None else "left free by a CUDA context on an empty device"
    return Gate(
        step=Step.START_CHECK,
        needs=Bounds(needs),
        has=has,
        because=(
            f"--gpu-memory-utilization {share:g} of {device.total} is {Bytes(needs)}; "
            f"{has.low.down} to {has.high.down} are {seen}"
        ),
        inert=_INERT_AT_START,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is known of the model that shall be served."""

    name: str
    geometry: Geometry
    quantization: Quantization | None = None
    weights: Entry | None = None  # where loading was measured
    checkpoint: Checkpoint | None = None  # where its headers are at hand


def forecast(flags: Flags, *, model: Model | None, devices: tuple[Device, ...], release: Release) -> Forecast:
    """The way up as far as it is forecast; the poorest device decides, because every rank must pass."""
    poorest = min(devices, key=lambda device: free_at_start(device).low)
    _refuse_too_few(flags, len(devices))
    context_tokens = None if model is None else longest(model.geometry, release)
    settings = resolve(flags, device=poorest, release=release, context_tokens=context_tokens)
    met = (start_check(settings, device=poorest, release=release),)
    plain = Forecast(
        engine=HISTORY.engine,
        release=str(release),
        basis=HISTORY.basis(release),
        model=None if model is None else model.name,
        device=poorest,
        count=len(devices),
        settings=settings,
        gates=tuple(gate for gate in met if gate is not None),
        warnings=tuple(filter(None, (HISTORY.warning(release),))),
    )
    return plain if model is None else _with_model(plain, flags, model, release)


def _with_model(plain: Forecast, flags: Flags, model: Model, release: Release) -> Forecast:
    kept = kv.kept(
        model.geometry,
        flags,
        plain.settings,
        device=plain.device,
        release=release,
        narrow=model.quantization is not None and model.quantization.cache_scales,
        quantized=model.quantization is not None,
    )
    given = flags.get("kv_cache_memory_bytes")
    pool = kv.pool(kept, release, available=Bytes(given) if isinstance(given, int) else None)
    unplanned = isinstance(pool, Refusal) and pool.need is None
    refused = f"the pool cannot be planned: {pool.reason}" if isinstance(pool, Refusal) and unplanned else None
    weights = model.weights or loaded(model, flags, plain)
    unread = not_modelled(flags)
    profile = kv.graph_profile(kept, plain.settings, release)
    return replace(
        plain,
        basis=Basis.ASSUMED if unread else plain.basis,
        gates=(
            *plain.gates,
            *(() if unread else surely_failing(plain.device, weights, profile)),
            *_one_request(pool, plain.settings),
        ),
        geometry=model.geometry,
        parameters=_parameters(Same(model.geometry)),
        ledger=Ledger((weights,)),
        kv=None if isinstance(pool, Refusal) else pool,
        graph_profile=profile,
        warnings=tuple(filter(None, (*plain.warnings, refused, unread, _disagreement(model)))),
    )


def _one_request(pool: KvPool | Refusal, settings: Settings) -> Iterator[Gate]:
    """A pool of a given size that cannot hold one request of the longest length."""
    if isinstance(pool, Refusal) and pool.need is not None and pool.available is not None:
        fitting = "" if pool.fitting_tokens is None else f"; {pool.fitting_tokens:,} tokens would fit"
        yield Gate(
            step=Step.ONE_REQUEST,
            needs=Bounds(pool.need),
            has=Bounds(pool.available),
            because=(
                f"one request of {settings.whole('max_model_len'):,} tokens takes {pool.need.up}, "
                f"the pool has {pool.available.down}{fitting}"
            ),
            inert=("--gpu-memory-utilization",),
        )


def surely_failing(device: Device, weights: Entry, profile: GraphProfile | None) -> Iterator[Gate]:
    """Gates that fail by what is known alone; one that might pass is not forecast yet, so it is left out."""
    has = free_at_start(device)
    load = Gate(
        step=Step.LOAD,
        needs=weights.size,
        has=has,
        because=f"the weights alone are {weights.size}; {has.low.down} to {has.high.down} are free before loading",
        inert=_INERT_AT_LOAD,
    )
    if load.verdict is Verdict.OVERFLOWS:
        yield load
    if profile is None:
        return
    beside = Gate(
        step=Step.GRAPH_PROFILE,
        needs=weights.size + profile.total,
        has=has,
        because=(
            f"{profile.words} are {profile.total}, beside weights of {weights.size}; "
            f"{has.low.down} to {has.high.down} were free before loading"
        ),
        inert=_INERT_IN_PROFILE,
    )
    if beside.verdict is Verdict.OVERFLOWS:
        yield beside


def loaded(model: Model, flags: Flags, plain: Forecast) -> Entry:
    """The weights of the heaviest rank, as the geometry gives them."""
    tensor, pipeline = (flags.count(f"{kind}_parallel_size") for kind in ("tensor", "pipeline"))
    heaviest = _heaviest(
        Same(model),
        Ranks(tensor=tensor, pipeline=pipeline, experts_whole=flags.get("enable_expert_parallel") is True),
        plain.device.capability,
        towers=flags.get("language_model_only") is not True,
    )
    guessing = speculation(flags).by_own_layers and bool(model.geometry.draft)
    drafts = draft(model.geometry, Ranks(tensor=tensor)) if guessing else Bytes(0)
    where = f"the heaviest of {tensor} × {pipeline} ranks" if tensor * pipeline > 1 else "one rank"
    stored = "" if model.quantization is None else f", stored as {model.quantization.method},"
    return Entry(
        account=Account.WEIGHTS,
        size=Bounds(heaviest + drafts),
        basis=weakest(Basis.COMPUTED, plain.basis),
        because=f"parameters of {model.geometry.architecture}{stored} on {where}, from the shapes in its config"
        + (f"; {drafts} of them guess ahead" if guessing else ""),
    )


@lru_cache(maxsize=256)
def _heaviest(model: Same[Model], ranks: Ranks, capability: Capability | None, *, towers: bool) -> Bytes:
    kit = None if capability is None else Kit(capability=capability)
    geometry, quantization = model.it.geometry, model.it.quantization
    every = (replace(ranks, stage=stage) for stage in range(ranks.pipeline))
    return max(total(geometry, rank, quantization=quantization, kit=kit, towers=towers) for rank in every)


@lru_cache(maxsize=64)
def _parameters(geometry: Same[Geometry]) -> int:
    return parameters(geometry.it)


def _refuse_too_few(flags: Flags, devices: int) -> None:
    wanted = flags.count("tensor_parallel_size") * flags.count("pipeline_parallel_size")
    if wanted > devices:
        message = f"{wanted} ranks need as many GPUs, but --gpu names {devices} (write --gpu 'NAME x{wanted}')"
        raise UsageError(message)


def _disagreement(model: Model) -> str | None:
    """What to say where headers and config speak of different models; formats that are repacked may differ a little."""
    if model.checkpoint is None:
        return None
    stored = held(model.checkpoint, model.geometry)
    derived = _heaviest(Same(model), Ranks(), None, towers=True)
    if abs(stored - derived) <= _AGREE * derived:
        return None
    return f"the checkpoint holds {stored} of weights, its config speaks of {derived}: one of them is not this model's"
