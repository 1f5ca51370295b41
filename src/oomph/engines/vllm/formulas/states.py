"""Recurrent states: the tensors that one rank keeps of one sequence in one layer.

Knows the layouts of `model_executor/layers/mamba/mamba_utils.py`. Which side of a window or a matrix comes first
differs by release and setting and never changes bytes, so the order is that of today. Does not know how pages are
padded, how many a request needs, nor the rings that --use-replayssm keeps besides.
"""

from collections.abc import Callable
from dataclasses import dataclass

from oomph.engines.vllm.pool.caches import State
from oomph.engines.vllm.weights.ranks import divided
from oomph.errors import UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Lightning, Mamba1, Mamba2, ShortConvolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """In which formats states are kept."""

    window: Dtype  # convolution windows, and the matrices of linear attention
    state: Dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user, the model and its config say of formats; None: nothing."""

    model: Dtype
    asked: Dtype | None = None  # the config's own wish for its state, where this release reads it
    window: Dtype | None = None  # --mamba-cache-dtype
    state: Dtype | None = None  # --mamba-ssm-cache-dtype


def all_alike(wish: Wish) -> Formats:
    """One format for both; that of the state alone is not heard."""
    window = wish.window or wish.model
    return Formats(window=window, state=window)


def state_apart(wish: Wish) -> Formats:
    """The state in a format of its own, where anybody asks for one."""
    window = wish.window or wish.model
    return Formats(window=window, state=wish.state or wish.asked or window)


def state_in_float32(wish: Wish) -> Formats:
    """The state in 32 bits, whatever is asked."""
    return Formats(window=wish.window or wish.model, state=Dtype.F32)


def state_in_float32_unless_asked(wish: Wish) -> Formats:
    """The state in 32 bits, or in a format of its own."""
    return Formats(window=wish.window or wish.model, state=wish.state or Dtype.F32)


def mamba1(layer: Mamba1, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """A window and a state per channel; guesses are not kept."""
    del guessed
    inner = divided(layer.inner, ranks, "Mamba channels")
    return (
        State(shape=(layer.kernel - 1, inner), dtype=formats.window),
        State(shape=(inner, layer.state), dtype=formats.state),
    )


def mamba2(layer: Mamba2, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """A window of channels and groups, and a state per head; guesses are not kept."""
    del guessed
    return mamba2_with_guesses(layer, formats, ranks=ranks, guessed=0)


def mamba2_with_guesses(layer: Mamba2, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """The window is longer by the guessed tokens."""
    if layer.groups % ranks and layer.groups != 1:
        message = f"{layer.groups} Mamba groups cannot be divided between {ranks} ranks: vLLM refuses to start"
        raise UsageError(message)
    channels = (
        divided(layer.inner, ranks, "Mamba channels")
        + 2 * max(1, layer.groups // ranks) * layer.state  # a single group is copied to every rank
    )
    return (
        State(shape=(layer.kernel - 1 + guessed, channels), dtype=formats.window),
        State(
            shape=(divided(layer.heads, ranks, "Mamba heads"), layer.head_dim, layer.state),
            dtype=formats.state,
        ),
    )


def delta(layer: Delta, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """A window of queries, keys, values and guesses, and one matrix per value head."""
    channels = divided(2 * _keys(layer) + _values(layer), ranks, "delta channels")
    return (
        State(shape=(layer.kernel - 1 + guessed, channels), dtype=formats.window),
        _matrices(layer, formats, ranks),
    )


def channelwise_apart(layer: Delta, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """Three windows of their own for values, keys and queries; guesses are not kept."""
    del guessed
    widths = (_values(layer), _keys(layer), _keys(layer))
    windows = (
        State(shape=(layer.kernel - 1, divided(width, ranks, "delta channels")), dtype=formats.window)
        for width in widths
    )
    return (*windows, _matrices(layer, formats, ranks))


def channelwise(layer: Delta, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """One window; guesses are not kept."""
    del guessed
    return delta(layer, formats, ranks=ranks, guessed=0)


def convolution(layer: ShortConvolution, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """Only a window; guesses are not kept."""
    del guessed
    return convolution_with_guesses(layer, formats, ranks=ranks, guessed=0)


def convolution_with_guesses(
    layer: ShortConvolution, formats: Formats, *, ranks: int, guessed: int
) -> tuple[State, ...]:
    """Only a window, longer by the guessed tokens."""
    width = divided(layer.inner, ranks, "convolution channels")
    return (State(shape=(layer.kernel - 1 + guessed, width), dtype=formats.window),)


def lightning(layer: Lightning, formats: Formats, *, ranks: int, guessed: int) -> tuple[State, ...]:
    """One square matrix per head."""
    del guessed
    heads = divided(layer.heads, ranks, "linear attention heads")
    return (State(shape=(heads, layer.head_dim, layer.head_dim), dtype=formats.window),)


def _keys(layer: Delta) -> int:
    return layer.key_heads * layer.key_dim


def _values(layer: Delta) -> int:
    return layer.value_heads * layer.value_dim


def _matrices(layer: Delta, formats: Formats, ranks: int) -> State:
    heads = divided(layer.value_heads, ranks, "delta heads")
    return State(shape=(heads, layer.value_dim, layer.key_dim), dtype=formats.state)


Resolves = Callable[[Wish], Formats]
