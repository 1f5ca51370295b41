"""Quantized pieces on small models, weighed by hand. The big ones are compared with the engine in tests/engine."""

import pytest

from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.vllm.weights.formats import four, fp8, whole
from oomph.engines.vllm.weights.formats.four import Pad
from oomph.engines.vllm.weights.formats.shapes import Share, Stored
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.renames import renamed
from oomph.engines.vllm.weights.total import total
from oomph.errors import UsageError
from oomph.ledger.device import Capability
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Format, Grain, Inputs, Scheme

SMALL: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "torch_dtype": "bfloat16",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "vocab_size": 1024,
    "max_position_embeddings": 4096,
}
# The layer's matrices: 512 x 256 (three parts), 256 x 256, 1024 x 256 (two parts), 256 x 512.
MATRICES = 512 * 256 + 256 * 256 + 1024 * 256 + 256 * 512
PARTS = 3 + 1 + 2 + 1
OUTPUTS = 512 + 256 + 1024 + 256
REST = 2 * (2 * 1024 * 256 + 3 * 256)  # words, head and norms stay as they are
SCALES = 4 * 2  # of queries, keys, values and probabilities
SCALES_AND_ZERO_POINTS = 3 * 4 + 3 * 2  # of queries, keys and values
GROUPS = 2 * 512 + 2 * 256 + 2 * 1024 + 4 * 256  # of 128 inputs, one for every output
INT4 = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128}


def weigh(section: dict[str, object], ranks: int = 1, **changes: object) -> int:
    fields = SMALL | {"quantization_config": section} | changes
    return int(total(geometry(fields), Ranks(tensor=ranks), quantization=quantization(fields)))


def packed(weights: dict[str, object], form: str = "pack-quantized", **more: object) -> dict[str, object]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": more.pop("inputs", None)}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}, **more}


def test_blocks_have_a_scale_each() -> None:
    section: dict[str, object] = {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    }

    blocks = 4 * 2 + 2 * 2 + 8 * 2 + 2 * 4
    assert weigh(section) == REST + MATRICES + 4 * blocks + SCALES


def test_static_scales_come_one_for_every_part() -> None:
    section: dict[str, object] = {"quant_method": "fp8", "activation_scheme": "static"}

    assert weigh(section) == REST + MATRICES + 4 * (PARTS + PARTS) + SCALES


def test_what_is_listed_stays_as_it_is() -> None:
    section: dict[str, object] = {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "ignored_layers": ["model.layers.0.mlp.down_proj"],
    }

    assert weigh(section) == REST + MATRICES + 256 * 512 + 4 * (PARTS - 1) + SCALES


def test_fused_matrices_are_listed_all_or_none() -> None:
    section: dict[str, object] = {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "ignored_layers": ["model.layers.0.self_attn.q_proj"],
    }

    with pytest.raises(UsageError, match="qkv_proj"):
        weigh(section)


def test_gptq_keeps_room_for_zero_points() -> None:
    section: dict[str, object] = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}

    assert weigh(section) == REST + MATRICES // 2 + 2 * GROUPS + GROUPS // 2


def test_gptq_in_the_order_of_activations_is_refused() -> None:
    section: dict[str, object] = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "desc_act": True}

    with pytest.raises(UsageError, match="order of activations"):
        weigh(section)


def test_awq_is_as_large_as_gptq() -> None:
    section: dict[str, object] = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}

    assert weigh(section) == REST + MATRICES // 2 + 2 * GROUPS + GROUPS // 2


def test_packed_weights_have_a_shape_and_scales_for_the_cache() -> None:
    assert weigh(packed(INT4)) == REST + MATRICES // 2 + 2 * GROUPS + 4 * 16 + SCALES_AND_ZERO_POINTS


def test_zero_points_are_packed_too() -> None:
    assert weigh(packed(INT4 | {"symmetric": False})) - weigh(packed(INT4)) == GROUPS // 2


def test_a_group_that_two_ranks_would_share_is_refused() -> None:
    with pytest.raises(UsageError, match="down_proj: 192 inputs"):
        weigh(packed(INT4), 2, intermediate_size=384)


def test_patterns_and_names_are_ignored() -> None:
    section = packed(INT4, ignore=["re:.*self_attn.*", "model.layers.0.mlp.down_proj"])

    kept = 512 * 256 + 256 * 256 + 256 * 512
    assert weigh(section) == (REST + 2 * kept + 1024 * 256 // 2 + 2 * (2 * 1024) + 16 + SCALES_AND_ZERO_POINTS)


def test_whole_numbers_of_eight_bits_have_a_scale_for_every_output() -> None:
    weights: dict[str, object] = {"num_bits": 8, "type": "int", "strategy": "channel"}
    inputs = {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True}

    section = packed(weights, "int-quantized", inputs=inputs)

    assert weigh(section) == REST + MATRICES + 4 * OUTPUTS + SCALES_AND_ZERO_POINTS


def test_nvfp4_has_three_kinds_of_scales_and_takes_the_head() -> None:
    section: dict[str, object] = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["embed"]}

    head = 1024 * 256 // 2 + 1024 * 16 + 4 + 4
    layer = MATRICES // 2 + MATRICES // 16 + 4 * (PARTS + PARTS)
    assert weigh(section) == REST - 2 * 1024 * 256 + head + layer + SCALES


def test_wildcards_exclude_what_they_begin() -> None:
    section: dict[str, object] = {
        "quant_method": "modelopt",
        "quant_algo": "FP8",
        "ignore": ["lm_head", "model.layers.0*"],
    }

    assert weigh(section) == REST + 2 * MATRICES + SCALES


def test_mixed_precision_finds_fused_matrices_by_their_parts() -> None:
    layers = {f"model.layers.0.self_attn.{part}_proj": {"quant_algo": "FP8"} for part in "qkv"}
    section: dict[str, object] = {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": layers,
    }

    assert weigh(section) == REST + 2 * MATRICES - 512 * 256 + 4 * (3 + 3)


def test_auto_round_quantizes_its_blocks_alone() -> None:
    section: dict[str, object] = {"quant_method": "auto-round", "bits": 4, "group_size": 128}

    assert weigh(section, block_name_to_quantize=None) == REST + MATRICES // 2 + 2 * GROUPS + GROUPS // 2
    assert weigh(section | {"block_name_to_quantize": "model.decoder"}) == REST + 2 * MATRICES


def expert(**changes: object) -> Share:
    known = {
        "name": "mlp.experts",
        "count": 2,
        "total": 8,
        "hidden": 2880,
        "inner": 720,
        "gated": True,
        "bias": False,
        "divided": True,
    }
    return Share(**(known | changes))  # type: ignore[arg-type]  # a table of fields


def size(tensors: tuple[Stored, ...]) -> int:
    return sum(int(stored.dtype.size(stored.elements)) for stored in tensors)


@pytest.mark.parametrize(("pad", "inner", "hidden"), [(Pad.TRITON, 768, 2880), (Pad.MARLIN, 768, 3072)])
def test_kernels_pad_experts_of_mxfp4(pad: Pad, inner: int, hidden: int) -> None:
    scheme = Scheme(format=Format.MXFP4, bits=4, group=32, grain=Grain.GROUP)

    maps = 3 * inner * hidden
    assert size(four.mx_experts(scheme, expert(), pad)) == 2 * (maps // 2 + maps // 32)


@pytest.mark.parametrize(
    ("kit", "pad"),
    [
        (Kit(), Pad.TRITON),
        (Kit(bare=True), Pad.MARLIN),
        (Kit(capability=Capability(major=8, minor=6)), Pad.MARLIN),
        (Kit(capability=Capability(major=10, minor=0)), Pad.MARLIN),
        (Kit(capability=Capability(major=12, minor=0)), Pad.MARLIN),
    ],
)
def test_the_device_decides_the_kernel(kit: Kit, pad: Pad) -> None:
    assert four.gpt_oss_pad(kit) is pad


def test_blocks_of_experts_are_made_small_enough_for_a_rank() -> None:
    scheme = Scheme(format=Format.FP8, bits=8, grain=Grain.BLOCK, block=(128, 128), inputs=Inputs.DYNAMIC)
    share = expert(hidden=2048, inner=192)

    tensors = {stored.name: stored.elements for stored in fp8.experts(scheme, share, Dtype.BF16, native=True)}

    assert tensors["w13_weight_scale"] == 2 * 6 * 32  # blocks of 64 by 64
    assert tensors["w2_weight_scale"] == 2 * 32 * 3
    with pytest.raises(UsageError, match="192"):
        fp8.experts(scheme, share, Dtype.BF16, native=False)


def test_gptq_experts_have_room_for_biases() -> None:
    scheme = Scheme(format=Format.GPTQ, bits=4, grain=Grain.GROUP, group=128)
    share = expert(hidden=256, inner=128)

    maps, scales = 3 * 256 * 128, 256 * 2 + 256
    assert size(whole.gptq_experts(scheme, share, Dtype.BF16)) == 2 * (
        maps // 2 + 2 * scales + scales // 2 + 2 * (256 + 256)
    )


def test_experts_that_marlin_does_not_take_are_kept_by_bytes() -> None:
    scheme = Scheme(format=Format.GPTQ, bits=4, grain=Grain.GROUP, group=128)
    share = expert(hidden=256, inner=192)

    assert not whole.marlin_runs(scheme, share, padded=True)
    assert size(whole.bytewise_experts(scheme, share, Dtype.BF16)) == 2 * (
        3 * 256 * 192 // 2 + 2 * (384 * 4 + 256 * 3)  # groups of 64
    )


def test_names_behind_towers_are_the_engines() -> None:
    name = renamed("model.language_model.layers.3.mlp", "Qwen3VLForConditionalGeneration")

    assert name == "language_model.model.layers.3.mlp"
    assert renamed("model.layers.3.mlp", "LlamaForCausalLM") == "model.layers.3.mlp"
