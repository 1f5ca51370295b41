from pathlib import Path

import pytest

from oomph.engines.history import release
from oomph.engines.vllm.flags.config_file import written
from oomph.errors import UnreadableError, UsageError
from oomph.readers.command import Command
from oomph.readers.command_line import read_command

KEYS: dict[str, object] = {
    "port": 8000,
    "enable-prefix-caching": False,
    "enforce_eager": True,
    "served-model-name": ["a", "b"],
    "speculative-config": {"method": "mtp", "num_speculative_tokens": 2},
}


def read(folder: Path, text: str, words: str = "vllm serve org/m --config vllm.yaml", r: str = "0.32.0") -> Command:
    file = folder / "vllm.yaml"
    file.write_text(text, encoding="utf-8")
    return read_command(words.replace("vllm.yaml", str(file)).split(), release(r))


PYTHON = "--served-model-name ['a', 'b'] --speculative-config {'method': 'mtp', 'num_speculative_tokens': 2}"
LISTED = "--served-model-name a b --speculative-config {'method': 'mtp', 'num_speculative_tokens': 2}"
JSON = '--served-model-name a b --speculative-config {"method": "mtp", "num_speculative_tokens": 2}'


@pytest.mark.parametrize(
    ("text", "words", "unheard"),
    [
        ("0.6.0", f"--port 8000 --enable-prefix-caching False --enforce_eager True {PYTHON}", ()),
        ("0.6.4", f"--port 8000 --enforce_eager {PYTHON}", ("enable-prefix-caching",)),
        ("0.10.2", f"--port 8000 --enforce_eager {LISTED}", ("enable-prefix-caching",)),
        ("0.16.0", f"--port 8000 --enforce_eager {JSON}", ("enable-prefix-caching",)),
        ("0.28.0", f"--port 8000 --no-enable-prefix-caching --enforce_eager {JSON}", ()),
    ],
)
def test_each_release_writes_the_file_out_in_its_own_way(text: str, words: str, unheard: tuple[str, ...]) -> None:
    found = written(KEYS, release(text))

    assert " ".join(found.words) == words
    assert found.unheard == unheard


def test_a_switch_that_takes_a_word_is_said_with_it_in_old_releases() -> None:
    assert written({"enable_chunked_prefill": False}, release("0.8.4")).words == ("--enable_chunked_prefill", "False")
    assert written({"enable-chunked-prefill": False}, release("0.8.4")).words == ()


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    text = "max-model-len: 4096\nmax_num_seqs: 8\ntensor-parallel-size: 2\nmodel: other/one\n"
    command = read(tmp_path, text, "vllm serve org/m -tp 4 --config vllm.yaml --max-model-len 8192")

    assert command.model == "org/m"
    assert dict(command.flags) == {"max_model_len": 8192, "max_num_seqs": 8, "tensor_parallel_size": 4}


def test_the_model_may_stand_in_the_file(tmp_path: Path) -> None:
    assert read(tmp_path, "model: org/m\nmax-num-seqs: 8", "vllm serve --config vllm.yaml").model == "org/m"
    with pytest.raises(UsageError, match=r"vLLM 0.8.2 does not take the model from a file"):
        read(tmp_path, "model: org/m", "vllm serve --config vllm.yaml", "0.8.2")


def test_a_false_that_vllm_does_not_hear_is_told(tmp_path: Path) -> None:
    before = read(tmp_path, "enable-prefix-caching: false", r="0.27.1")
    with_underscores = read(tmp_path, "enable_prefix_caching: false")
    heard = read(tmp_path, "enable-prefix-caching: false")

    assert (dict(before.flags), dict(with_underscores.flags)) == ({}, {})
    assert (
        "does not hear `enable_prefix_caching: false` (write `no-enable-prefix-caching: true`)"
        in (with_underscores.notes[0])
    )
    assert (dict(heard.flags), heard.notes) == ({"enable_prefix_caching": False}, ())


def test_of_two_equal_keys_the_last_one_counts_and_it_is_told(tmp_path: Path) -> None:
    command = read(tmp_path, "max-num-seqs: 8\nmax-num-seqs: 9\n")

    assert command.flags["max_num_seqs"] == 9
    assert "max-num-seqs is given more than once: the last one counts" in command.notes[0]


def test_nested_keys_are_json_and_empty_values_none(tmp_path: Path) -> None:
    command = read(tmp_path, "compilation-config:\n  mode: 3\nquantization: null\ncudagraph-capture-sizes: [4, 1, 2]\n")

    assert dict(command.flags) == {"compilation_config": '{"mode": 3}', "cudagraph_capture_sizes": (1, 2, 4)}
    with pytest.raises(UsageError, match="not JSON"):
        read(tmp_path, "compilation-config:\n  mode: 3\n", r="0.15.1")


def test_a_file_joined_by_a_sign_is_ignored_as_vllm_ignores_it(tmp_path: Path) -> None:
    command = read(tmp_path, "max-num-seqs: 8", "vllm serve org/m --config=vllm.yaml")

    assert dict(command.flags) == {}
    assert "write --config FILE" in command.notes[0]


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("max-num-seqs: 8\n  max-model-len: 4\n", UnreadableError, "is not YAML, line 2"),
        ("- a\n- b\n", UnreadableError, "holds no keys with values"),
        ("1: 2\n", UnreadableError, "holds no keys with values"),
        ("", UnreadableError, "holds no keys with values"),
        ("a: !!python/object/apply:os.getcwd []\n", UnreadableError, "is not YAML"),
        ("max-modellen: 8\n", UsageError, "did you mean --max-model-len?"),
        ("a: b\n" * 60_000, UnreadableError, "larger than any config"),
        ("\x00", UnreadableError, "is not YAML"),
    ],
)
def test_a_file_that_vllm_could_not_use_is_refused(tmp_path: Path, text: str, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("vllm serve m --config nowhere.yaml", "cannot be read: No such file"),
        ("vllm serve m --config settings.json", "only files that end in .yaml or .yml"),
        ("vllm serve m --config", "takes one file, once"),
    ],
)
def test_a_file_that_is_not_there_is_refused(words: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_command(words.split())
