import shlex

import pytest

from oomph.engines.history import release
from oomph.errors import UnknownFlag, UsageError
from oomph.ledger.settings import Value
from oomph.readers.command_line import read_command

SERVER = "vllm.entrypoints.openai.api_server"
R0191 = release("0.19.1")


def read(line: str) -> tuple[str | None, dict[str, Value]]:
    command = read_command(shlex.split(line), R0191)
    return command.model, dict(command.flags)


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve Qwen/Qwen3-8B --max-model-len 32k --enforce-eager -tp 2",
        f"python -m {SERVER} --model Qwen/Qwen3-8B --max-model-len=32000 -tp=2 --enforce-eager",
        f"python3 -m {SERVER} --model Qwen/Qwen3-8B --max_model_len 32000 -tp 2 --enforce-eager",
        "Qwen/Qwen3-8B -tp 2 --enforce-eager --max-model-len 32k",
    ],
)
def test_the_same_start_in_four_spellings(line: str) -> None:
    model, flags = read(line)

    assert model == "Qwen/Qwen3-8B"
    assert {name: value for name, value in flags.items() if name != "model"} == {
        "max_model_len": 32000,
        "enforce_eager": True,
        "tensor_parallel_size": 2,
    }


def test_values_come_out_as_vllm_would_read_them() -> None:
    _, flags = read(
        "vllm serve m --cudagraph-capture-sizes 1 2 4 --no-enable-prefix-caching --gpu-memory-utilization .9 "
        '--speculative-config \'{"method": "mtp"}\' --max-model-len auto --kv-cache-dtype fp8'
    )

    assert flags == {
        "cudagraph_capture_sizes": (1, 2, 4),
        "enable_prefix_caching": False,
        "gpu_memory_utilization": 0.9,
        "speculative_config": '{"method": "mtp"}',
        "max_model_len": -1,
        "kv_cache_dtype": "fp8",
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("vllm serve m --max-num-seqs", "--max-num-seqs needs a value: a whole number"),
        ("vllm serve m --max-num-seqs --enforce-eager", "--max-num-seqs needs a value"),
        ("vllm serve m --max-num-seqs many", "--max-num-seqs many: vLLM takes a whole number here"),
        ("vllm serve m --max-model-len 1.5K", "--max-model-len 1.5K: vLLM takes a whole number"),
        ("vllm serve one two", "two models are named: 'one' and 'two'"),
    ],
)
def test_a_slip_is_refused_with_what_was_met(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(line)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("--enable-chunked-prefill", True),
        ("--no-enable-chunked-prefill", False),
        ("--enable-chunked-prefill False", False),
        ("--enable-chunked-prefill=true", True),
    ],
)
def test_a_switch_says_yes_or_no(word: str, value: object) -> None:
    assert read(f"vllm serve m {word} --max-num-seqs 4")[1] == {"enable_chunked_prefill": value, "max_num_seqs": 4}


def test_a_switch_says_nothing_else() -> None:
    with pytest.raises(UsageError, match="a switch says only true or false"):
        read("vllm serve m --enforce-eager=maybe")


def test_a_flag_of_another_release_is_refused() -> None:
    with pytest.raises(UnknownFlag, match="removed in 0"):
        read("vllm serve m --swap-space 16")
