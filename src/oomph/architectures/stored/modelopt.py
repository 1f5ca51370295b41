"""ModelOpt: one algorithm for all, or one for every layer by name.

Knows both shapes of its section: the one in config.json and the older one of hf_quant_config.json. An unknown algorithm
is refused by name.
"""

from collections.abc import Mapping
from typing import Final

from oomph.architectures.config import Config
from oomph.architectures.stored.words import names, table
from oomph.ledger.quantization import Format, Grain, Inputs, Method, Quantization, Scheme, Target

_TENSOR: Final = Scheme(format=Format.FP8, bits=8, inputs=Inputs.STATIC)
_CHANNEL: Final = Scheme(format=Format.FP8, bits=8, grain=Grain.CHANNEL, inputs=Inputs.DYNAMIC)
_BLOCK: Final = Scheme(format=Format.FP8, bits=8, grain=Grain.BLOCK, block=(128, 128), inputs=Inputs.DYNAMIC)
_MXFP8: Final = Scheme(format=Format.MXFP8, bits=8, grain=Grain.GROUP, group=32)
_NEEDED: Final = ("group_size", "kv_cache_quant_algo", "exclude_modules")


def nvfp4(group: int, *, weights_alone: bool = False) -> Scheme:
    """NVFP4 with inputs quantized or not; there is room for the inputs' scales in both cases."""
    taken = Inputs.DROPPED if weights_alone else Inputs.STATIC
    return Scheme(format=Format.NVFP4, bits=4, grain=Grain.GROUP, group=group, inputs=taken)


def read(section: Config) -> Quantization:
    """Either shape."""
    inner = section.sub("quantization") if "quantization" in section else None
    said = inner or section
    algorithm = said.text("quant_algo").upper()
    ignore = names(said, "exclude_modules" if inner else "ignore")
    group = said.whole("group_size", default=16)
    cached = _cached(said) if inner else _cached_now(section)
    if algorithm == "MIXED_PRECISION":
        return _mixed(said, ignore, cached=cached)
    if inner is not None and algorithm == "NVFP4":
        for field in _NEEDED:
            if field not in inner.fields:
                raise inner.refusal(field, "is missing, and NVFP4 needs it")
    known = _algorithms(group)
    if algorithm not in known:
        raise said.refusal("quant_algo", f"{algorithm!r:.40} is not among {', '.join(known)}")
    scheme = known[algorithm]
    if algorithm == "NVFP4" and _weights_alone(section):
        scheme = known["W4A16_NVFP4"]
    experts = _TENSOR if scheme.format is Format.FP8 else scheme  # ModelOptFp8MoEMethod knows no other
    return Quantization(
        method=Method.MODELOPT, scheme=scheme, experts=experts, ignore=ignore, head=True, cache_scales=cached
    )


def mxfp8(section: Config) -> Quantization:
    """MXFP8 as others than ModelOpt write it."""
    return Quantization(method=Method.MODELOPT, scheme=_MXFP8, ignore=names(section, "ignored_layers"), head=True)


def _algorithms(group: int) -> Mapping[str, Scheme]:
    return {
        "FP8": _TENSOR,
        "FP8_PER_CHANNEL_PER_TOKEN": _CHANNEL,
        "FP8_PB_WO": _BLOCK,
        "NVFP4": nvfp4(group),
        "W4A16_NVFP4": nvfp4(group, weights_alone=True),
        "MXFP8": _MXFP8,
    }


def _mixed(said: Config, ignore: tuple[str, ...], *, cached: bool) -> Quantization:
    layers = table(said, "quantized_layers")
    if not layers:
        raise said.refusal("quantized_layers", "is missing, and mixed precision needs it")
    group = said.maybe("group_size") or next(
        (each.whole("group_size", default=16) for each in layers.values() if "NVFP4" in _algorithm(each)), 16
    )
    known = _algorithms(group)
    for name, each in layers.items():
        if _algorithm(each) not in known:
            raise each.refusal("quant_algo", f"{_algorithm(each)!r:.40} of {name:.60} is not among {', '.join(known)}")
    targets = tuple(Target(pattern=name, scheme=known[_algorithm(each)]) for name, each in layers.items())
    return Quantization(method=Method.MIXED, targets=targets, ignore=ignore, head=True, cache_scales=cached)


def _algorithm(layer: Config) -> str:
    return layer.text("quant_algo").upper()


def _cached(said: Config) -> bool:
    return bool(said.text("kv_cache_quant_algo", default=""))


def _cached_now(section: Config) -> bool:
    """Eight-bit floats, or else the engine takes the cache for unquantized."""
    scheme = section.raw("kv_cache_scheme")
    return isinstance(scheme, dict) and scheme.get("type") == "float" and scheme.get("num_bits") == 8  # noqa: PLR2004 - bits


def _weights_alone(section: Config) -> bool:
    """Whether no group of the config quantizes inputs."""
    if "config_groups" not in section:
        return False
    groups = section.sub("config_groups")
    return bool(groups.fields) and all(groups.sub(name).raw("input_activations") is None for name in groups.fields)
