"""What is written for a shell is read back as the same flags: by our own readers, and by a real shell."""

import shlex
import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import HealthCheck, given, settings

from oomph.engines.history import release
from oomph.errors import UnknownFlag, UsageError
from oomph.ledger.command import Command
from oomph.readers.command_line import read_command
from oomph.write.manifest.forms import Form, written
from oomph.write.manifest.words import arguments, environment
from write.manifest.proposals import ODD, commands, heard, made, told


@given(commands())
def test_a_shell_line_says_what_was_meant(command: Command) -> None:
    read = read_command([written(command, Form.VLLM)], release(command.release))

    assert read.model == command.model
    assert heard(read.flags) == heard(told(command))


@given(commands())
def test_a_docker_line_says_what_was_meant_and_the_release_too(command: Command) -> None:
    read = read_command([written(command, Form.DOCKER)])

    assert str(read.release) == command.release
    assert read.model == command.model
    assert heard(read.flags) == heard(told(command))


@given(command=commands())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_real_shell_splits_the_lines_into_the_same_words(command: Command, tmp_path: Path) -> None:
    line = written(command, Form.VLLM)
    file = tmp_path / "vllm.env"
    file.write_text(written(command, Form.ENV), encoding="utf-8")
    show = "printf '%s\\0' \"$VLLM_SOMETHING\" "
    script = f'vllm() {{ {show} "$@"; }}\n{line}\nset -a; . {shlex.quote(str(file))}; eval "vllm serve $MODEL $FLAGS"'
    said = subprocess.run([which("bash") or "bash", "-c", script], capture_output=True, check=True).stdout.decode()
    words = ["serve", command.model, *(word for flag in arguments(command) for word in flag)]

    assert said.split("\0")[:-1] == 2 * [environment(command).get("VLLM_SOMETHING", ""), *words]


@given(command=commands())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_config_file_says_what_was_meant_or_is_refused(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "vllm.yaml"
    try:
        file.write_text(written(command, Form.CONFIG), encoding="utf-8")
    except UsageError:
        assert command.flags
        return
    words = [] if "\nmodel: " in file.read_text(encoding="utf-8") else [command.model]
    before = [f"{name}={value}" for name, value in environment(command).items()]
    read = read_command([*before, "vllm", "serve", *words, "--config", str(file)], release(command.release))

    assert read.model == command.model
    assert heard(read.flags) == heard(told(command))


def test_a_short_command_is_one_line_and_a_long_one_has_a_line_for_each_flag() -> None:
    assert written(made({"max_model_len": 8192}), Form.VLLM) == "vllm serve org/m --max-model-len 8192\n"
    assert written(
        made(
            {
                "tensor_parallel_size": 2,
                "gpu_memory_utilization": 0.85,
                "enable_prefix_caching": False,
                "enforce_eager": True,
                "speculative_config": '{"method": "mtp"}',
                "cudagraph_capture_sizes": (1, 2, 4),
                "max_num_seqs": None,
                "VLLM_USE_V1": True,
            }
        ),
        Form.VLLM,
    ) == (
        "VLLM_USE_V1=1 vllm serve org/m \\\n"
        "  --tensor-parallel-size 2 \\\n"
        "  --gpu-memory-utilization 0.85 \\\n"
        "  --no-enable-prefix-caching \\\n"
        "  --enforce-eager \\\n"
        '  --speculative-config \'{"method": "mtp"}\' \\\n'
        "  --cudagraph-capture-sizes 1 2 4\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("0.6.0", False, ()),  # no negation yet, and off without being named
        ("0.6.0", True, ("--enable-prefix-caching",)),
        ("0.6.5", False, ("--no-enable-prefix-caching",)),
    ],
)
def test_a_switch_is_spelled_as_its_release_spells_it(name: str, *, value: bool, words: tuple[str, ...]) -> None:
    assert sum(arguments(made({"enable_prefix_caching": value}, name=name)), ()) == words


def test_a_switch_that_took_a_word_is_given_it() -> None:
    assert arguments(made({"enable_chunked_prefill": False}, name="0.8.0")) == (("--enable-chunked-prefill", "False"),)
    assert arguments(made({"enable_chunked_prefill": False}, name="0.8.5")) == (("--no-enable-chunked-prefill",),)


def test_a_value_that_looks_like_a_flag_is_joined_to_its_own() -> None:
    assert arguments(made({"tokenizer": "-x", "seed": -1})) == (("--tokenizer=-x",), ("--seed", "-1"))
    with pytest.raises(UsageError, match="begin with a dash"):
        arguments(made({"served_model_name": "a -b"}))


@pytest.mark.parametrize(
    ("name", "flag", "said"),
    [
        ("0.19.1", "swap_space", "--kv-offloading-size"),
        ("0.19.1", "cuda_graph_sizes", "--cudagraph-capture-sizes"),
        ("0.10.2", "cudagraph_capture_sizes", "came with 0.11.1"),
        ("0.19.1", "max_model", "did you mean --max-model-len"),
        ("0.19.1", "max_nun_seqs", "did you mean --max-num-seqs"),
    ],
)
def test_a_flag_that_the_release_does_not_have_is_refused_with_what_to_write(name: str, flag: str, said: str) -> None:
    with pytest.raises(UnknownFlag, match=said):
        written(made({flag: 4}, name=name), Form.VLLM)


@pytest.mark.parametrize("form", Form)
def test_no_secret_is_ever_written(form: Form) -> None:
    assert "hush" not in written(made({"api_key": "hush", "hf_token": "hush", "max_num_seqs": 8}), form)


def test_what_is_no_name_of_a_variable_never_reaches_a_shell() -> None:
    with pytest.raises(UsageError, match="no name of a variable"):
        written(made({"A;B": "1"}), Form.VLLM)


def test_a_model_cannot_leave_its_comment_or_its_quotes() -> None:
    odd = made({}, model=f"org/{ODD}\nrm -rf x")

    for form in (Form.PYTHON, Form.COMPOSE, Form.KUBERNETES, Form.CONFIG):
        assert "\nrm" not in written(odd, form)
    assert shlex.split(written(odd, Form.VLLM)) == ["vllm", "serve", odd.model]


def test_a_form_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="vllm, docker, compose, kubernetes, python, env, config"):
        written(made({}), "helm")


@pytest.mark.parametrize("form", Form)
def test_the_same_command_is_always_written_the_same(form: Form) -> None:
    command = made({"max_model_len": 8192, "VLLM_X": "1"})

    assert written(command, form) == written(command, str(form))
    assert written(command, form).endswith("\n")
