"""What a model keeps on one rank: its layers as caches, in the blocks that a release puts them in.

Knows how mixers become caches, and in which order block sizes follow from each other. Does not know how caches share a
pool (`pool`), nor how large that is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import compressed, facts, states
from oomph.engines.vllm.pool import layers as pool
from oomph.engines.vllm.pool.caches import Cache, State
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.hybrid import Kernels, Pages
from oomph.engines.vllm.pool.limits import StateMode
from oomph.ledger.device import Capability
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Compressed, Geometry, Latent, Layer, Mixer
from oomph.ledger.same import Same

_OWN: Final = {Dtype.BF16: KvFormat.BFLOAT16, Dtype.F16: KvFormat.FLOAT16, Dtype.F32: KvFormat.FLOAT32}
_FP8: Final = frozenset({KvFormat.FP8, KvFormat.FP8_E4M3, KvFormat.FP8_E5M2})
_HOPPER, _BLACKWELL = 9, 10  # major numbers of compute capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How the user, or the release for them, has a model keep what it keeps."""

    release: Release
    ranks: int = 1  # tensor parallel
    kept: KvFormat | None = None  # --kv-cache-dtype; None: the model's own
    block_tokens: int | None = None  # --block-size
    guessed: int = 0  # speculative tokens
    drafts: bool = True  # guessed by layers of the model itself, which keep something too
    head: bool = False  # guessed by a layer that is not the model's: taken to keep what the model's last one keeps
    dtype: Dtype | None = None  # --dtype; None: as the model asks
    mode: StateMode = StateMode.NONE
    window_dtype: Dtype | None = None  # --mamba-cache-dtype
    state_dtype: Dtype | None = None  # --mamba-ssm-cache-dtype
    capability: Capability | None = None
    context_tokens: int = 0  # of the longest request: without prefix caching a state is kept for all of it


def caches(geometry: Geometry, keeping: Keeping) -> Mapping[str, Cache]:
    """Every layer that keeps anything, by name and in the order of the model; drafts last, where tokens are guessed."""
    return _caches(Same(geometry), keeping)


@lru_cache(maxsize=256)
def _caches(same: Same[Geometry], keeping: Keeping) -> Mapping[str, Cache]:
    geometry = same.it
    mixers = dict(_mixers(geometry, guessing=keeping.guessed > 0 and keeping.drafts))
    if keeping.guessed > 0 and keeping.head:
        mixers.update(_head(mixers))
    block, page = _block(geometry, mixers, keeping)
    alike: dict[Mixer, Cache] = {}  # layers that keep the same are the same, so that planning can see it at a glance
    found: dict[str, Cache] = {}
    for name, mixer in mixers.items():
        if isinstance(mixer, Compressed):
            found.update(compressed.caches(mixer, name, keeping.release, block_tokens=keeping.block_tokens))
            continue
        if mixer not in alike:
            alike[mixer] = _cache(mixer, geometry, keeping, block=block, page=page)
        found[name] = alike[mixer]
        if isinstance(mixer, Latent) and mixer.indexer_dim is not None:
            found[f"{name}.indexer"] = pool.indexer(mixer, block_tokens=block)
    return found


def _mixers(geometry: Geometry, *, guessing: bool) -> Iterator[tuple[str, Mixer]]:
    for prefix, layers in ((geometry.prefix, geometry.layers), ("draft", geometry.draft if guessing else ())):
        for index, layer in enumerate(layers):
            yield from _of(layer, f"{prefix}.{index}")


def _head(mixers: dict[str, Mixer]) -> Iterator[tuple[str, Mixer]]:
    """One layer more that attends to everything, as the last of the model that does."""
    attends = [mixer for mixer in mixers.values() if isinstance(mixer, Attention | Latent)]
    if attends:
        last = attends[-1]
        yield "draft.0.0", replace(last, window=None, chunk=None) if isinstance(last, Attention) else last


def _of(layer: Layer, name: str) -> Iterator[tuple[str, Mixer]]:
    if layer.shares is None:
        for place, mixer in enumerate(layer.mixers):
            yield f"{name}.{place}", mixer


def _format(geometry: Geometry, keeping: Keeping) -> KvFormat:
    return keeping.kept or _OWN[_model_dtype(geometry, keeping)]


def _model_dtype(geometry: Geometry, keeping: Keeping) -> Dtype:
    """As asked for; a model that was saved in 32 bits is served in 16 by itself."""
    return keeping.dtype or (Dtype.BF16 if geometry.dtype is Dtype.F32 else geometry.dtype)


def _cache(mixer: Mixer, geometry: Geometry, keeping: Keeping, *, block: int, page: int | None) -> Cache:
    kept = _format(geometry, keeping)
    match mixer:
        case Attention():
            return pool.attention(mixer, keeping.release, block_tokens=block, kept=kept, ranks=keeping.ranks)
        case Latent():
            kept = KvFormat.FP8_DS_MLA if kept in _FP8 and _sparse(geometry, keeping) else kept
            said = "auto" if keeping.kept is None else str(kept)
            return pool.latent(mixer, keeping.release, block_tokens=block, kept=kept, cache_dtype=said)
        case Compressed():
            message = f"{mixer} keeps several caches"
            raise TypeError(message)
        case _:
            tokens = block if keeping.mode is not StateMode.NONE else keeping.context_tokens or block
            return pool.recurrent(
                _states(mixer, geometry, keeping),
                block_tokens=tokens,
                page=page,
                speculative_blocks=keeping.guessed,
                checkpoint_blocks=states.checkpoints(mixer, geometry.architecture, keeping.release),
            )


def _sparse(geometry: Geometry, keeping: Keeping) -> bool:
    """Whether latents of eight bits are packed as the kernels of sparse attention read them, except on Blackwell."""
    device = keeping.capability
    mixers = (mixer for layer in geometry.layers for mixer in layer.mixers)
    sparse = any(isinstance(mixer, Latent) and mixer.indexer_dim is not None for mixer in mixers)
    return sparse and (device is None or device.major != _BLACKWELL)


def _states(mixer: Mixer, geometry: Geometry, keeping: Keeping) -> tuple[State, ...]:
    if isinstance(mixer, Attention | Latent | Compressed):
        message = f"{mixer} keeps tokens, not states"
        raise TypeError(message)
    asked = states.Asked(
        architecture=geometry.architecture,
        dtype=_model_dtype(geometry, keeping),
        window=keeping.window_dtype,
        state=keeping.state_dtype,
    )
    return states.kept(mixer, asked, keeping.release, ranks=keeping.ranks, guessed=keeping.guessed)


def _block(geometry: Geometry, mixers: dict[str, Mixer], keeping: Keeping) -> tuple[int, int | None]:
    """Tokens of a block, and the page that states are stretched to; None where there are no states or only states."""
    usual = keeping.block_tokens or _kernel_block(mixers, keeping)
    kinds = {id(mixer): mixer for mixer in mixers.values()}.values()  # most layers share theirs
    attends = [mixer for mixer in kinds if isinstance(mixer, Attention | Latent)]
    recurs = [mixer for mixer in kinds if not isinstance(mixer, Attention | Latent | Compressed)]
    if not attends or not recurs:
        return usual, None
    token = _cache(attends[0], geometry, keeping, block=1, page=None).page
    state = max(sum(tensor.size for tensor in _states(mixer, geometry, keeping)) for mixer in recurs)
    block = pool.hybrid_block(
        Pages(state=state, token=token),
        keeping.release,
        block_tokens=usual,
        mode=keeping.mode,
        kernels=Kernels(latent=isinstance(attends[0], Latent)),
    )
    return block, block * token


def _kernel_block(mixers: dict[str, Mixer], keeping: Keeping) -> int:
    """The block that the attention kernel of this device asks for, where the user does not say."""
    usual = facts.block_tokens.at(keeping.release)
    if not any(isinstance(mixer, Latent) for mixer in mixers.values()) or keeping.capability is None:
        return usual
    return {_HOPPER: 64, _BLACKWELL: 128}.get(keeping.capability.major, usual)
