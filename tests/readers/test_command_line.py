import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oomph.engines.history import release
from oomph.engines.vllm.flags.find import FLAGS
from oomph.errors import OomphError, UnknownFlag, UsageError
from oomph.ledger.settings import Value
from oomph.readers.command import Command
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
    assert flags == {"max_model_len": 32000, "enforce_eager": True, "tensor_parallel_size": 2}


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
    ("word", "text", "value"),
    [
        ("--enable-chunked-prefill", "0.19.1", True),
        ("--no-enable-chunked-prefill", "0.19.1", False),
        ("--enable-chunked-prefill", "0.8.4", True),
        ("--enable-chunked-prefill False", "0.8.4", False),
        ("--enable-chunked-prefill=true", "0.8.4", True),
    ],
)
def test_a_switch_says_yes_or_no(word: str, text: str, value: object) -> None:
    command = read_command(shlex.split(f"vllm serve m {word} --max-num-seqs 4"), release(text))

    assert dict(command.flags) == {"enable_chunked_prefill": value, "max_num_seqs": 4}


@pytest.mark.parametrize(
    ("word", "text", "why"),
    [
        ("--enforce-eager=maybe", "0.19.1", "a switch takes no word in vLLM 0.19.1 (write --enforce-eager, or --no-"),
        ("--enable-chunked-prefill True", "0.19.1", "a switch takes no word in vLLM 0.19.1"),
        ("--enable-chunked-prefill perhaps", "0.8.4", "a switch says only true or false"),
        ("--headless true", "0.19.1", "or leave it out"),
    ],
)
def test_a_switch_says_nothing_else(word: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        read_command(shlex.split(f"vllm serve m {word}"), release(text))


def test_a_flag_of_another_release_is_refused() -> None:
    with pytest.raises(UnknownFlag, match="removed in 0"):
        read("vllm serve m --swap-space 16")


@pytest.mark.parametrize(
    ("word", "text", "key", "value"),
    [
        ("-O3", "0.8.5", "compilation_config", "3"),
        ("-O 3", "0.10.2", "compilation_config", '{"level": 3}'),
        ("-O3", "0.11.2", "compilation_config", '{"mode": 3}'),
        ("-O.use_inductor=false", "0.12.0", "compilation_config", '{"use_inductor": false}'),
        ("-O2", "0.12.0", "optimization_level", 2),
        ("-O=1", "0.32.0", "optimization_level", 1),
        ("-cc.cudagraph_mode=NONE -cc.pass_config.fuse True", "0.32.0", "compilation_config",
         '{"cudagraph_mode": "NONE", "pass_config": {"fuse": "True"}}'),
        ("-cc.sizes+ 1,2 -cc.sizes+=4", "0.32.0", "compilation_config", '{"sizes": ["1", "2", "4"]}'),
        ("--kv-transfer-config.bytes 80g", "0.20.0", "kv_transfer_config", '{"bytes": 80000000000}'),
        ("--kv-transfer-config.bytes 80g", "0.19.1", "kv_transfer_config", '{"bytes": "80g"}'),
        ('-cc \'{"mode": 0}\' -cc.level=3', "0.32.0", "compilation_config", '{"level": 3}'),
        ("-qawq", "0.19.1", "quantization", "awq"),
        ("-t 2", "0.19.1", "tensor_parallel_size", 2),
        ("--tensor_parallel 2", "0.19.1", "tensor_parallel_size", 2),
        ("--kv-cache-memory=8G", "0.19.1", "kv_cache_memory_bytes", 8 << 30),
        ("--max-model-len 32k", "0.8.4", "max_model_len", 32_000),
        ("--quantization None --max-num-seqs 1", "0.19.1", "max_num_seqs", 1),
        ("--served-model-name a b --max-num-seqs 1", "0.19.1", "served_model_name", "a b"),
    ],
)  # fmt: skip
def test_words_are_taken_as_the_release_takes_them(word: str, text: str, key: str, value: object) -> None:
    command = read_command(shlex.split(f"vllm serve m {word}"), release(text))

    assert command.model == "m"
    assert command.flags[key] == value


@pytest.mark.parametrize(
    ("word", "text", "why"),
    [
        ("--max-model-len 32k", "0.8.3", "--max-model-len 32k: vLLM takes a whole number here"),
        ("--max-model-len auto", "0.13.0", "vLLM takes a whole number"),
        ("--gpu-memory-utilization 1.5", "0.19.1", "a share of the device's memory, above 0 and at most 1"),
        ("--kv-cache-dtype nvfp4", "0.19.1", "not one of what vLLM 0.19.1 takes: auto, float16"),
        ("--kv-cache-dtype fp8_e4m", "0.19.1", "did you mean fp8_e4m3?"),
        ("--dtype float17", "0.19.1", "did you mean float16?"),
        ("--block-size 256", "0.11.0", "not one of what vLLM 0.11.0 takes: 1, 8, 16, 32, 64, 128"),
        ("--speculative-config '{method: mtp}'", "0.19.1", "not JSON (did a shell take its quotes away?"),
        ("--max-model-len --enforce-eager", "0.19.1", "--max-model-len needs a value"),
        ("-cc.level", "0.19.1", "-cc.level needs a value"),
        ("--tensor-parallel-size 0", "0.19.1", "at least 1 is needed"),
    ],
)
def test_values_that_the_release_refuses_are_refused(word: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        read_command(shlex.split(f"vllm serve m {word}"), release(text))


def test_what_was_cut_short_or_said_twice_is_told() -> None:
    command = read_command(shlex.split("vllm serve m --tensor-parallel 2 --max-num-seqs 4 --max-num-seqs 8 ..."), R0191)

    assert command.flags["max_num_seqs"] == 8
    assert command.notes == (
        "--tensor-parallel was read as --tensor-parallel-size",
        "--max-num-seqs is given more than once: the last one counts",
        "what … stands for is not known, and was left out",
    )


def test_secrets_are_not_kept() -> None:
    command = read_command(shlex.split("vllm serve m --api-key sk-1 --hf-token hf_1 --port 80"), R0191)

    assert dict(command.flags) == {"port": 80}


@pytest.mark.parametrize(("text", "model"), [("0.11.1", "m"), ("0.32.0", "m")])
def test_the_model_may_follow_its_flag_where_the_release_allows_it(text: str, model: str) -> None:
    assert read_command(shlex.split("vllm serve --model m -tp 2"), release(text)).model == model


def test_the_model_is_a_word_of_its_own_before() -> None:
    with pytest.raises(UsageError, match="takes no --model"):
        read_command(shlex.split("vllm serve --model m"), release("0.11.0"))


WORDS = st.lists(
    st.sampled_from(
        [*(name for flag in FLAGS for name in flag.names(R0191)), "vllm", "serve", "docker", "run", "python"]
    )
    | st.sampled_from(
        ["-m", "-e", "--", "-", "=", "$X", "${", "$(", "`", "'", '"', "{", "(", "LLM(", "\\", "–tp", "“", "<x>"]
    )
    | st.text(max_size=12),
    max_size=8,
)


def outcome(words: list[str]) -> Command | str:
    try:
        return read_command(words, R0191)
    except OomphError as refused:
        return str(refused)


@settings(max_examples=400)
@given(WORDS)
def test_words_are_read_or_refused_and_nothing_else(words: list[str]) -> None:
    assert outcome(words)


@settings(max_examples=400)
@given(WORDS)
def test_a_text_is_read_or_refused_and_nothing_else(words: list[str]) -> None:
    assert outcome([" ".join(words)])


SANE = st.lists(
    st.sampled_from(["--max-num-seqs=4", "--enforce-eager", "-tp=2", "--seed=-1", '--hf-overrides={"a": [1, "$b"]}'])
    | st.text(st.sampled_from("ab9 '\"${}|&;<>()*?#~`=/.,:\\\n"), min_size=1, max_size=8).map(
        "--chat-template={}".format
    ),
    max_size=6,
)


@given(SANE)
def test_quoting_a_command_and_reading_it_gives_the_same(flags: list[str]) -> None:
    words = ["vllm", "serve", "org/model", *flags]

    assert read_command([shlex.join(words)], R0191) == read_command(words, R0191)


@pytest.mark.parametrize(
    "behind",
    [
        ["&"],
        [">", "log.txt", "2>&1", "&"],
        [">log.txt", "2>", "errors.txt"],
        ["&>", "log.txt", "&"],
        [">>", "log.txt", "2>&1", "&", "disown"],
        ["2>&1", "|", "tee", "-a", "log.txt"],
        ["<", "/dev/null", "&&", "echo", "--done"],
    ],
)
@pytest.mark.parametrize("start", ["vllm serve", "docker run --gpus all vllm/vllm-openai:v0.19.1", ""])
def test_what_a_shell_would_do_with_the_command_is_left_out_and_told(start: str, behind: list[str]) -> None:
    model = "--model" if start.startswith("docker") else ""
    words = [*f"{start} {model} Qwen/Qwen3-8B --max-model-len 4096".split(), *behind]

    command = read_command(words, R0191)

    assert (command.model, dict(command.flags)) == ("Qwen/Qwen3-8B", {"max_model_len": 4096})
    assert f"what a shell would do with the command was left out: {' '.join(behind)}" in command.notes


def test_a_placeholder_in_pointed_brackets_is_no_redirection() -> None:
    with pytest.raises(UsageError, match="<MODEL>"):
        read_command(["vllm", "serve", "<MODEL>"], R0191)


@pytest.mark.parametrize("text", ["0.13.0", "0.19.1", "0.32.0"])
def test_keys_behind_a_level_are_refused_where_they_moved_and_the_new_way_is_told(text: str) -> None:
    word = "-O.cudagraph_capture_sizes=[1,2,4]"

    with pytest.raises(UsageError, match=re.escape("write -cc.cudagraph_capture_sizes=[1,2,4]")):
        read_command(["vllm", "serve", "m", word], release(text))


@pytest.mark.parametrize("word", ["-Odecode", "-O=4", "--optimization-level=O2", '-O{"level":3}'])
def test_a_level_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="a level of optimization is 0, 1, 2 or 3"):
        read_command(["vllm", "serve", "m", word], R0191)
