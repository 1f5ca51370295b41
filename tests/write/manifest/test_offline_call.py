"""The Python call is Python, has the right types, and says what was meant."""

import ast

import pytest
from hypothesis import given

from oomph.engines.history import release
from oomph.engines.vllm.formulas.batches import Usage
from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.readers.command_line import read_command
from oomph.write.manifest.forms import Form, written
from oomph.write.manifest.offline_call import SERVER_ONLY
from write.manifest.proposals import commands, heard, made

ADDED = {"max_num_seqs", "max_num_batched_tokens"}


def arguments(command: Command) -> dict[str, object]:
    """What the call says, by Python's own reading of it."""
    tree = ast.parse(written(command, Form.PYTHON))
    (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "LLM"]
    return {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}


@given(commands().filter(lambda command: command.flags.count("data_parallel_size") == 1))
def test_a_call_says_what_was_meant(command: Command) -> None:
    read = read_command([written(command, Form.PYTHON)], release(command.release))
    meant = {key: value for key, value in command.flags.items() if key not in SERVER_ONLY}

    assert read.usage is Usage.OFFLINE
    assert read.model == command.model
    assert heard({key: value for key, value in read.flags.items() if key in meant or key not in ADDED}) == heard(meant)


def test_every_value_has_its_type() -> None:
    said = arguments(
        made(
            {
                "gpu_memory_utilization": 1,
                "max_model_len": -1,
                "enforce_eager": True,
                "enable_prefix_caching": False,
                "speculative_config": '{"method": "mtp", "x": [true, null, 0.5, "ü"]}',
                "cudagraph_capture_sizes": (1, 2),
                "served_model_name": "a b",
                "dtype": "bfloat16",
                "max_num_batched_tokens": 4096,
            }
        )
    )

    assert said == {
        "model": "org/m",
        "gpu_memory_utilization": 1.0,
        "max_model_len": -1,
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "speculative_config": {"method": "mtp", "x": [True, None, 0.5, "ü"]},
        "cudagraph_capture_sizes": [1, 2],
        "served_model_name": ["a", "b"],
        "dtype": "bfloat16",
        "max_num_batched_tokens": 4096,
    }
    assert isinstance(said["gpu_memory_utilization"], float)


def test_steps_are_as_large_as_the_servers_for_which_the_forecast_was_made() -> None:
    assert arguments(made({}))["max_num_batched_tokens"] == 2048  # of an A100; the class would take 8192
    assert "max_num_batched_tokens" not in arguments(made({}, name="0.6.0"))  # the same for both


def test_flags_of_a_server_are_left_out_and_named() -> None:
    text = written(made({"port": 9000, "max_num_seqs": 8}), Form.PYTHON)

    assert "# Left out, for a server only: --port" in text
    assert "port=" not in text


def test_variables_stand_before_the_import() -> None:
    text = written(made({"VLLM_X": 'a"b'}), Form.PYTHON)

    assert text.index('os.environ["VLLM_X"] = "a\\"b"') < text.index("from vllm import LLM")


def test_replicas_are_refused_because_the_class_runs_one() -> None:
    with pytest.raises(UsageError, match="one replica"):
        written(made({"data_parallel_size": 2}), Form.PYTHON)
