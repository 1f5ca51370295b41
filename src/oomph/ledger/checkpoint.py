"""What a model's files hold, as their headers say.

Knows tensors, their formats and sizes. Does not know where the files are, nor what an engine makes of them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from oomph.ledger.dtype import Dtype
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor of a checkpoint."""

    name: str
    dtype: Dtype
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(extent < 0 for extent in self.shape):
            message = f"tensor {self.name!r} has a negative extent: {self.shape}"
            raise ValueError(message)

    @property
    def elements(self) -> int:
        """How many numbers it holds; a scalar holds one."""
        return math.prod(self.shape)

    @property
    def size(self) -> Bytes:
        """Its bytes in the file."""
        return self.dtype.size(self.elements)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Every tensor of a model, in whatever files."""

    tensors: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for tensor in self.tensors:
            if tensor.name in seen:
                message = f"tensor {tensor.name!r} stands twice in this checkpoint"
                raise ValueError(message)
            seen.add(tensor.name)

    @property
    def size(self) -> Bytes:
        """What all tensors take in the files."""
        return Bytes(sum(tensor.size for tensor in self.tensors))

    def by_dtype(self) -> dict[Dtype, Bytes]:
        """Bytes per format, largest first: how a checkpoint is quantized shows here before any config is read."""
        sizes: dict[Dtype, int] = {}
        for tensor in self.tensors:
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.size
        return {dtype: Bytes(size) for dtype, size in sorted(sizes.items(), key=lambda item: -item[1])}

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.tensors)
