from oomph.engines.vllm.formulas.batches import Usage
from scored.words import words


def test_a_command_gives_its_flags_by_their_long_names() -> None:
    found = words("CUDA_VISIBLE_DEVICES=6,7 vllm serve M -tp 2 --max_num_seqs=8 --enforce-eager --port 8000")

    assert dict(found.flags) == {"tensor_parallel_size": 2, "max_num_seqs": 8, "enforce_eager": True}
    assert found.usage is Usage.SERVER
    assert found.whole


def test_a_negated_switch_is_off() -> None:
    found = words("vllm serve M --no-enable-prefix-caching")

    assert dict(found.flags) == {"enable_prefix_caching": False}


def test_a_command_that_was_cut_is_not_whole() -> None:
    found = words("vllm serve M --tensor-parallel-size 2 --gpu-[memory-utilization ...]")

    assert found.flags["tensor_parallel_size"] == 2
    assert not found.whole


def test_a_template_or_a_path_that_was_left_out_cuts_nothing() -> None:
    assert words("vllm serve M --chat-template ... --gpu-memory-utilization 0.9").whole
    assert words("python -m vllm.entrypoints.openai.api_server --model .../M --max-model-len=512").whole


def test_the_dict_of_a_server_is_told_from_that_of_an_offline_engine() -> None:
    server = words("{'model_tag': 'M', 'model': 'M', 'max_model_len': 4096, 'disable_log_stats': True}")
    offline = words("{'dtype': torch.bfloat16, 'disable_log_stats': True, 'model': 'M'}")

    assert server.usage is Usage.SERVER
    assert server.flags["max_model_len"] == 4096
    assert offline.usage is Usage.OFFLINE
    assert offline.flags["dtype"] == "bfloat16"


def test_a_nested_value_is_kept_as_json() -> None:
    found = words("{'model': 'M', 'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}")

    assert found.flags["speculative_config"] == '{"method": "mtp", "num_speculative_tokens": 3}'


def test_a_dict_with_dots_in_it_or_without_its_model_is_not_whole() -> None:
    assert not words("{'model': 'M', 'dtype': 'bfloat16', ...}").whole
    assert not words("{'max_model_len': 131072}").whole


def test_a_namespace_lists_defaults_and_may_lack_its_end() -> None:
    found = words("Namespace(model='M', max_model_len=None, max_num_seqs=256, f=<function serve at 0x7f>, schedu")

    assert dict(found.flags) == {"max_num_seqs": 256}
    assert found.whole


def test_a_call_is_of_an_offline_engine() -> None:
    found = words("LLM(model=path, gpu_memory_utilization=0.9, dtype='half')")

    assert dict(found.flags) == {"gpu_memory_utilization": 0.9, "dtype": "half"}
    assert found.usage is Usage.OFFLINE
    assert found.whole


def test_of_no_words_nothing_is_known() -> None:
    found = words(None)

    assert not found.flags
    assert found.usage is None
    assert not found.whole
