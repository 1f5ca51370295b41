"""How a model is divided between ranks.

Knows tensor, pipeline and expert parallelism as the parallel layers of `model_executor/` do them. Does
not know formats.
"""

from dataclasses import dataclass
from typing import Final

from oomph.errors import UsageError
from oomph.ledger.weights import Divide, Experts, Matrix, Part, Table, Vector

VOCABULARY_PADDING: Final = 64  # model_executor/layers/vocab_parallel_embedding.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """How many ranks there are of each kind, and which one is meant."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    experts_whole: bool = False  # --enable-expert-parallel: whole experts are divided, not each expert
    redundant: int = 0  # experts that are kept once more (num_redundant_experts of --eplb-config)
    stage: int = 0
    place: int = 0  # among the ranks of the stage, of all replicas; the first may keep one expert more

    @property
    def divides_tokens(self) -> bool:
        """Whether ranks that would divide a matrix divide the tokens before the experts (config/parallel.py)."""
        return self.experts_whole and self.tensor > 1 and self.data > 1

    @property
    def first(self) -> bool:
        """Whether this stage holds the embedding."""
        return self.stage == 0

    @property
    def last(self) -> bool:
        """Whether this stage holds the head."""
        return self.stage == self.pipeline - 1


def divided(size: int, ranks: int, what: str) -> int:
    """An even share; vLLM refuses an uneven one."""
    if size % ranks:
        message = f"{what} of {size} cannot be divided between {ranks} ranks: vLLM refuses to start"
        raise UsageError(message)
    return size // ranks


def part_outputs(part: Part, ranks: int, what: str) -> int:
    """Outputs of one part on one rank; KV heads are copied where there are more ranks than heads."""
    if part.whole:
        return part.outputs
    if part.heads is None:
        return divided(part.outputs, ranks, what)
    heads = divided(part.heads, ranks, what) if part.heads >= ranks else 1
    return heads * (part.outputs // part.heads)


def dividing(matrix: Matrix, ranks: Ranks) -> int:
    """How many ranks divide a matrix between them."""
    uneven = matrix.heads is not None and matrix.heads % ranks.tensor != 0
    return 1 if uneven or (matrix.with_tokens and ranks.divides_tokens) else ranks.tensor


def on_rank(matrix: Matrix, ranks: int) -> tuple[int, tuple[int, ...]]:
    """Inputs, and outputs of each part, on one rank."""
    match matrix.divide:
        case Divide.NOT:
            return matrix.inputs, tuple(part.outputs for part in matrix.parts)
        case Divide.OUTPUTS:
            return matrix.inputs, _filled([part_outputs(part, ranks, matrix.name) for part in matrix.parts], matrix)
        case Divide.INPUTS:
            return divided(matrix.inputs, ranks, matrix.name), tuple(part.outputs for part in matrix.parts)


def _filled(outputs: list[int], matrix: Matrix) -> tuple[int, ...]:
    """The outputs of a rank, and as one more part what pads them."""
    padding = -sum(outputs) % matrix.multiple
    return (*outputs, padding) if padding else tuple(outputs)


def bias_on_rank(matrix: Matrix, outputs: tuple[int, ...]) -> int:
    """Elements of the bias: with its outputs, and whole where only inputs are divided."""
    return sum(outputs) if matrix.bias else 0


def rows_on_rank(table: Table, ranks: int) -> int:
    """Rows of a vocabulary on one rank: padded first, then divided."""
    padded = -(-table.rows // VOCABULARY_PADDING) * VOCABULARY_PADDING
    return divided(padded, ranks, table.name)


def size_on_rank(vector: Vector, ranks: int) -> int:
    """Elements of a vector on one rank; one per KV head is copied as the heads are."""
    if not vector.divided:
        return vector.size
    share = part_outputs(Part(outputs=vector.size, heads=vector.heads), ranks, vector.name)
    return -(-share // vector.multiple) * vector.multiple


def experts_on_rank(experts: Experts, ranks: Ranks) -> tuple[int, int]:
    """How many experts one rank keeps, and how wide each is there (fused_moe/expert_map_manager.py)."""
    if ranks.experts_whole:
        return _whole_on_rank(experts.count + ranks.redundant, ranks), experts.inner
    narrow = ranks.tensor > 1 and experts.inner // ranks.tensor < experts.least
    inner = experts.least * ranks.tensor if narrow else experts.inner
    return experts.count, divided(inner, ranks.tensor * ranks.data, experts.name)


def _whole_on_rank(count: int, ranks: Ranks) -> int:
    even, rest = divmod(count, ranks.tensor * ranks.data)
    if rest and ranks.redundant:
        message = f"{count} experts, redundant ones among them, cannot be divided evenly: vLLM refuses to start"
        raise UsageError(message)
    return even + (1 if ranks.place < rest else 0)


def stages(layers: int, pipeline: int) -> tuple[int, ...]:
    """Layers of each stage: even, and what remains goes to the stages before the last (distributed/utils.py)."""
    even, rest = divmod(layers, pipeline)
    counts = [even] * pipeline
    for back in range(2, rest + 2):
        counts[-back] += 1
    return tuple(counts)
