"""Small models that tests of the whole way up are made with."""

from oomph.architectures.registry import geometry
from oomph.engines.vllm.model import Model
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.units import GIB, Bounds

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "max_position_embeddings": 131_072,
}
ROUTED = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 151_936,
    "max_position_embeddings": 40_960,
}
HYBRID = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "dtype": "bfloat16",
    "vision_config": {
        "depth": 1,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 4,
        "num_position_embeddings": 64,
        "out_hidden_size": 5120,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "in_channels": 3,
        "deepstack_visual_indexes": [],
    },
    "text_config": {
        "head_dim": 256,
        "hidden_size": 5120,
        "intermediate_size": 17_408,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "linear_value_head_dim": 128,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 262_144,
        "mtp_num_hidden_layers": 1,
        "num_attention_heads": 24,
        "num_hidden_layers": 64,
        "num_key_value_heads": 4,
        "vocab_size": 248_320,
    },
}


def weighing(gib: float) -> Entry:
    """Weights as somebody measured them."""
    return Entry(account=Account.WEIGHTS, size=Bounds(round(gib * GIB)), basis=Basis.OBSERVED, because="measured")


def llama(gib: float | None = None) -> Model:
    """Llama 3.1 8B."""
    return Model(name="llama", geometry=geometry(LLAMA), weights=None if gib is None else weighing(gib))


def hybrid(gib: float | None = 18.47) -> Model:
    """Qwen 3.6 27B, as heavy as in the first crash."""
    return Model(name="hybrid", geometry=geometry(HYBRID), weights=None if gib is None else weighing(gib))
