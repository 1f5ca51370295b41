"""Processes and variables: what is told of them, and what is kept back."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.probe import Ancestor, Process
from oomph.readers.printable import printable
from oomph.readers.processes import described, without_secrets
from oomph.readers.variables import read_variables
from oomph.units import Bytes
from readers.tree import tree


def test_a_title_that_the_kernel_cut_is_completed_and_the_parent_named(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/7/comm": "VLLM::EngineCor\n",
            "proc/7/cmdline": "VLLM::EngineCore_DP0\0\0\0",
            "proc/7/stat": "7 (VLLM) S 99 (x) S 5 7 7\n",
            "proc/5/comm": "vllm\n",
        },
    )
    process = described(Process(pid=7, holds=Bytes(3)), root)

    assert process == Process(
        pid=7,
        name="VLLM::EngineCore_DP0",
        command="VLLM::EngineCore_DP0",
        holds=Bytes(3),
        parent=5,
        parent_name="vllm",
        ancestors=(Ancestor(pid=5, name="vllm"),),
        own_namespace=True,
    )


def test_ancestors_are_named_up_to_the_first_process_and_a_circle_of_them_ends(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/9/comm": "VLLM::Worker_TP\n",
            "proc/9/stat": "9 (VLLM) S 7 9\n",
            "proc/7/comm": "VLLM::EngineCor\n",
            "proc/7/stat": "7 (VLLM) S 1 7\n",
            "proc/1/comm": "systemd\n",
            "proc/1/stat": "1 (systemd) S 0 1\n",
            "proc/3/comm": "odd\n",
            "proc/3/stat": "3 (odd) S 3 3\n",
        },
    )

    assert described(Process(pid=9), root).ancestors == (
        Ancestor(pid=7, name="VLLM::EngineCor"),
        Ancestor(pid=1, name="systemd"),
    )
    assert len(described(Process(pid=3), root).ancestors) == 8


def test_a_number_of_another_namespace_means_nobody_here(tmp_path: Path) -> None:
    root = tree(tmp_path / "with", {"proc/self/stat": "1"})

    assert described(Process(pid=7), root).own_namespace is False
    assert described(Process(pid=7), tmp_path / "without").own_namespace is None


def test_secrets_of_a_command_line_are_stars_and_the_rest_stays() -> None:
    words = ["vllm", "serve", "m", "--api-key", "abc", "def", "--max-num-batched-tokens", "8192", "--hf-token=hf_x"]
    words += ["--tokenizer", "t", "HF_TOKEN=hf_abcdefgh", "https://me:pw@host/x", "sk-abcdefgh", "--ssl-keyfile", "k"]

    assert " ".join(without_secrets(words)) == (
        "vllm serve m --api-key *** *** --max-num-batched-tokens 8192 --hf-token=*** --tokenizer t "
        "HF_TOKEN=*** https://***@host/x *** --ssl-keyfile k"
    )


def test_only_variables_that_matter_are_kept_and_no_secret_is_among_them(tmp_path: Path) -> None:
    environment = {
        "CUDA_VISIBLE_DEVICES": "GPU-1,MIG-2",
        "CUDA_DEVICE_MEMORY_LIMIT": "10g",
        "LD_PRELOAD": "/usr/local/vgpu/libvgpu.so",
        "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        "VLLM_API_KEY": "secret",
        "VLLM_USE_V1": "1",
        "HIP_VISIBLE_DEVICES": "0",
        "HOME": "h",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    kept = read_variables(environment, tmp_path)

    assert sorted(kept) == [
        "CUDA_DEVICE_MEMORY_LIMIT",
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "LD_PRELOAD",
        "PYTORCH_ALLOC_CONF",
        "VLLM_USE_V1",
    ]
    assert kept["CUDA_VISIBLE_DEVICES"] == "GPU-1,MIG-2"


def test_what_is_preloaded_and_the_door_of_mps_stand_beside_the_variables(tmp_path: Path) -> None:
    root = tree(tmp_path, {"etc/ld.so.preload": "/usr/local/vgpu/libvgpu.so\n", "run/mps/control": ""})

    assert read_variables({"CUDA_MPS_PIPE_DIRECTORY": "/run/mps"}, root) == {
        "CUDA_MPS_PIPE_DIRECTORY": "/run/mps",
        "/etc/ld.so.preload": "/usr/local/vgpu/libvgpu.so",
        "/run/mps/control": "there",
    }


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_what_is_printable_is_one_short_line_and_stays_so(text: str, longest: int) -> None:
    once = printable(text, longest)

    assert once.isprintable()
    assert len(once) <= longest
    assert printable(once, longest) == once


@given(st.lists(st.text(min_size=1), max_size=6))
def test_no_word_after_a_flag_for_a_key_gets_through(words: list[str]) -> None:
    values = [f"v{word}" for word in words]

    assert list(without_secrets(["--api-key", *values])) == ["--api-key", *["***"] * len(values)]
