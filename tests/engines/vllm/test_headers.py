"""A checkpoint's headers and its config speak of the same bytes."""

import json
import struct
from pathlib import Path

import pytest

from oomph.architectures.registry import geometry
from oomph.cli.main import main
from oomph.engines.vllm.weights.headers import held
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.ledger.checkpoint import Checkpoint, Tensor
from oomph.ledger.dtype import Dtype

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,  # padded to 1,024
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def shapes(*, layers: int = 3, vocabulary: int = 1000) -> dict[str, tuple[int, ...]]:
    """Every tensor of that model by hand, as checkpoints name them."""
    layer = {
        "self_attn.q_proj": (64, 64),
        "self_attn.k_proj": (16, 64),
        "self_attn.v_proj": (16, 64),
        "self_attn.o_proj": (64, 64),
        "mlp.gate_proj": (160, 64),
        "mlp.up_proj": (160, 64),
        "mlp.down_proj": (64, 160),
        "input_layernorm": (64,),
        "post_attention_layernorm": (64,),
    }
    found = {f"model.layers.{index}.{name}.weight": shape for index in range(layers) for name, shape in layer.items()}
    return found | {
        "model.embed_tokens.weight": (vocabulary, 64),
        "model.norm.weight": (64,),
        "lm_head.weight": (vocabulary, 64),
    }


def checkpoint(tensors: dict[str, tuple[int, ...]]) -> Checkpoint:
    return Checkpoint(tuple(Tensor(name=name, dtype=Dtype.BF16, shape=shape) for name, shape in tensors.items()))


@pytest.mark.parametrize("vocabulary", [1000, 1024, 1025])
def test_headers_and_config_give_the_same_bytes(vocabulary: int) -> None:
    shape = geometry(LLAMA | {"vocab_size": vocabulary})

    assert held(checkpoint(shapes(vocabulary=vocabulary)), shape) == total(shape, Ranks())


def test_a_head_that_is_the_table_of_words_again_is_not_counted_twice() -> None:
    tied = geometry(LLAMA | {"tie_word_embeddings": True})

    assert held(checkpoint(shapes()), tied) == total(tied, Ranks())


def test_rope_caches_and_drafts_are_passed_over() -> None:
    extra = {"model.layers.0.self_attn.rotary_emb.inv_freq": (4,), "mtp.fc.weight": (64, 128)}

    assert held(checkpoint(shapes() | extra), geometry(LLAMA)) == total(geometry(LLAMA), Ranks())


def test_a_plan_of_a_folder_says_when_checkpoint_and_config_disagree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def plan(layers: int) -> str:
        offset, header = 0, {}
        for name, shape in shapes(layers=layers).items():
            size = Tensor(name=name, dtype=Dtype.BF16, shape=shape).size
            header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [offset, offset + size]}
            offset += size
        text = json.dumps(header).encode()
        (tmp_path / "config.json").write_text(json.dumps(LLAMA))
        (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(offset))
        main(["plan", "--gpu", "24GiB", str(tmp_path)])
        return capsys.readouterr().out

    assert "its config speaks of" not in plan(3)
    assert "- the checkpoint holds" in plan(2)
