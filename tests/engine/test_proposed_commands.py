"""What is written is accepted by the engine: by the real parser of each release, and by its arguments in Python."""

import ast
import json
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from engine.pipe import Bench
from oomph.engines.history import release
from oomph.engines.vllm.flags.find import known
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.takes import several
from oomph.errors import UsageError
from oomph.ledger.catalogue import devices
from oomph.ledger.command import Command
from oomph.ledger.settings import Flags, Value
from oomph.write.manifest.forms import Form, written
from oomph.write.manifest.offline_call import SERVER_ONLY
from scouting.trees import home

ASKED = ("0.10.2", "0.11.0", "0.14.1", "0.19.1", "0.26.0", "0.28.0", "0.32.0")
READ = ("0.8.5", "0.10.2", "0.11.0", "0.14.1", "0.19.1", "0.26.0", "0.32.0")
# Kept apart, secret, or a file that must be there.
UNTOLD = frozenset({"model", "config", "api_key", "hf_token", "host", "uds", "lora_modules", "prompt_adapters"}) | {
    f"guided_decoding_disable_{what}" for what in ("fallback", "any_whitespace", "additional_properties")
}  # the last three are switches up to 0.10, and take a word in 0.11.0 (engine/arg_utils.py)
ODD = 'it\'s $HOME: "so" `to` \\say'
KINDS: dict[Kind, tuple[Value, ...]] = {
    Kind.SWITCH: (True, False),
    Kind.WHOLE: (7,),
    Kind.HUMAN: (8192,),
    Kind.FRACTION: (0.5,),
    Kind.TEXT: (ODD,),
}


def values(flag: Flag, option: dict[str, Any], name: str) -> tuple[Value, ...]:
    """What to try the flag with: every word of a choice, else what its kind takes."""
    if option["choices"]:
        return tuple(int(word) if word.isdecimal() else word for word in option["choices"] if word != "None")
    if flag.key in {"cudagraph_capture_sizes", "cuda_graph_sizes"}:
        return ((1, 2, 4),)
    if flag.key == "optimization_level":
        return (2,)
    if several(flag, release(name)) and flag.kind is Kind.TEXT:
        return ("a b",)
    return KINDS.get(flag.kind, ())


def command(flags: dict[str, Value], name: str) -> Command:
    return Command(release=name, model="org/m", flags=Flags(flags), devices=devices("a100-80gb"))


def words(text: str, form: Form, tmp_path: Path) -> list[str]:
    """Those that `vllm serve` is given when the text is used as it says."""
    match form:
        case Form.VLLM:
            return shlex.split(text.replace("\\\n", ""))[2:]
        case Form.DOCKER:
            line = shlex.split(text.replace("\\\n", ""))
            return line[line.index("serve") + 1 :]
        case Form.COMPOSE:
            return [word.replace("$$", "$") for word in yaml.safe_load(text)["services"]["vllm"]["command"]]
        case Form.KUBERNETES:
            (pod,) = [each for each in yaml.safe_load_all(text) if each["kind"] == "Deployment"]
            return [word.replace("$$", "$") for word in pod["spec"]["template"]["spec"]["containers"][0]["args"]]
        case _:
            file = tmp_path / "vllm.yaml"
            file.write_text(text, encoding="utf-8")
            return ["--config", str(file)]


def rows(name: str, judges: Bench) -> list[dict[str, Value]]:
    """Flags of the release together, each with one of its values, until every value has been in one row."""
    options = {option["names"][0]: option for option in cast("list[dict[str, Any]]", judges[name].ask("flags"))}
    flags = {flag.key: flag for flag in known(release(name)).values() if flag.name in options}
    tried = {key: values(flag, options[flag.name], name) for key, flag in flags.items() if key not in UNTOLD}
    most = max(map(len, tried.values()))
    return [{key: each[row] for key, each in tried.items() if row < len(each)} for row in range(most)]


@pytest.mark.parametrize("form", [Form.VLLM, Form.COMPOSE])  # words apart, and joined
@pytest.mark.parametrize("name", ASKED)
def test_the_engine_takes_every_flag_as_it_is_written(name: str, form: Form, judges: Bench, tmp_path: Path) -> None:
    given = rows(name, judges)
    asked = [words(written(command(row, name), form), form, tmp_path) for row in given]
    answers = judges[name].ask_many("parsed", [{"words": each} for each in asked])
    wrong = []
    for row, answer in zip(given, answers, strict=True):
        said: Any = answer.value
        heard = said.get("values", {})
        # A value that is the default is not in the engine's answer.
        wrong += [(key, value, heard[key]) for key, value in row.items() if not same(heard.get(key, value), value)]
        wrong += [said] if "refused" in said else []

    assert len(given[0]) > 100
    assert wrong == []


def same(heard: object, value: Value) -> bool:
    """Several words are a list to the engine, and one word in ours; some numbers are kept as words."""
    if isinstance(heard, list):
        return heard in (list(value) if isinstance(value, tuple) else str(value).split(), [value])
    return heard == value or str(heard) == str(value)


PROPOSED: dict[str, Value] = {
    "tensor_parallel_size": 2,
    "gpu_memory_utilization": 0.87,
    "max_model_len": 32768,
    "max_num_seqs": 24,
    "max_num_batched_tokens": 4096,
    "kv_cache_dtype": "fp8",
    "enforce_eager": True,
    "enable_prefix_caching": False,
    "limit_mm_per_prompt": '{"image": 2, "video": 0}',
    "speculative_config": '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}',
    "compilation_config": '{"cudagraph_capture_sizes": [1, 2, 4]}',
    "hf_overrides": '{"a": {"b": "$x"}}',
    "served_model_name": "m one",
    "swap_space": 0,
}


@pytest.mark.parametrize("form", [Form.VLLM, Form.DOCKER, Form.COMPOSE, Form.KUBERNETES, Form.CONFIG])
@pytest.mark.parametrize("name", ASKED)
def test_the_engine_reads_a_whole_proposal_from_every_form(
    name: str, form: Form, judges: Bench, tmp_path: Path
) -> None:
    proposed = {key: value for key, value in PROPOSED.items() if f"--{key.replace('_', '-')}" in known(release(name))}
    text = written(command(proposed, name), form)
    said: Any = judges[name].ask("parsed", words=words(text, form, tmp_path))
    found = said.get("values", said)

    assert found.get("model_tag", found.get("model")) == "org/m"
    for key, value in proposed.items():
        if not str(found.get(key)).startswith("<"):  # a configuration of vLLM's own kind is only named
            assert found[key] == as_heard(value, key), key


def as_heard(value: Value, key: str) -> object:
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value.split() if key == "served_model_name" and isinstance(value, str) else value


@pytest.mark.usefixtures("judges")
@pytest.mark.parametrize("name", READ)
def test_every_argument_of_the_call_is_one_that_the_class_takes(name: str) -> None:
    source = (home() / "trees" / name / "vllm" / "engine" / "arg_utils.py").read_text(encoding="utf-8")
    (declared,) = [
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "EngineArgs"
    ]
    fields = {
        node.target.id
        for node in declared.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    written_as = {flag.key for flag in known(release(name)).values()} - SERVER_ONLY

    assert written_as - fields == set()


def test_what_a_release_cannot_hear_from_a_file_is_refused() -> None:
    with pytest.raises(UsageError, match="in a file"):
        written(command({"served_model_name": "a b"}, "0.10.0"), Form.CONFIG)
