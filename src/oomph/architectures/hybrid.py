"""Models whose layers differ in kind: how many there are, of which kind each is, and one object for each kind.

Knows how a config lists its layers. Does not know what a layer of any kind is made of.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from oomph.architectures.config import Config
from oomph.ledger.geometry import Layer

K = TypeVar("K")

MOST: Final = 4096  # layers; a config that asks for more is broken or hostile


def count(config: Config, name: str = "num_hidden_layers") -> int:
    """How many layers there are."""
    layers = config.whole(name)
    if layers > MOST:
        raise config.refusal(name, f"{layers} is more than the {MOST} layers that a model may have")
    return layers


def listed(config: Config, name: str, layers: int, words: Mapping[str, str]) -> list[str]:
    """The kind of every layer, in our words; a word that is not known is refused."""
    written = config.items(name, str)
    if len(written) != layers:
        raise config.refusal(name, f"{len(written)} kinds are listed for {layers} layers")
    return [_kind(config, name, word, words) for word in written]


def _kind(config: Config, name: str, word: str, words: Mapping[str, str]) -> str:
    if word not in words:
        raise config.refusal(name, f"{word!r:.40} is no kind of layer that is known")
    return words[word]


def layers(kinds: Sequence[K], make: Callable[[K], Layer]) -> tuple[Layer, ...]:
    """One layer per kind in the list; equal kinds share one object, so that depth costs nothing."""
    made: dict[K, Layer] = {}
    for kind in kinds:
        if kind not in made:
            made[kind] = make(kind)
    return tuple(made[kind] for kind in kinds)
