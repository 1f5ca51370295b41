"""What configs say of formats, read; unknown ones are refused by field."""

import pytest

from oomph.architectures.stored.quantization import quantization
from oomph.architectures.stored.words import seen
from oomph.errors import UnreadableError
from oomph.ledger.checkpoint import Checkpoint, Tensor
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Format, Grain, Inputs, Method, Quantization

GPTQ: dict[str, object] = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "desc_act": False}
INT4: dict[str, object] = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 32}


def read(**section: object) -> Quantization:
    found = quantization({"quantization_config": section})
    assert found is not None
    return found


def grouped(weights: dict[str, object], form: str, **more: object) -> dict[str, object]:
    group = {"targets": ["Linear"], "weights": weights, **more}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


def test_a_config_that_says_nothing_is_not_quantized() -> None:
    assert quantization({"hidden_size": 8}) is None


def test_a_section_without_a_method_is_none_as_the_engine_takes_it() -> None:
    assert quantization({"quantization_config": {"quant_algo": "FP8", "producer": {"name": "modelopt"}}}) is None


def test_an_unknown_method_is_refused_by_name() -> None:
    with pytest.raises(UnreadableError, match="quant_method: 'torchao'"):
        read(quant_method="torchao", quant_type="int4")


def test_bitsandbytes_is_read_in_four_bits_or_in_eight() -> None:
    four = read(quant_method="bitsandbytes", load_in_4bit=True, llm_int8_skip_modules=["lm_head"])
    eight = read(quant_method="bitsandbytes", load_in_8bit=True)

    assert four.scheme is not None
    assert eight.scheme is not None
    assert (four.method, four.scheme.format, four.scheme.bits) == (Method.BITSANDBYTES, Format.NF4, 4)
    assert (eight.scheme.format, eight.scheme.grain) == (Format.INT8, Grain.CHANNEL)
    assert four.ignore == ("lm_head",)


def test_blocks_of_fp8_are_read() -> None:
    found = read(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[128, 64])

    assert found.scheme is not None
    assert (found.scheme.grain, found.scheme.block, found.scheme.inputs) == (Grain.BLOCK, (128, 64), Inputs.DYNAMIC)


@pytest.mark.parametrize("block", [[128], [0, 128], "128"])
def test_a_block_that_is_none_is_refused(block: object) -> None:
    with pytest.raises(UnreadableError, match="weight_block_size"):
        read(quant_method="fp8", activation_scheme="dynamic", weight_block_size=block)


def test_the_text_model_inside_may_say_it() -> None:
    found = quantization({"text_config": {"quantization_config": GPTQ}})

    assert found is not None
    assert found.method is Method.GPTQ


def test_the_file_beside_speaks_where_the_config_is_silent() -> None:
    beside = {
        "producer": {"name": "modelopt"},
        "quantization": {
            "quant_algo": "NVFP4",
            "group_size": 16,
            "kv_cache_quant_algo": "FP8",
            "exclude_modules": ["lm_head"],
        },
    }

    found = quantization({}, beside)

    assert found is not None
    assert found.scheme is not None
    assert (found.scheme.format, found.ignore, found.cache_scales) == (Format.NVFP4, ("lm_head",), True)


def test_mixed_precision_names_every_layer() -> None:
    layers = {"a.q_proj": {"quant_algo": "FP8"}, "a.experts": {"quant_algo": "NVFP4", "group_size": 16}}

    found = read(quant_method="modelopt", quant_algo="MIXED_PRECISION", quantized_layers=layers)

    assert [target.scheme and target.scheme.format for target in found.targets] == [Format.FP8, Format.NVFP4]


def test_an_unknown_algorithm_is_refused_by_name() -> None:
    with pytest.raises(UnreadableError, match="quant_algo: 'INT3'"):
        read(quant_method="modelopt", quant_algo="INT3")


@pytest.mark.parametrize(
    ("weights", "form", "inputs", "format_"),
    [
        (INT4, "pack-quantized", None, Format.PACKED),
        ({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}, "", None, Format.NVFP4),
        ({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}, "", None, Format.MXFP4),
        ({"num_bits": 8, "type": "float", "strategy": "tensor"}, "float-quantized", None, Format.FP8),
        (
            {"num_bits": 8, "type": "int", "strategy": "channel"},
            "int-quantized",
            {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True},
            Format.INT8,
        ),
    ],
)
def test_groups_make_formats(
    weights: dict[str, object], form: str, inputs: dict[str, object] | None, format_: Format
) -> None:
    found = read(**grouped(weights, form, input_activations=inputs))

    scheme = found.targets[0].scheme
    assert scheme is not None
    assert scheme.format is format_


def test_a_mixture_that_is_no_format_is_refused_by_its_group() -> None:
    with pytest.raises(UnreadableError, match="group_0: weights"):
        read(**grouped({"num_bits": 5, "type": "float", "strategy": "tensor"}, "float-quantized"))


@pytest.mark.parametrize("pattern", ["re:(", "re:(a+)+b", "re:" + ".*x" * 9])
def test_a_pattern_that_cannot_be_tried_is_refused(pattern: str) -> None:
    with pytest.raises(UnreadableError, match="ignore"):
        read(**grouped(INT4, "pack-quantized"), ignore=[pattern])


def test_one_group_for_all_inputs_has_no_order() -> None:
    found = read(**(GPTQ | {"group_size": -1, "desc_act": True}))

    assert found.scheme is not None
    assert (found.scheme.group, found.scheme.ordered) == (None, False)


def test_rules_change_or_lift_the_scheme() -> None:
    found = read(**GPTQ, dynamic={r"-:.*layers\.0\..*": {}, r"+:.*down.*": {"bits": 8}})

    lifted, changed = found.targets
    assert lifted.scheme is None
    assert changed.scheme is not None
    assert (changed.scheme.bits, changed.scheme.group) == (8, 128)


@pytest.mark.parametrize(("field", "value"), [("bits", 3), ("group_size", 0), ("group_size", -2), ("bits", "four")])
def test_a_number_that_cannot_be_is_refused_by_field(field: str, value: object) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(**(GPTQ | {field: value}))


def test_the_checkpoint_tells_what_awq_left_as_it_was() -> None:
    found = read(quant_method="awq", bits=4, group_size=128, zero_point=True)
    tensors = (
        Tensor(name="model.a.qweight", dtype=Dtype.I32, shape=(1,)),
        Tensor(name="model.a.scales", dtype=Dtype.F16, shape=(1,)),
        Tensor(name="model.b.weight", dtype=Dtype.BF16, shape=(1,)),
    )

    assert seen(found, Checkpoint(tensors)).ignore == ("model.b",)


def test_auto_round_packs_like_gptq_or_awq() -> None:
    section = {"quant_method": "auto-round", "bits": 4, "group_size": 64, "packing_format": "auto_round:auto_awq"}

    found = read(**section, extra_config={"lm_head": {"bits": 4}, "model.layers.0.mlp.gate": {"bits": 16}})

    assert found.scheme is not None
    assert found.scheme.format is Format.AWQ
    assert [target.scheme is None for target in found.targets] == [False, True]
