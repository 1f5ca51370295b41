"""What one rank allocates for pieces of a quantized checkpoint.

Knows which module of the engine a piece is, asks the config's method for its scheme and the format for its tensors.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from oomph.engines.vllm.weights.formats import cache, four, fp8, shapes, whole
from oomph.engines.vllm.weights.formats.shapes import Shape, Share, Stored
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.methods import gptq, groups, modelopt, rounded, simple
from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename
from oomph.engines.vllm.weights.plain import elements
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.renames import renamed
from oomph.errors import UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Layer
from oomph.ledger.quantization import Format, Grain, Method, Quantization, Scheme
from oomph.ledger.weights import Divide, Experts, Matrix, Piece, Table, Vector

_CHOOSERS: Final[Mapping[Method, Callable[[Quantization, Rename], Choice]]] = {
    Method.FP8: simple.fp8,
    Method.MXFP4: simple.mxfp4,
    Method.AWQ: simple.awq,
    Method.GPTQ: gptq.chooser,
    Method.GROUPS: groups.chooser,
    Method.MODELOPT: modelopt.uniform,
    Method.MIXED: modelopt.mixed,
    Method.ROUNDED: rounded.chooser,
    Method.BITSANDBYTES: simple.bitsandbytes,
}
_LINEAR: Final[Mapping[Format, Callable[[Scheme, Shape, Dtype], tuple[Stored, ...]]]] = {
    Format.FP8: fp8.linear,
    Format.INT8: whole.int8,
    Format.NVFP4: four.nvfp4,
    Format.MXFP4: four.mx,
    Format.MXFP8: four.mx,
    Format.PACKED: whole.packed,
    Format.GPTQ: whole.gptq,
    Format.AWQ: whole.awq,
    Format.NF4: four.nf4,
}
_MARLIN: Final = frozenset({Method.AWQ, Method.GPTQ, Method.ROUNDED})


class Weigher:
    """Weighs pieces of one model on one rank; remembers what it has weighed."""

    def __init__(self, geometry: Geometry, ranks: Ranks, quantization: Quantization, *, dtype: Dtype, kit: Kit) -> None:
        self._geometry = geometry
        self._ranks = ranks
        self._quantization = quantization = _as_served(geometry, quantization)
        self._dtype = dtype
        self._kit = kit
        self._choose = _CHOOSERS[quantization.method](
            quantization, partial(renamed, architecture=geometry.architecture)
        )
        self._known: dict[tuple[int, Scheme | None], int] = {}

    def piece(self, piece: Piece, prefix: str = "") -> int:
        """Bytes of a piece below this name."""
        scheme = self.scheme(piece, prefix)
        key = id(piece), scheme  # the geometry that is weighed keeps its pieces alive
        if key not in self._known:
            self._known[key] = sum(stored.dtype.size(stored.elements) for stored in self.tensors(piece, scheme))
        return self._known[key]

    def scales(self, layer: Layer) -> int:
        """Bytes of the scales for what a layer keeps."""
        tensors = cache.scales(self._quantization, layer, self._ranks.tensor, self._dtype)
        return sum(stored.dtype.size(stored.elements) for stored in tensors)

    def scheme(self, piece: Piece, prefix: str = "") -> Scheme | None:
        """What becomes of a piece; None: it stays as it is."""
        module = self._module(piece, prefix)
        if module is None:
            return None
        usual = self._quantization.scheme
        if isinstance(piece, Experts) and usual is not None and usual.format is Format.GPTQ:
            # Experts that Marlin does not take are read by moe_wna16.py, which knows no rules for single layers.
            share = shapes.share(piece, self._ranks)
            if not whole.marlin_runs(usual, share, padded=self._quantization.method is Method.GPTQ):
                return usual
        return self._choose(module)

    def tensors(self, piece: Piece, scheme: Scheme | None) -> Iterator[Stored]:
        """What a piece is made of on this rank; a scheme that this release has no kernel for is refused."""
        if isinstance(piece, Matrix):
            piece = self._undivided(piece)
        if scheme is None:
            own = piece.dtype if isinstance(piece, Matrix | Vector) and piece.dtype is not None else self._dtype
            yield Stored("weight", own, elements(piece, self._ranks))
            return
        if scheme.ordered or (scheme.format is Format.GPTQ and not scheme.symmetric):
            message = f"{piece.name}: {scheme.format} in the order of activations or with zero points is not served"
            raise UsageError(message)
        match piece:
            case Matrix():
                shape = shapes.shape(piece, self._ranks.tensor)
                yield from _LINEAR[scheme.format](scheme, shape, self._dtype)
                if piece.bias:
                    yield Stored("bias", piece.dtype or self._dtype, shape.outputs)
            case Table():
                head = shapes.head(piece, self._ranks.tensor)
                yield from _LINEAR[scheme.format](scheme, head, self._dtype)
            case Experts():
                yield from self._experts(scheme, shapes.share(piece, self._ranks))
            case Vector():
                message = f"{piece.name} is no matrix and has no scheme"
                raise UsageError(message)

    def _undivided(self, matrix: Matrix) -> Matrix:
        """Gates that Marlin would find too narrow are kept whole (`maybe_disable_tp` of mamba/gdn)."""
        gates = matrix.name.endswith(".in_proj_ba") and len(matrix.parts) > 1
        return replace(matrix, divide=Divide.NOT) if gates and self._quantization.method in _MARLIN else matrix

    def _module(self, piece: Piece, prefix: str) -> Module | None:
        """As the engine sees the piece; None for what it never asks about."""
        below = f"{prefix}." if prefix else ""
        match piece:
            case Matrix(plain=False):
                parts = tuple(f"{below}{source}" for source in piece.sources)
                return Module(name=f"{below}{piece.name}", kind=Kind.LINEAR, parts=parts)
            case Experts():
                return Module(name=f"{below}{piece.name}", kind=Kind.EXPERTS)
            case Table(name="lm_head"):
                behind = self._geometry.prefix.startswith("language_model.")
                return Module(name="language_model.lm_head" if behind else "lm_head", kind=Kind.HEAD)
            case Table():
                return Module(name=f"{below}{piece.name}", kind=Kind.WORDS)
            case _:
                return None

    def _experts(self, scheme: Scheme, share: Share) -> tuple[Stored, ...]:
        method, dtype = self._quantization.method, self._dtype
        match scheme.format:
            case Format.FP8:
                native = method is Method.FP8 or (method is Method.MIXED and scheme.grain is Grain.BLOCK)
                return fp8.experts(scheme, share, dtype, native=native)
            case Format.INT8:
                return whole.int8_experts(scheme, share, dtype)
            case Format.NVFP4:
                return four.nvfp4_experts(scheme, share, self._kit)
            case Format.MXFP4 | Format.MXFP8:
                return four.mx_experts(scheme, share, self._pad(scheme))
            case Format.PACKED | Format.NF4:
                of = whole.packed_experts if scheme.format is Format.PACKED else four.nf4_experts
                return of(scheme, share, dtype)
            case Format.GPTQ | Format.AWQ:
                return _packed_by_kernel(scheme, share, dtype, padded=method is not Method.ROUNDED)

    def _pad(self, scheme: Scheme) -> four.Pad:
        if scheme.format is not Format.MXFP4 or self._quantization.method is Method.GROUPS:
            return four.Pad.NOT
        gpt_oss = self._geometry.architecture == "GptOssForCausalLM"
        return four.gpt_oss_pad(self._kit) if gpt_oss else four.deepseek_pad(self._kit)


_BESIDE: Final = ("re:vision_tower\\.", "re:mm_projector\\.")


def _as_served(geometry: Geometry, quantization: Quantization) -> Quantization:
    """As the engine takes what the config says, where it knows better.

    Kimi K3 calls its MXFP4 experts compressed-tensors; the engine reads them as MXFP4 (models/config.py). The tower of
    Kimi K2.5 stays as it is under compressed-tensors, whatever that ignores (models/kimi_k25.py).
    """
    if geometry.architecture.startswith("KimiK25") and quantization.method is Method.GROUPS:
        return replace(quantization, ignore=(*quantization.ignore, *_BESIDE))
    schemes = {target.scheme for target in quantization.targets}
    formats = {scheme.format for scheme in schemes if scheme is not None}
    if not geometry.architecture.startswith("KimiK3") or formats != {Format.MXFP4}:
        return quantization
    return Quantization(method=Method.MXFP4, scheme=quantization.targets[0].scheme)


def _packed_by_kernel(scheme: Scheme, share: Share, dtype: Dtype, *, padded: bool) -> tuple[Stored, ...]:
    """For Marlin where it takes them, else for the kernels that read bytes."""
    if not whole.marlin_runs(scheme, share, padded=padded):
        return whole.bytewise_experts(scheme, share, dtype)
    of = whole.gptq_experts if scheme.format is Format.GPTQ else whole.awq_experts
    return of(scheme, share, dtype)
