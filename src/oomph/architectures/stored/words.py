"""Configs of quantizers that pack whole numbers into words: GPTQ, AWQ, AutoRound.

Knows their fields. Does not know what an engine makes of them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures.config import Config
from oomph.ledger.checkpoint import Checkpoint
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Format, Grain, Method, Quantization, Scheme, Target

MOST_NAMES: Final = 1 << 17  # modules that a config may name
MOST_RULES: Final = 1 << 10  # patterns that it may have
_LONGEST: Final = 1 << 10
_REPEATS: Final = 4  # choices of length in one pattern: a name is tried in as many ways as its length to this power
_REPEAT: Final = re.compile(r"[*+]|\{\d*,\d*\}|(?<![(*+}])\?")
_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")  # may be tried in exponentially many ways, whatever is in it
_SPECIAL: Final = frozenset(r"*+?^$()[]{}|\\")
_WHOLE: Final = frozenset({Dtype.F16, Dtype.BF16, Dtype.F32})
_BITS: Final = (4, 8)


def names(section: Config, field: str) -> tuple[str, ...]:
    """Names or patterns; a list inside the list counts as its names."""
    value = section.raw(field)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_NAMES:
        raise section.refusal(field, f"a list of at most {MOST_NAMES} names was expected")
    flat = [name for each in value for name in (each if isinstance(each, list) else [each])]
    for name in flat:
        if not isinstance(name, str) or len(name) > _LONGEST:
            raise section.refusal(field, f"names were expected, not {name!r:.40}")
    return tuple(flat)


def table(section: Config, field: str) -> Mapping[str, Config]:
    """What is said of modules by name or pattern."""
    value = section.raw(field)
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MOST_NAMES:
        raise section.refusal(field, f"an object of at most {MOST_NAMES} names was expected")
    for name, said in value.items():
        if not isinstance(said, dict) or len(name) > _LONGEST:
            raise section.refusal(field, f"an object was expected for {name!r:.40}")
    return {name: Config(said, f"{section.where}: {field}: {name:.40}") for name, said in value.items()}


def pattern(section: Config, field: str, text: str) -> str:
    """A regular expression that can be compiled, and that no name can keep busy for long."""
    if _REPEATED_GROUP.search(text) or len(_REPEAT.findall(text)) > _REPEATS:
        raise section.refusal(field, f"{text!r:.40} repeats too much to be tried")
    try:
        re.compile(text)
    except re.error as error:
        raise section.refusal(field, f"{text!r:.40} is no pattern: {error}") from error
    return text


def gptq(section: Config) -> Quantization:
    """GPTQ; with one group for all inputs their order means nothing."""
    scheme = _scheme(section, Format.GPTQ, symmetric=section.flag("sym", default=True))
    scheme = replace(scheme, ordered=section.flag("desc_act", default=False) and scheme.group is not None)
    targets = []
    for rule, said in _rules(section, "dynamic").items():
        text = pattern(section, "dynamic", rule.removeprefix("-:").removeprefix("+:"))
        changed = None if rule.startswith("-:") else _scheme(said, Format.GPTQ, like=scheme)
        targets.append(Target(pattern=text, scheme=changed))
    return Quantization(
        method=Method.GPTQ,
        scheme=scheme,
        targets=tuple(targets),
        only=names(section, "modules_in_block_to_quantize"),
        head=section.flag("lm_head", default=False),
    )


def awq(section: Config) -> Quantization:
    """AWQ."""
    scheme = _scheme(section, Format.AWQ, symmetric=not section.flag("zero_point", default=True))
    return Quantization(
        method=Method.AWQ,
        scheme=scheme,
        ignore=names(section, "modules_to_not_convert"),
        head=section.flag("lm_head", default=False),
    )


def rounded(section: Config) -> Quantization:
    """AutoRound with whole numbers, packed as GPTQ or AWQ pack them."""
    kind = section.text("data_type", default="int")
    if kind != "int":
        raise section.refusal("data_type", f"{kind!r:.40} is not read yet; only int is")
    packing = section.text("packing_format", default="auto_round:auto_gptq")
    formats = {"auto_round:auto_gptq": Format.GPTQ, "auto_round:auto_awq": Format.AWQ}
    if packing not in formats:
        raise section.refusal("packing_format", f"{packing!r:.40} is not among {', '.join(formats)}")
    scheme = _scheme(section, formats[packing], symmetric=section.flag("sym", default=True))
    targets = []
    for name, said in _rules(section, "extra_config").items():
        text = pattern(section, "extra_config", name) if _SPECIAL & set(name) else name
        plain = said.whole("bits", default=scheme.bits) >= 16  # noqa: PLR2004 - the width of what is not quantized
        targets.append(Target(pattern=text, scheme=None if plain else _scheme(said, scheme.format, like=scheme)))
    return Quantization(method=Method.ROUNDED, scheme=scheme, targets=tuple(targets), only=_blocks(section))


def seen(found: Quantization, checkpoint: Checkpoint) -> Quantization:
    """With what the checkpoint itself tells, where the config is silent about what GPTQ or AWQ left as it was."""
    stored = {tensor.name.rpartition(".")[0]: False for tensor in checkpoint.tensors}
    for tensor in checkpoint.tensors:
        if tensor.dtype not in _WHOLE:
            stored[tensor.name.rpartition(".")[0]] = True
    if found.method is Method.GPTQ and not found.only:
        return replace(found, only=tuple(name for name, packed in stored.items() if packed))
    if found.method is Method.AWQ and not found.ignore:
        return replace(found, ignore=tuple(name for name, packed in stored.items() if not packed))
    return found


def _blocks(section: Config) -> tuple[str, ...]:
    """A list, or its names in one line."""
    for field in ("block_name_to_quantize", "to_quant_block_names"):
        value = section.raw(field)
        if isinstance(value, str):
            return tuple(value.split(",")[:MOST_NAMES])
        if value is not None:
            return names(section, field)
    return ()


def _rules(section: Config, field: str) -> Mapping[str, Config]:
    found = table(section, field)
    if sum(bool(_SPECIAL & set(name)) for name in found) > MOST_RULES:
        raise section.refusal(field, f"there are more than {MOST_RULES} patterns")
    return found


def _scheme(section: Config, form: Format, *, like: Scheme | None = None, symmetric: bool | None = None) -> Scheme:
    """Bits and group, where not said otherwise like another's; a group of -1 is all inputs."""
    bits = section.whole("bits", "w_bit") if like is None else section.whole("bits", default=like.bits)
    if bits not in _BITS:
        raise section.refusal("bits", f"{bits} is not among {_BITS}")
    if "group_size" in section or "q_group_size" in section or like is None:
        size = section.whole("group_size", "q_group_size", least=-1)
        group = None if size == -1 else size
    else:
        group = like.group
    if group is not None and group <= 0:
        raise section.refusal("group_size", f"{group} is neither positive nor -1")
    if symmetric is None:
        symmetric = section.flag("sym", default=like.symmetric if like is not None else True)
    grain = Grain.CHANNEL if group is None else Grain.GROUP
    return Scheme(format=form, bits=bits, grain=grain, group=group, symmetric=symmetric)
