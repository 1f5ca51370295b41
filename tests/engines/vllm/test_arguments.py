import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.vllm.arguments import read_arguments


def test_what_is_not_default_is_read_with_its_types() -> None:
    model, flags = read_arguments(
        "{'model_tag': 'a/b', 'model': 'a/b', 'max_num_seqs': 64, 'enforce_eager': True, 'gpu_memory_utilization': 0.8,"
        " 'speculative_config': {'num_speculative_tokens': 2, 'method': 'mtp'}, 'cudagraph_capture_sizes': [1, 2, 4]}"
    )

    assert model == "a/b"
    assert flags["max_num_seqs"] == 64
    assert flags["enforce_eager"] is True
    assert flags["gpu_memory_utilization"] == 0.8
    assert flags["cudagraph_capture_sizes"] == (1, 2, 4)
    assert json.loads(str(flags["speculative_config"])) == {"method": "mtp", "num_speculative_tokens": 2}


def test_old_releases_print_everything_and_what_is_none_was_not_given() -> None:
    model, flags = read_arguments(
        "Namespace(subparser='serve', model_tag='a/b', host=None, model='a/b', quantization=None, max_num_seqs=256, "
        "dispatch_function=<function ServeSubcommand.cmd at 0x7f>)"
    )

    assert model == "a/b"
    assert dict(flags) == {"max_num_seqs": 256}


@pytest.mark.parametrize("name", ["api_key", "hf_token"])
def test_secrets_are_left_out(name: str) -> None:
    _, flags = read_arguments(f"{{'model': 'm', '{name}': ['sk-1234'], 'port': 8000}}")

    assert "sk-1234" not in repr(flags)
    assert flags["port"] == 8000


def test_what_is_no_literal_is_kept_as_its_text_and_not_taken_for_absent() -> None:
    _, flags = read_arguments("{'compilation_config': CompilationConfig(level=3, mode=<Mode.A: 3>), 'port': 1}")

    assert flags["compilation_config"] == "CompilationConfig(level=3, mode=<Mode.A: 3>)"
    assert flags["port"] == 1


def test_the_last_of_arguments_that_are_cut_off_is_not_believed() -> None:
    _, flags = read_arguments("{'max_num_seqs': 64, 'max_model_len': 3276")

    assert dict(flags) == {"max_num_seqs": 64}


def test_quotes_and_commas_within_values_do_not_end_them() -> None:
    _, flags = read_arguments("{'chat_template': 'it\\'s, {{ a }}', 'served_model_name': ['a, b'], 'max_num_seqs': 2}")

    assert flags["max_num_seqs"] == 2
    assert flags["chat_template"] == "it's, {{ a }}"


@given(st.text(alphabet="{}()[]',:=\\\"-a1 \n", max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    _, flags = read_arguments("{'max_num_seqs': 3, " + text)

    assert flags.get("max_num_seqs") is not None


def test_nothing_is_run_and_deep_nesting_does_no_harm() -> None:
    _, flags = read_arguments("{'max_num_seqs': __import__('os').getpid(), 'port': " + "[" * 5_000 + "]" * 5_000 + "}")

    assert flags["max_num_seqs"] == "__import__('os').getpid()"
