"""Commands as guides and threads print them: each is read, or refused with the right words."""

import re
from pathlib import Path

import pytest

from oomph.engines.history import release
from oomph.errors import OomphError, UnknownFlag
from oomph.readers.command import Command
from oomph.readers.command_line import read_command
from oomph.readers.python_text import CALL

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
SCRIPT = """#!/bin/bash
set -e
export CUDA_VISIBLE_DEVICES=0,1,2,3
export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"

MODEL_PATH="/data/models/Qwen2-72B-Instruct"
TP_SIZE=4
GPU_MEMORY_UTILIZATION=0.88   # A100 80GB

python -m vllm.entrypoints.openai.api_server \\
    --model $MODEL_PATH \\
    --tensor-parallel-size $TP_SIZE \\
    --gpu-memory-utilization $GPU_MEMORY_UTILIZATION \\
    --swap-space 8 \\
    --disable-log-requests \\
    --enable-chunked-prefill \\
    --max-num-on-the-fly-batches 4 \\
    2>&1 | tee -a vllm_$(date +%Y%m%d).log
"""


def test_a_startup_script_is_read_once_the_flag_that_never_existed_is_gone() -> None:
    command = read_command([SCRIPT.replace("    --max-num-on-the-fly-batches 4 \\\n", "")], release("0.6.0"))

    assert command.model == "/data/models/Qwen2-72B-Instruct"
    assert dict(command.flags) == {
        "tensor_parallel_size": 4,
        "gpu_memory_utilization": 0.88,
        "swap_space": 8.0,
        "disable_log_requests": True,
        "enable_chunked_prefill": True,
        "CUDA_VISIBLE_DEVICES": "0,1,2,3",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    }
    assert command.gpus == 4


def test_a_startup_script_is_refused_with_all_that_is_wrong_with_it() -> None:
    with pytest.raises(UnknownFlag) as refused:
        read_command([SCRIPT], release("0.19.1"))

    swap, log, batches = str(refused.value).splitlines()
    assert swap.startswith("vLLM 0.19.1 has no --swap-space: it was removed in 0.18.0; blocks are no longer swapped")
    assert "--disable-log-requests: it was removed in 0.17.0; requests are no longer logged" in log
    assert "no release of vLLM has --max-num-on-the-fly-batches: batches in flight cannot be set" in batches


def test_capitals_in_the_name_of_a_module_are_told() -> None:
    command = read_command(["python -m vllM.entrypoints.openai.api_server --model m --cpu-offload-gb 20"])

    assert dict(command.flags) == {"cpu_offload_gb": 20.0}
    assert "Python tells capitals from small letters" in command.notes[0]


def starts(text: str) -> list[str]:
    """Every piece of a page that starts an engine, as somebody would copy it."""
    shell = re.findall(r"^(?:python -m vll[mM]|vllm serve)(?:[^\n]*\\\n)*[^\n]*", text, re.MULTILINE)
    python = [text[found.start() :].partition("\n)")[0] + "\n)" for found in CALL.finditer(text)]
    flags = re.findall(r"(?:^ {8}--[^\n]*\n)+", text, re.MULTILINE)
    return [*shell, *python, *flags]


def outcome(text: str, name: str) -> Command | str:
    try:
        return read_command([text], release(name))
    except OomphError as refused:
        return str(refused)


@pytest.mark.skipif(not SEEDS.exists(), reason="the seeds are not beside this checkout")
def test_every_command_of_the_seeds_is_read_or_refused_with_the_right_words() -> None:
    pages = [file.read_text(encoding="utf-8") for file in sorted(SEEDS.glob("*.txt"))]
    found = [piece for page in pages for piece in starts(page)]
    outcomes = {piece: outcome(piece, "0.19.1") for piece in found}
    refused = sorted({said for said in outcomes.values() if isinstance(said, str)})

    assert len(outcomes) >= 15
    assert refused == ["--model $MODEL_PATH: what $MODEL_PATH holds is not known here (write the value)"]
    assert all(command.flags for command in outcomes.values() if isinstance(command, Command))


@pytest.mark.skipif(not SEEDS.exists(), reason="the seeds are not beside this checkout")
def test_the_script_of_the_seeds_is_read_as_it_stands() -> None:
    (page,) = [text for file in SEEDS.glob("*.txt") if "#!/bin/bash" in (text := file.read_text(encoding="utf-8"))]
    script = page.partition("#!/bin/bash")[2].partition("Key parameters")[0]

    assert "no --swap-space" in str(outcome(script, "0.19.1"))
    assert "no release of vLLM has --max-num-on-the-fly-batches" in str(outcome(script, "0.6.0"))
    read = outcome(script.replace("--max-num-on-the-fly-batches 4 ", ""), "0.6.0")
    assert isinstance(read, Command)
    assert (read.gpus, read.flags["max_num_batched_tokens"], read.flags["VLLM_ATTENTION_BACKEND"]) == (
        4,
        24_576,
        "FLASH_ATTN",
    )
