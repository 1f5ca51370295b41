"""How a release takes the words of its command line, the same as ours: by its own parser, and by its source."""

import json
import os
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.pipe import OLDER, RELEASES, Bench
from oomph.engines.history import release
from oomph.engines.vllm.flags.find import FLAGS, known
from oomph.engines.vllm.flags.takes import CHOICES, bare_or_said, human, several
from oomph.errors import UsageError
from oomph.ledger.settings import Value
from oomph.readers.command_line import read_command
from scouting.extract import read
from scouting.options import Flag
from scouting.trees import home

ASKED = ("0.11.0", "0.12.0", "0.19.1", "0.28.0", "0.32.0")
UNKEPT = frozenset({"model", "model_tag", "api_key", "hf_token"})  # ours keeps the model apart, and no secrets
LINES = (
    "org/m",
    "org/m -tp 2 -pp=2 --enforce-eager",
    "org/m --tensor_parallel 2 --max_num_seqs 4",
    "org/m --max-model-len 32k --max-num-batched-tokens 8K --kv-cache-memory-bytes 1.5g",
    "org/m --max-model-len=8192 --gpu-memory-utilization=.9 --block-size 32",
    "org/m --no-enable-prefix-caching --enable-chunked-prefill --trust-remote-code",
    "org/m --enable-chunked-prefill False",
    "org/m --enforce-eager=true",
    "org/m --served-model-name a b c --port 9000",
    "org/m --served-model-name=a b",
    "org/m --cudagraph-capture-sizes 1 2 4 --seed -1",
    "org/m --dtype half -q awq",
    "org/m -qgptq",
    "org/m -t 2",
    "org/m --dtype float17",
    "org/m --kv-cache-dtype nvfp4",
    "org/m --quantization None --revision ''",
    "org/m --max-num",
    "org/m --max-num-seqs",
    "org/m --max-num-seqs --enforce-eager",
    "org/m --max-num-seqs 4 --max-num-seqs 8",
    "org/m --max-num-seqs 1k",
    "org/m --max-model-len auto",
    "org/m --max-model-len 1.5K",
    "org/m --swap-space 4",
    "org/m --mem-fraction-static 0.9",
    "org/m other/m",
    "org/m -cc.mode=3",
    "org/m -O 2 --max-num-seqs 3",
    "org/m --hf-overrides.rope_scaling.factor 2 --hf-overrides.a+ x,y --hf-overrides.a+=z",
    "org/m --hf-overrides '{\"a\": 1}' --hf-overrides.b 80g",
    "org/m --limit-mm-per-prompt '{\"image\": 2}' --mm-processor-kwargs '{method: x}'",
    "org/m --limit-mm-per-prompt.image 3",
    "--model org/m -tp 2",
    "org/m --api-key one two --hf-token",
    "org/m --config {yaml} --max-num-seqs 9",
    "--config {yaml}",
)
YAML = """
model: org/n
max-num-seqs: 8
max_model_len: 4096
enable-prefix-caching: false
enable_chunked_prefill: false
enforce-eager: true
served-model-name: [a, b]
hf-overrides:
  a: {b: 1}
"""


@pytest.fixture
def yaml(tmp_path: Path) -> str:
    file = tmp_path / "vllm.yaml"
    file.write_text(YAML, encoding="utf-8")
    return str(file)


def ours(words: list[str], name: str) -> dict[str, Value] | None:
    try:
        command = read_command(["vllm", "serve", *words], release(name))
    except UsageError:
        return None
    return {**dict(command.flags), "model": command.model}


def plain(value: object) -> object:
    """Ours keeps JSON as text, and several words in one."""
    if isinstance(value, list):
        return " ".join(map(str, value)) if all(isinstance(each, str) for each in value) else tuple(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def as_theirs(key: str, value: Value) -> object:
    if key == "optimization_level":
        return str(value)
    if isinstance(value, str) and value.startswith("{"):
        return json.dumps(json.loads(value), sort_keys=True)
    return value


@pytest.mark.parametrize("name", ASKED)
def test_words_come_out_as_the_engine_reads_them(name: str, judges: Bench, yaml: str) -> None:
    lines = [shlex.split(line.replace("{yaml}", yaml)) for line in LINES]
    answers = judges[name].ask_many("parsed", [{"words": words} for words in lines])
    wrong: list[object] = []
    for words, answer in zip(lines, answers, strict=True):
        said: Any = answer.value
        mine = ours(words, name)
        if "refused" in said or mine is None:
            if ("refused" in said) is not (mine is None):
                wrong.append((words, said, mine))
            continue
        theirs = {key: plain(value) for key, value in said["values"].items() if key not in UNKEPT}
        opaque = {key for key, value in theirs.items() if isinstance(value, str) and value.startswith("<")}
        told = {key: as_theirs(key, value) for key, value in mine.items() if key not in UNKEPT}
        model = said["values"].get("model_tag") or said["values"].get("model")
        # A value that is the default is not in the engine's answer.
        wrong += [
            (words, key, told.get(key), value)
            for key, value in theirs.items()
            if key not in opaque and told.get(key) != value
        ]
        wrong += [(words, key) for key in opaque if key not in told]
        wrong += [(words, "model", mine["model"], model)] if mine["model"] != model else []

    assert wrong == []


TAKEN = (
    OLDER + RELEASES
    if not os.environ.get("OOMPH_ALL_RELEASES")
    else tuple(p.name for p in (home() / "trees").iterdir())
)


@cache
def options(name: str) -> tuple[Flag, ...]:
    return read(name, home() / "trees" / name).flags


@pytest.mark.usefixtures("judges")
@pytest.mark.parametrize("name", TAKEN)
def test_how_many_words_a_flag_takes_is_what_the_source_says(name: str) -> None:
    asked = release(name)
    theirs = {option.names[0]: option.nargs for option in options(name)}
    mine = {
        flag.name: "+" if several(flag, asked) else "?" if bare_or_said(flag, asked) else None
        for flag in FLAGS
        if asked in flag.span
    }

    assert {each: nargs for each, nargs in mine.items() if nargs} == {
        each: nargs for each, nargs in theirs.items() if nargs in {"+", "?"}
    }


@pytest.mark.usefixtures("judges")
@pytest.mark.parametrize("name", TAKEN)
def test_which_numbers_and_words_a_flag_takes_is_what_the_source_says(name: str) -> None:
    asked = release(name)
    theirs = {option.names[0]: option for option in options(name)}
    mine = {flag.name: flag for flag in known(asked).values()}

    assert {each for each, flag in mine.items() if human(flag, asked)} == {
        each for each, option in theirs.items() if option.human
    }
    for each, choices in CHOICES.items():
        if each in mine:
            assert set(choices.at(asked)) == set(theirs[each].choices), each
