"""How a checkpoint stores its matrices in fewer bits, as its config says.

Knows the schemes and to which modules the config gives them. Does not know how an engine matches names, nor which bytes
it allocates: each engine does both by rules of its own.
"""

from dataclasses import dataclass
from enum import StrEnum

from oomph.ledger.dtype import Dtype


class Method(StrEnum):
    """Who quantized the checkpoint, and so by which rules its config is read."""

    FP8 = "fp8"
    GROUPS = "compressed-tensors"
    MODELOPT = "modelopt"
    MIXED = "modelopt-mixed"  # a scheme for every layer by name
    MXFP4 = "mxfp4"
    GPTQ = "gptq"
    AWQ = "awq"
    ROUNDED = "auto-round"
    BITSANDBYTES = "bitsandbytes"


class Format(StrEnum):
    """How the numbers of one matrix lie in memory."""

    FP8 = "fp8"
    INT8 = "int8"
    MXFP8 = "mxfp8"
    MXFP4 = "mxfp4"
    NVFP4 = "nvfp4"
    PACKED = "packed"  # whole numbers, several to a word along the inputs
    GPTQ = "gptq"  # likewise, with zero points and transposed
    AWQ = "awq"  # whole numbers, several to a word along the outputs
    NF4 = "nf4"  # four bits of a fixed table of numbers


class Grain(StrEnum):
    """What shares one scale."""

    TENSOR = "tensor"
    CHANNEL = "channel"  # one output
    GROUP = "group"  # some inputs of one output
    BLOCK = "block"  # some inputs of some outputs


class Inputs(StrEnum):
    """What becomes of a matrix's inputs."""

    PLAIN = "plain"  # they stay as they are
    DYNAMIC = "dynamic"  # they are quantized as they come
    STATIC = "static"  # by scales that the checkpoint brings
    DROPPED = "dropped"  # they stay as they are, although there is room for such scales


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """How a matrix is stored."""

    format: Format
    bits: int
    grain: Grain = Grain.TENSOR
    group: int | None = None  # inputs that share a scale; None: all of them
    block: tuple[int, int] | None = None  # outputs and inputs that share a scale
    symmetric: bool = True  # else there are zero points
    inputs: Inputs = Inputs.PLAIN
    centered: bool = True  # the inputs' scales have no zero points
    scale: Dtype = Dtype.F32  # of the scales, where the format leaves it open
    ordered: bool = False  # groups are filled in the order of activations, not of inputs

    def __post_init__(self) -> None:
        sizes = (self.bits, *(self.block or ()), *(() if self.group is None else (self.group,)))
        if any(size <= 0 for size in sizes):
            message = f"{self.format}: bits, groups and blocks must be positive, not {sizes}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Modules by name, pattern or class, and what becomes of them; no scheme: they stay as they are."""

    pattern: str
    scheme: Scheme | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """What a checkpoint's config says of its formats."""

    method: Method
    scheme: Scheme | None = None  # of every module that nothing else is said about
    experts: Scheme | None = None  # of routed experts, where the config gives them one of their own
    targets: tuple[Target, ...] = ()  # in the order of the config
    ignore: tuple[str, ...] = ()  # names and patterns of what stays as it is
    only: tuple[str, ...] = ()  # where not empty, names of all that is quantized
    head: bool = False  # the head is quantized like a matrix
    cache_scales: bool = False  # the config speaks of scales for keys and values
    cache_heads: bool = False  # one such scale for every head
