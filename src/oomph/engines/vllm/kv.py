"""The KV pool and the graph profile's pool of a model, from its geometry and the resolved settings.

Knows which settings planning reads and where they come from. Does not know how much memory is left for the pool: that
is handed in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas.runners import Kind
from oomph.engines.vllm.heads import refuse_uneven
from oomph.engines.vllm.kept import Keeping, caches
from oomph.engines.vllm.pool import facts as facts_of_pool
from oomph.engines.vllm.pool.caches import Cache
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Layout, Limits, StateMode
from oomph.engines.vllm.pool.plan import minimal_pool, plan
from oomph.engines.vllm.pool.pool import Pool, ThrowAway, Worker
from oomph.engines.vllm.pool.refusal import Refusal
from oomph.engines.vllm.pool.taking import Taking, taking
from oomph.engines.vllm.speculation import Guesser, speculation
from oomph.engines.vllm.weights.ranks import stages
from oomph.errors import UsageError
from oomph.ledger.device import Device
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Compressed, Geometry, Latent
from oomph.ledger.kv import GraphProfile, KvGroup, KvPool
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Settings
from oomph.ledger.weights import Experts
from oomph.units import Bytes

_DTYPES: Final = {
    "bfloat16": Dtype.BF16,
    "float": Dtype.F32,
    "float16": Dtype.F16,
    "float32": Dtype.F32,
    "half": Dtype.F16,
}
_ENOUGH: Final = 1 << 60  # bytes: for what does not depend on the size of the pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Everything that planning needs besides bytes."""

    layers: Mapping[str, Cache]
    depth: int  # layers of the model, whether they keep anything or not
    limits: Limits
    second_runner: bool
    recurrent: bool


def kept(
    geometry: Geometry,
    flags: Flags,
    settings: Settings,
    *,
    device: Device,
    release: Release,
    narrow: bool = False,
    quantized: bool = False,
) -> Kept:
    """A model's caches and limits, as these settings have them; `narrow`: its checkpoint brings scales for 8 bits."""
    guessed = speculation(flags)
    refuse_uneven(geometry, flags.count("tensor_parallel_size"))
    recurrent = _recurrent(Same(geometry))
    mode = _state_mode(flags, release) if recurrent else StateMode.NONE
    length = settings.whole("max_model_len")
    keeping = Keeping(
        release=release,
        ranks=flags.count("tensor_parallel_size"),
        kept=_format(flags, narrow=narrow),
        block_tokens=flags.positive("block_size"),
        guessed=guessed.tokens,
        drafts=guessed.by_own_layers,
        head=guessed.guesser is Guesser.HEAD,
        dtype=_dtype(flags, "dtype"),
        mode=mode,
        window_dtype=_dtype(flags, "mamba_cache_dtype"),
        state_dtype=_dtype(flags, "mamba_ssm_cache_dtype"),
        capability=device.capability,
        context_tokens=length if recurrent else 0,  # nothing else keeps more for a longer one: remembered caches serve
    )
    stages = flags.count("pipeline_parallel_size")
    chosen = flags.get("VLLM_USE_V2_MODEL_RUNNER")
    usual = facts.second_runner.at(release)(kind(geometry, quantized=quantized))
    second = usual if chosen is None else str(chosen) == "1"
    limits = Limits(
        context_tokens=length,
        step_tokens=settings.whole("max_num_batched_tokens"),
        batches_in_flight=facts.batches_in_flight.at(release)(
            ranks=stages,
            overlapped=flags.switch("async_scheduling", default=facts.async_scheduling.at(release)),
            second_runner=second,
        ),
        decode_ranks=flags.count("decode_context_parallel_size"),
        state_mode=mode,
        layout=Layout.BLHNC if _compressed(Same(geometry)) else Layout.LBNHC,
        override_blocks=flags.positive("num_gpu_blocks_override"),
        hybrid=not flags.switch("disable_hybrid_kv_cache_manager", default=False),
        auto_length=flags.get("max_model_len") == -1,
    )
    return Kept(
        layers=caches(geometry, keeping),
        depth=len(geometry.layers),
        limits=limits,
        second_runner=second,
        recurrent=recurrent,
    )


def kind(geometry: Geometry, *, quantized: bool = False) -> Kind:
    """What the choice of a model runner looks at."""
    return Kind(
        architecture=geometry.architecture,
        routed=_routed(Same(geometry)),
        recurrent=_recurrent(Same(geometry)),
        quantized=quantized,
    )


@lru_cache(maxsize=64)
def _routed(same: Same[Geometry]) -> bool:
    return any(isinstance(piece, Experts) for layer in same.it.layers for piece in layer.weights)


@lru_cache(maxsize=64)
def _recurrent(same: Same[Geometry]) -> bool:
    mixers = (mixer for layer in same.it.layers for mixer in layer.mixers)
    return any(not isinstance(mixer, Attention | Latent | Compressed) for mixer in mixers)


@lru_cache(maxsize=64)
def _compressed(same: Same[Geometry]) -> bool:
    """Whether pages of several sizes lie side by side in a block (v1/attention/backends/mla/indexer.py)."""
    return any(isinstance(mixer, Compressed) for layer in same.it.layers for mixer in layer.mixers)


def pool(
    kept: Kept,
    release: Release,
    *,
    available: Bytes | tuple[Bytes, ...] | None,
    doubts: tuple[int, ...] = (),
) -> KvPool | Refusal:
    """The pool in so many bytes, on each stage of a pipeline; without them, only what does not depend on its size.

    `doubts`: bytes that may be missing of each.
    """
    if available is None:
        return _whatever_its_size(Same(kept.layers), kept.limits, release)
    rooms = available if isinstance(available, tuple) else (available,)
    layers = (kept.layers,) if len(rooms) == 1 else _staged(Same(kept.layers), kept.depth, len(rooms))
    workers = tuple(Worker(layers=own, available=room) for own, room in zip(layers, rooms, strict=True))
    planned = plan(workers, kept.limits, release)
    if isinstance(planned, Refusal):
        return planned
    missing = (-(-doubt // int(share.bytes_per_block)) for doubt, share in zip(doubts, planned.shares, strict=False))
    told = _told(planned, kept.limits, release, known=True)
    return replace(told, least=max(0, planned.blocks - max(missing, default=0)))


@lru_cache(maxsize=256)
def _whatever_its_size(layers: Same[Mapping[str, Cache]], limits: Limits, release: Release) -> KvPool | Refusal:
    planned = plan((Worker(layers=layers.it, available=_ENOUGH),), limits, release)
    return planned if isinstance(planned, Refusal) else _told(planned, limits, release, known=False)


@lru_cache(maxsize=64)
def _staged(layers: Same[Mapping[str, Cache]], depth: int, count: int) -> tuple[Mapping[str, Cache], ...]:
    """The layers of each stage of a pipeline; those that guess ahead are on the last."""
    ends = tuple(accumulate(stages(depth, count)))
    parts: tuple[dict[str, Cache], ...] = tuple({} for _ in range(count))
    for name, cache in layers.it.items():
        index = next(int(part) for part in name.split(".") if part.isdecimal())
        guessing = name.startswith("draft.")
        place = count - 1 if guessing else next(at for at, end in enumerate(ends) if index < end)
        parts[place][name] = cache
    return parts


def _told(planned: Pool, limits: Limits, release: Release, *, known: bool) -> KvPool:
    share = planned.shares[0]
    rules = facts_of_pool.rules(release)
    groups = tuple(_group(group, taking(group, limits, rules)) for group in planned.groups)
    shortest = min(groups, key=lambda group: group.block_tokens)  # a state's block may be the whole request
    return KvPool(
        block_tokens=shortest.block_tokens,
        page=shortest.page,
        tensors=len(share.tensors),
        bytes_per_block=share.bytes_per_block,
        groups=groups,
        tensor=share.tensors[0] if known else None,
        blocks=planned.blocks if known else None,
        tokens=planned.tokens if known else None,
        concurrency=planned.concurrency if known else None,
        need=share.need,
    )


def _group(group: Group, how: Taking) -> KvGroup:
    return KvGroup(
        layers=len(group.names),
        block_tokens=group.block_tokens,
        page=group.cache.page,
        spread=how.spread,
        most=how.most,
        besides=how.besides,
    )


def graph_profile(kept: Kept, settings: Settings, release: Release) -> GraphProfile | None:
    """The throw-away pool of the graph profile; None where the release, or a flag, skips it."""
    captures = settings["cudagraph_capture_sizes"].value
    given = settings["kv_cache_memory_bytes"].value if "kv_cache_memory_bytes" in settings else None
    if not isinstance(captures, tuple) or not captures or given is not None:
        return None
    found = minimal_pool(
        kept.layers,
        kept.limits,
        release,
        sequences=settings.whole("max_num_seqs"),
        largest_capture=captures[-1],
        second_runner=kept.second_runner,
    )
    if not isinstance(found, ThrowAway):
        return None
    return GraphProfile(blocks=found.blocks, tensors=len(found.tensors), tensor=found.tensors[0], total=found.size)


def _state_mode(flags: Flags, release: Release) -> StateMode:
    """As given, else by whether prefixes are cached."""
    given = flags.get("mamba_cache_mode")
    if isinstance(given, str):
        return StateMode(given)
    cached = flags.switch("enable_prefix_caching", default=facts.prefix_caching_of_hybrids.at(release))
    return StateMode.ALIGN if cached else StateMode.NONE


def _format(flags: Flags, *, narrow: bool) -> KvFormat | None:
    given = flags.get("kv_cache_dtype", "auto")
    if given in {"auto", None}:
        return KvFormat.FP8_E4M3 if narrow else None
    if given not in set(KvFormat):
        message = f"--kv-cache-dtype {given}: not a format that vLLM keeps keys and values in"
        raise UsageError(message)
    return KvFormat(str(given))


def _dtype(flags: Flags, name: str) -> Dtype | None:
    return _DTYPES.get(str(flags.get(name, "auto")))
