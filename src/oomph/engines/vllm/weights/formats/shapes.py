"""What the formats are asked about: a matrix or experts as one rank has them, and the tensors that make them up.

Knows shapes on one rank. Does not know any format.
"""

from dataclasses import dataclass
from typing import NamedTuple

from oomph.engines.vllm.weights import ranks as on
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.errors import UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.weights import Divide, Experts, Matrix, Table


class Stored(NamedTuple):
    """One tensor of a module, by the name that the engine gives it."""

    name: str
    dtype: Dtype
    elements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A matrix on one rank."""

    name: str
    inputs: int
    parts: tuple[int, ...]  # outputs of each fused matrix
    whole: int  # inputs of the undivided matrix
    divided: bool = False  # its outputs are divided

    @property
    def outputs(self) -> int:
        """Of all parts."""
        return sum(self.parts)

    def groups(self, group: int | None) -> int:
        """Scales per output where so many inputs share one; without a group there is one, on every rank."""
        return 1 if group is None else self.inputs // group

    def whole_groups(self, group: int | None) -> int:
        """The same, where a group that two ranks would share is refused."""
        if group is not None and self.inputs % group:
            message = (
                f"{self.name}: {self.inputs} inputs of one rank are no whole number of groups of {group}: "
                "vLLM refuses to start (use fewer ranks)"
            )
            raise UsageError(message)
        return self.groups(group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The experts of one rank."""

    name: str
    count: int
    total: int  # experts of all ranks
    hidden: int
    inner: int
    gated: bool
    bias: bool
    divided: bool  # every expert is divided between ranks

    @property
    def shards(self) -> int:
        """Maps that are fused into the first one."""
        return 2 if self.gated else 1

    @property
    def up(self) -> int:
        """Outputs of the first map."""
        return self.shards * self.inner

    def biases(self, dtype: Dtype, *, always: bool = False) -> tuple[Stored, ...]:
        """Where the model has them, or the format makes room for them whether it has or not."""
        if not (self.bias or always):
            return ()
        return (
            Stored("w13_bias", dtype, self.count * self.up),
            Stored("w2_bias", dtype, self.count * self.hidden),
        )


def shape(matrix: Matrix, ranks: int) -> Shape:
    """A matrix on one rank."""
    inputs, parts = on.on_rank(matrix, ranks)
    divided = matrix.divide is Divide.OUTPUTS and ranks > 1
    return Shape(name=matrix.name, inputs=inputs, parts=parts, whole=matrix.inputs, divided=divided)


def head(table: Table, ranks: int) -> Shape:
    """A head, as the matrix that it is."""
    rows = on.rows_on_rank(table, ranks)
    return Shape(name=table.name, inputs=table.width, parts=(rows,), whole=table.width, divided=ranks > 1)


def share(experts: Experts, ranks: Ranks) -> Share:
    """The experts of one rank."""
    count, inner = on.experts_on_rank(experts, ranks)
    return Share(
        name=experts.name,
        count=count,
        total=experts.count,
        hidden=experts.hidden,
        inner=inner,
        gated=experts.gated,
        bias=experts.bias,
        divided=not ranks.experts_whole and ranks.tensor * ranks.data > 1,
    )


def ceil(size: int, step: int) -> int:
    """How many steps cover it."""
    return -(-size // step)
