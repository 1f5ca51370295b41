"""What flags change of what a model keeps: its own format, drafts that keep something, ranks that divide tokens."""

from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm import kv
from oomph.engines.vllm.resolve import resolve
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.settings import Flags, Value

GPU, NEWEST = CATALOGUE["h100-80gb"], release("0.32.0")
MIMO = geometry(
    {
        "architectures": ["MiMoForCausalLM"],
        "torch_dtype": "bfloat16",
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
        "max_position_embeddings": 4096,
        "num_nextn_predict_layers": 1,
    }
)
PAGE = 16 * 2 * 2 * 32 * 2  # tokens, keys and values, heads, their width, bytes


def kept(**flags: Value) -> kv.Kept:
    settings = resolve(Flags(flags), device=GPU, release=NEWEST, context_tokens=4096)
    return kv.kept(MIMO, Flags(flags), settings, device=GPU, release=NEWEST)


def pages(**flags: Value) -> list[int]:
    return [cache.page for cache in kept(**flags).layers.values()]


def test_keys_and_values_are_as_wide_as_the_model_is_served() -> None:
    assert pages() == pages(dtype="half") == [PAGE] * 4
    assert pages(dtype="float32") == [2 * PAGE] * 4
    assert pages(dtype="float32", kv_cache_dtype="bfloat16") == [PAGE] * 4


def test_only_a_draft_that_attends_keeps_something() -> None:
    def guessing(method: str) -> list[int]:
        return pages(speculative_config=f'{{"method": "{method}", "model": "a/b", "num_speculative_tokens": 2}}')

    assert guessing("mtp") == guessing("eagle3") == [PAGE] * 5
    assert guessing("ngram") == guessing("suffix") == [PAGE] * 4


def test_ranks_that_divide_the_tokens_of_a_request_are_passed_on() -> None:
    assert kept().limits.decode_ranks == 1
    assert kept(tensor_parallel_size=2, decode_context_parallel_size=2).limits.decode_ranks == 2
