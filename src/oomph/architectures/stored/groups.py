"""compressed-tensors: groups of targets, each with the numbers of its weights and inputs.

Knows `QuantizationArgs` of that library and its defaults, and which of them make which format. A mixture that is none
of them is refused by its group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oomph.architectures.config import Config
from oomph.architectures.stored.words import MOST_NAMES, MOST_RULES, names, pattern
from oomph.ledger.quantization import Format, Grain, Inputs, Method, Quantization, Scheme, Target

_ACTIVATED: Final = frozenset({"naive-quantized", "int-quantized", "float-quantized", "nvfp4-pack-quantized"})
_GRAINS: Final = {"tensor": Grain.TENSOR, "channel": Grain.CHANNEL, "block": Grain.BLOCK}
_PACKED_BITS: Final = range(2, 9)
_ZERO_POINT_BITS: Final = (4, 8)
_BLOCK: Final = 2  # sizes: outputs and inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """How numbers are quantized, as the library says it."""

    bits: int
    kind: str  # int or float
    strategy: str
    group: int | None
    block: tuple[int, int] | None
    symmetric: bool
    dynamic: bool
    scale: str
    ordered: bool


def read(section: Config) -> Quantization:
    """All groups, in the order of the config."""
    if "transform_config" in section:
        raise section.refusal("transform_config", "rotations are not read yet")
    if _sparse(section):
        raise section.refusal("sparsity_config", "sparse checkpoints are no longer served")
    form = section.text("format", default="")
    targets = tuple(target for group in _groups(section).values() for target in _targets(group, form))
    ignore = names(section, "ignore")
    if sum(name.startswith("re:") for name in (*ignore, *(target.pattern for target in targets))) > MOST_RULES:
        raise section.refusal("ignore", f"there are more than {MOST_RULES} patterns")
    for name in ignore:
        _checked(section, "ignore", name)
    cache = section.sub("kv_cache_scheme") if "kv_cache_scheme" in section else None
    return Quantization(
        method=Method.GROUPS,
        targets=targets,
        ignore=ignore,
        cache_scales=cache is not None,
        cache_heads=cache is not None and cache.raw("strategy") == "attn_head",
    )


def _sparse(section: Config) -> bool:
    sparsity = section.sub("sparsity_config") if "sparsity_config" in section else None
    return sparsity is not None and bool(names(sparsity, "targets"))


def _groups(section: Config) -> Mapping[str, Config]:
    groups = section.sub("config_groups") if "config_groups" in section else Config({}, section.where)
    return {name: groups.sub(name) for name in groups.fields}


def _targets(group: Config, form: str) -> tuple[Target, ...]:
    """One for every name; the engine reads no group that is about attention alone."""
    listed = names(group, "targets")
    if len(listed) > MOST_NAMES:
        raise group.refusal("targets", "there are too many")
    if len(listed) == 1 and listed[0].endswith("Attention"):
        return ()
    own = group.text("format", default=form)
    weights = _numbers(group, "weights")
    inputs = _numbers(group, "input_activations")
    if weights is None:
        raise group.refusal("weights", "is missing")
    scheme = _scheme(group, own, weights, inputs)
    return tuple(Target(pattern=_checked(group, "targets", name), scheme=scheme) for name in listed)


def _checked(section: Config, field: str, name: str) -> str:
    if name.startswith("re:"):
        pattern(section, field, name.removeprefix("re:"))
    return name


def _numbers(group: Config, field: str) -> Numbers | None:
    if field not in group:
        return None
    said = group.sub(field)
    size = said.whole("group_size", default=-1, least=-1)
    given = None if size <= 0 else size
    block = said.items("block_structure", int) if "block_structure" in said else None
    if block is not None and (len(block) != _BLOCK or min(block) <= 0):
        raise said.refusal("block_structure", f"two positive sizes were expected, not {block!r:.40}")
    usual = "group" if given is not None else "channel" if size == -1 and "group_size" in said else "tensor"
    return Numbers(
        bits=said.whole("num_bits", default=8),
        kind=said.text("type", default="int"),
        strategy=said.text("strategy", default="token" if said.raw("dynamic") is True else usual),
        group=given,
        block=None if block is None else (block[0], block[1]),
        symmetric=said.flag("symmetric", default=True),
        dynamic=bool(said.raw("dynamic")),
        scale=str(said.raw("scale_dtype") or ""),
        ordered=said.raw("actorder") in {"group", "dynamic", True},
    )


def _scheme(group: Config, form: str, weights: Numbers, inputs: Numbers | None) -> Scheme:
    """The first kind of `_get_scheme_from_parts` that the numbers make."""
    shape = (weights.kind, weights.bits, weights.strategy, weights.group)
    if "output_activations" in group:
        raise group.refusal("output_activations", "quantized outputs are not read yet")
    if shape == ("float", 4, "tensor_group", 16):
        taken = Inputs.PLAIN if inputs is None else Inputs.STATIC
        return Scheme(format=Format.NVFP4, bits=4, grain=Grain.GROUP, group=16, inputs=taken)
    if shape == ("float", 4, "group", 32):
        return Scheme(format=Format.MXFP4, bits=4, grain=Grain.GROUP, group=32)
    if shape == ("float", 8, "group", 32) and weights.scale.endswith("uint8"):
        return Scheme(format=Format.MXFP8, bits=8, grain=Grain.GROUP, group=32)
    if weights.kind == "int" and form == "pack-quantized" and inputs is None:
        return _packed(group, weights)
    if weights.kind in {"int", "float"} and weights.bits == 8 and form in _ACTIVATED:  # noqa: PLR2004 - W8A8
        return _eight(group, weights, inputs)
    raise group.refusal("weights", f"{shape} as {form!r:.40} with inputs {inputs} is no format that is known")


def _packed(group: Config, weights: Numbers) -> Scheme:
    if weights.strategy not in {"channel", "group"} or (weights.group is None) != (weights.strategy == "channel"):
        raise group.refusal("weights", f"{weights.strategy!r:.40} with groups of {weights.group} cannot be packed")
    if weights.bits not in (_PACKED_BITS if weights.symmetric else _ZERO_POINT_BITS):
        raise group.refusal("weights", f"{weights.bits} bits cannot be packed like this")
    return Scheme(
        format=Format.PACKED,
        bits=weights.bits,
        grain=Grain.CHANNEL if weights.group is None else Grain.GROUP,
        group=weights.group,
        symmetric=weights.symmetric,
        ordered=weights.ordered,
    )


def _eight(group: Config, weights: Numbers, inputs: Numbers | None) -> Scheme:
    """Eight bits: floats, or whole numbers with quantized inputs."""
    if (
        weights.strategy not in _GRAINS
        or not weights.symmetric
        or (weights.block is None) == (weights.strategy == "block")
    ):
        raise group.refusal("weights", f"{weights.strategy!r:.40} is no strategy that is known for eight bits")
    if weights.kind == "int" and (inputs is None or weights.strategy == "block"):
        raise group.refusal("input_activations", "whole numbers of eight bits need quantized inputs")
    taken = Inputs.PLAIN if inputs is None else Inputs.DYNAMIC if inputs.dynamic else Inputs.STATIC
    return Scheme(
        format=Format.FP8 if weights.kind == "float" else Format.INT8,
        bits=8,
        grain=_GRAINS[weights.strategy],
        block=weights.block,
        inputs=taken,
        centered=inputs is None or inputs.symmetric,
    )
