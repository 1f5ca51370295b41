"""Latent attention that picks its tokens: DeepSeek V3.2, GLM-5 and its successors.

Knows the indexer, which keeps keys in a cache of its own, and which layers borrow the picks of an earlier one. Does not
know models that compress tokens before they pick (`compressed.py`).
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import latent
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry
from oomph.ledger.weights import Divide, Piece, Vector, matrix


def indexer(config: Config, *, name: str = "self_attn.indexer") -> tuple[Piece, ...]:
    """Its queries, its keys and the weights of its heads, all kept whole by every rank."""
    hidden, heads, dim = (config.whole(each) for each in ("hidden_size", "index_n_heads", "index_head_dim"))
    return (
        matrix(f"{name}.wq_b", config.whole("q_lora_rank"), heads * dim, divide=Divide.NOT),
        matrix(
            f"{name}.wk_weights_proj",
            hidden,
            dim,
            heads,
            divide=Divide.NOT,
            plain=True,
            sources=(f"{name}.wk", f"{name}.weights_proj"),
        ),
        Vector(name=f"{name}.k_norm.weight", size=dim, dtype=Dtype.F32),
        Vector(name=f"{name}.k_norm.bias", size=dim, dtype=Dtype.F32),
    )


def picks(config: Config, index: int) -> bool:
    """Whether a layer picks for itself: by a letter per layer, or every so-manieth after the first few.

    models/deepseek_v32/attention.py; `indexer_types` says the same and is not read there.
    """
    config.whole("index_topk")  # without it there is no sparse attention, and vLLM fails
    name = "index_topk_pattern"
    letters = config.raw(name)
    if letters is not None:
        if not isinstance(letters, str | list):
            raise config.refusal(name, "a letter per layer was expected")
        return index >= len(letters) or letters[index] != "S"
    step = config.whole("index_topk_freq", default=1)
    after = config.whole("index_skip_topk_offset", default=2, least=0)
    return max(index - after + 1, 0) % step == 0


GLM_MEANS: Final = latent.V3_MEANS | {  # transformers: GlmMoeDsaConfig
    "vocab_size": 154880,
    "hidden_size": 6144,
    "intermediate_size": 12288,
    "num_hidden_layers": 78,
    "num_attention_heads": 64,
    "q_lora_rank": 2048,
    "qk_nope_head_dim": 192,
    "v_head_dim": 256,
    "max_position_embeddings": 202752,
    "num_nextn_predict_layers": None,
    "index_topk": 2048,
    "index_n_heads": 32,
    "index_head_dim": 128,
}

V32: Final = latent.Build(means=latent.V3_MEANS, family="sparse", indexes=picks, indexer=indexer)
GLM: Final = latent.Build(means=GLM_MEANS, family="sparse", indexes=picks, indexer=indexer)

ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "DeepseekV32ForCausalLM": lambda config: latent.read(config, V32),
    "GlmMoeDsaForCausalLM": lambda config: latent.read(config, GLM),
}
