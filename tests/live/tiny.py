"""Writes a tiny model that vLLM can serve: Qwen3 with random weights and 512 words, needing neither a hub nor torch.

Knows the files of a checkpoint. Does not know what is done with it.
"""

import json
import random
import shutil
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scouting.trees import home

LENGTH: Final = 4096  # the longest context that the model claims
WORDS: Final = 512
LAYERS: Final = 2
HEADS: Final = 4
KV_HEADS: Final = 2
HEAD_DIM: Final = 32  # the smallest that the attention of vLLM's CPU build takes
HIDDEN: Final = 128
INNER: Final = 256

_CONFIG: Final = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": WORDS,
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "max_position_embeddings": LENGTH,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "dtype": "float32",
}
_SPECIAL: Final = ("<s>", "</s>", "<unk>")
_CHAT: Final = "{% for message in messages %}{{ message['content'] }} {% endfor %}"


def tiny() -> Path:
    """The folder of the model; made once, and kept beside the engines."""
    folder = home() / "models" / "tiny-qwen3-1"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".tiny-"))
        _write(scratch)
        try:
            scratch.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(scratch)
    return folder


def _write(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(_CONFIG, indent=2))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    named = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    words = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LENGTH, "chat_template": _CHAT}
    (folder / "tokenizer_config.json").write_text(json.dumps({**words, **named}))
    (folder / "model.safetensors").write_bytes(_checkpoint())


def _tokenizer() -> dict[str, object]:
    """One word, one token: every answer has something to show for each of its tokens."""
    words = [*_SPECIAL, *(f"w{number}" for number in range(len(_SPECIAL), WORDS))]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": word, **plain} for number, word in enumerate(_SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(words)},
            "unk_token": "<unk>",
        },
    }


def _tensors() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "model.embed_tokens.weight", (WORDS, HIDDEN)
    yield "model.norm.weight", (HIDDEN,)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        yield f"{at}.input_layernorm.weight", (HIDDEN,)
        yield f"{at}.post_attention_layernorm.weight", (HIDDEN,)
        yield f"{at}.self_attn.q_proj.weight", (HEADS * HEAD_DIM, HIDDEN)
        yield f"{at}.self_attn.k_proj.weight", (KV_HEADS * HEAD_DIM, HIDDEN)
        yield f"{at}.self_attn.v_proj.weight", (KV_HEADS * HEAD_DIM, HIDDEN)
        yield f"{at}.self_attn.o_proj.weight", (HIDDEN, HEADS * HEAD_DIM)
        yield f"{at}.self_attn.q_norm.weight", (HEAD_DIM,)
        yield f"{at}.self_attn.k_norm.weight", (HEAD_DIM,)
        yield f"{at}.mlp.gate_proj.weight", (INNER, HIDDEN)
        yield f"{at}.mlp.up_proj.weight", (INNER, HIDDEN)
        yield f"{at}.mlp.down_proj.weight", (HIDDEN, INNER)


def _checkpoint() -> bytes:
    """A safetensors file: the length of the header, the header, then the numbers."""
    chance = random.Random(0)  # noqa: S311 - weights, not secrets
    header: dict[str, object] = {}
    numbers = array("f")
    for name, shape in _tensors():
        begin = 4 * len(numbers)
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        numbers.extend(1.0 if len(shape) == 1 else chance.gauss(0, 0.05) for _ in range(count))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, 4 * len(numbers)]}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers.tobytes()
