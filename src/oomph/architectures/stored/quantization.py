"""A config's section about quantization: which method, which schemes, for which modules.

Knows where the section stands and reads it as its method says. An unknown method is refused by name. Does not know what
an engine makes of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures.config import Config
from oomph.architectures.stored import groups, modelopt, words
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Format, Grain, Inputs, Method, Quantization, Scheme

_BLOCKS: Final = 2  # sizes of a block: outputs and inputs
_LINES: Final = ("quantization_config", "compression_config")


def quantization(
    fields: Mapping[str, object], companion: Mapping[str, object] | None = None, where: str = "config.json"
) -> Quantization | None:
    """What the config, or else the `hf_quant_config.json` beside it, says of formats; None: nothing is quantized."""
    config = Config(fields, where)
    section = _section(config, companion)
    if section is None:
        return None
    method = _method(section)
    if not method:
        return None  # the engine takes a section that names no method for none
    if method not in _READERS:
        raise section.refusal("quant_method", f"{method!r:.40} is not among {', '.join(_READERS)}")
    found = _READERS[method](section)
    return _deepseek(config, section, found) if method == "fp8" else found


def _section(config: Config, companion: Mapping[str, object] | None) -> Config | None:
    """Of the config, of the file beside it, or of the text model inside it."""
    if _LINES[0] in config:
        return config.sub(_LINES[0])
    if companion is not None:
        return Config(companion, "hf_quant_config.json")
    inner = config.sub("text_config") if "text_config" in config else None
    for name in _LINES:
        for outer in (config, inner):
            if outer is not None and name in outer:
                return outer.sub(name)
    return None


def _method(section: Config) -> str:
    """As the config calls it, or as the name of its producer tells."""
    said = section.text("quant_method", default="").lower().replace("compressed_tensors", "compressed-tensors")
    producer = section.sub("producer").raw("name") if "producer" in section else None
    inner = section.sub("quantization") if "quantization" in section else None
    if producer == "modelopt" and inner is not None and "quant_algo" in inner:
        return "modelopt"
    return said


def fp8(section: Config) -> Quantization:
    """FP8, with scales per tensor or per block."""
    scheme = section.text("activation_scheme")
    if scheme not in {"static", "dynamic"}:
        raise section.refusal("activation_scheme", f"{scheme!r:.40} is neither static nor dynamic")
    if "store_dtype" in section:
        raise section.refusal("store_dtype", "experts in another format than the rest are not read here")
    block = _block(section)
    if block is not None and scheme == "static":
        raise section.refusal("activation_scheme", "blocks have dynamic scales")
    ignored = words.names(section, "ignored_layers")
    return Quantization(
        method=Method.FP8,
        scheme=Scheme(
            format=Format.FP8,
            bits=8,
            grain=Grain.TENSOR if block is None else Grain.BLOCK,
            block=block,
            inputs=Inputs(scheme),
        ),
        ignore=ignored or words.names(section, "modules_to_not_convert"),
    )


def _block(section: Config) -> tuple[int, int] | None:
    if "weight_block_size" not in section:
        return None
    sizes = section.items("weight_block_size", int)
    if len(sizes) != _BLOCKS or min(sizes) <= 0:
        raise section.refusal("weight_block_size", f"two positive sizes were expected, not {sizes!r:.40}")
    return sizes[0], sizes[1]


def _deepseek(config: Config, section: Config, found: Quantization) -> Quantization:
    """DeepSeek V4 stores its experts in fewer bits than the rest, and the rest's scales as powers of two."""
    if config.raw("model_type") != "deepseek_v4" or found.scheme is None:
        return found
    kind = config.text("expert_dtype", default="fp4")
    if kind == "fp8":
        return found
    if kind != "fp4":
        raise config.refusal("expert_dtype", f"{kind!r:.40} is neither fp4 nor fp8")
    algorithm = section.text("moe_quant_algo", default="").upper()
    experts = Scheme(format=Format.MXFP4, bits=4, group=32, grain=Grain.GROUP)
    if algorithm == "NVFP4":
        experts = modelopt.nvfp4(16)
    elif algorithm:
        raise section.refusal("moe_quant_algo", f"{algorithm!r:.40} is not known")
    return replace(found, scheme=replace(found.scheme, scale=Dtype.F8_E8M0), experts=experts)


def mxfp4(section: Config) -> Quantization:
    """MXFP4 experts; what the section lists is not quantized in any case."""
    del section
    return Quantization(method=Method.MXFP4, scheme=Scheme(format=Format.MXFP4, bits=4, group=32, grain=Grain.GROUP))


def bitsandbytes(section: Config) -> Quantization:
    """Four bits, or eight where it says so; the modules that it lists stay as they are."""
    wide = section.flag("load_in_8bit", default=False)
    scheme = Scheme(format=Format.NF4, bits=4, grain=Grain.GROUP, group=64)
    return Quantization(
        method=Method.BITSANDBYTES,
        scheme=Scheme(format=Format.INT8, bits=8, grain=Grain.CHANNEL) if wide else scheme,
        ignore=words.names(section, "llm_int8_skip_modules"),
    )


_READERS: Final[Mapping[str, Callable[[Config], Quantization]]] = {
    "fp8": fp8,
    "mxfp4": mxfp4,
    "gpt_oss_mxfp4": mxfp4,
    "compressed-tensors": groups.read,
    "modelopt": modelopt.read,
    "modelopt_fp4": modelopt.read,
    "modelopt_mxfp8": modelopt.read,
    "modelopt_mixed": modelopt.read,
    "mxfp8": modelopt.mxfp8,
    "gptq": words.gptq,
    "awq": words.awq,
    "auto-round": words.rounded,
    "bitsandbytes": bitsandbytes,
}
