"""Layers that share one table of blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oomph.engines.vllm.pool.caches import Cache
from oomph.units import Bytes

Layers: TypeAlias = Mapping[str, Cache]  # in the order of the model


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Layers whose requests take the same blocks; in a mixed group each layer has a page of its own."""

    names: tuple[str, ...]
    cache: Cache  # what stands for all of them
    each: Mapping[str, Cache] | None = None  # of a mixed group: what each keeps

    @property
    def mixed(self) -> bool:
        """Each layer has a page of its own."""
        return self.each is not None

    @property
    def page(self) -> Bytes:
        """What one block takes in one layer; of a mixed group, in all layers together."""
        return self.cache.page if self.each is None else Bytes(sum(cache.page for cache in self.each.values()))

    @property
    def block_tokens(self) -> int:
        """Tokens of one block."""
        return self.cache.block_tokens

    def of(self, name: str) -> Cache:
        """What this layer keeps."""
        return self.cache if self.each is None else self.each[name]

    @property
    def pages(self) -> tuple[int, ...]:
        """One page of each of its layers."""
        if self.each is None:
            return (self.cache.page,) * len(self.names)
        return tuple(self.each[name].page for name in self.names)

    @property
    def caches(self) -> tuple[Cache, ...]:
        """What is kept, each kind once; of a mixed group, each layer's."""
        return (self.cache,) if self.each is None else tuple(self.each.values())


Groups: TypeAlias = Sequence[Group]


def mixed(layers: Layers) -> Group:
    """One group of layers with pages of their own."""
    return Group(names=tuple(layers), cache=next(iter(layers.values())), each=dict(layers))
