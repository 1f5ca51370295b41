import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from oomph.errors import UnknownModel, UnreadableError, UsageError
from oomph.ledger.dtype import Dtype
from oomph.readers.model import Model, read_model
from readers.files import CONFIG, SMALL, index, lay, safetensors, sharded

ROOT = Path(__file__).parents[2]


def names(model: Model) -> list[str]:
    return [tensor.name for tensor in model.checkpoint or ()]


def test_a_directory_gives_its_config_and_its_checkpoint(tmp_path: Path) -> None:
    lay(tmp_path, {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": safetensors(SMALL)})

    model = read_model(str(tmp_path))

    assert model.config == CONFIG
    assert model.name == model.source == str(tmp_path)
    assert model.checkpoint is not None
    assert model.checkpoint.size == 8 * 4 * 2 + 4 * 4 + 4  # worked by hand
    assert model.checkpoint.by_dtype() == {Dtype.BF16: 64, Dtype.F32: 20}
    assert (model.lacking, model.params, model.quantization) == (None, None, None)


def test_a_config_file_alone_has_no_checkpoint_and_says_so(tmp_path: Path) -> None:
    lay(tmp_path, {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": safetensors(SMALL)})

    model = read_model(str(tmp_path / "config.json"))

    assert model.config == CONFIG
    assert model.checkpoint is None
    assert "config file alone" in (model.lacking or "")


def test_shards_are_read_by_their_index_and_without_one(tmp_path: Path) -> None:
    files = sharded(3)
    with_index = lay(tmp_path / "with", files)
    del files["model.safetensors.index.json"]
    without = lay(tmp_path / "without", files)

    wanted = ["layers.0.weight", "layers.1.weight", "layers.2.weight"]
    assert names(read_model(str(with_index))) == wanted
    assert names(read_model(str(without))) == wanted


def test_a_file_that_the_index_does_not_name_is_not_counted(tmp_path: Path) -> None:
    lay(tmp_path, sharded() | {"adapter_model.safetensors": safetensors(SMALL)})

    assert names(read_model(str(tmp_path))) == ["layers.0.weight", "layers.1.weight"]


@pytest.mark.parametrize(("consolidated_first", "wanted"), [(True, ["wq"]), (False, ["layers.0.weight"])])
def test_consolidated_files_are_never_counted_beside_the_others(
    tmp_path: Path, wanted: list[str], *, consolidated_first: bool
) -> None:
    lay(tmp_path, sharded(1) | {"consolidated.safetensors": safetensors({"wq": ("BF16", [2])})})

    assert names(read_model(str(tmp_path), consolidated_first=consolidated_first)) == wanted


def test_consolidated_files_have_an_index_of_their_own(tmp_path: Path) -> None:
    lay(
        tmp_path,
        sharded()
        | {
            "consolidated-00001-of-00001.safetensors": safetensors({"wq": ("BF16", [2])}),
            "consolidated-old.safetensors": safetensors({"wk": ("BF16", [2])}),
            "consolidated.safetensors.index.json": index({"wq": "consolidated-00001-of-00001.safetensors"}),
        },
    )

    assert names(read_model(str(tmp_path))) == ["wq"]


def test_files_in_folders_do_not_count(tmp_path: Path) -> None:
    lay(tmp_path, sharded(1) | {"original/consolidated.safetensors": safetensors(SMALL), "onnx/model.onnx": b""})

    assert names(read_model(str(tmp_path))) == ["layers.0.weight"]


def test_a_repeated_tensor_counts_once_and_must_be_the_same(tmp_path: Path) -> None:
    config = {"config.json": b"{}"}
    twin = config | {"a.safetensors": safetensors(SMALL), "b.safetensors": safetensors(SMALL)}
    other = config | {"a.safetensors": safetensors(SMALL), "b.safetensors": safetensors({"scale": ("F16", [])})}

    assert len(names(read_model(str(lay(tmp_path / "twin", twin))))) == len(SMALL)
    with pytest.raises(UnreadableError, match=r"'scale' of b\.safetensors has another shape or format"):
        read_model(str(lay(tmp_path / "other", other)))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("pytorch_model.bin", "pickled"),
        ("model.pt", "pickled"),
        ("consolidated.00.pth", "pickled"),
        ("model-Q4_K_M.gguf", "GGUF"),
        ("README.md", "no weight files"),
    ],
)
def test_weights_of_another_kind_leave_the_config_and_a_reason(tmp_path: Path, file: str, why: str) -> None:
    lay(tmp_path, {"config.json": json.dumps(CONFIG).encode(), file: b"\x80\x02."})

    model = read_model(str(tmp_path))

    assert model.config == CONFIG
    assert model.checkpoint is None
    assert why in (model.lacking or "")


def test_missing_shards_leave_the_config_and_a_reason(tmp_path: Path) -> None:
    files = sharded(3)
    del files["model-00002-of-00003.safetensors"]

    model = read_model(str(lay(tmp_path, files)))

    assert model.checkpoint is None
    assert "1 of the 3 files" in (model.lacking or "")
    assert "model-00002-of-00003.safetensors" in (model.lacking or "")


def test_an_index_never_leads_out_of_the_directory(tmp_path: Path) -> None:
    lay(tmp_path, {"secret.safetensors": safetensors(SMALL)})
    inside = sharded(1) | {"model.safetensors.index.json": index({"x": "../secret.safetensors"})}

    model = read_model(str(lay(tmp_path / "model", inside)))

    assert model.checkpoint is None
    assert "not there" in (model.lacking or "")


@pytest.mark.parametrize(
    ("content", "met"),
    [
        (b"{}", "no weight_map"),
        (b'{"weight_map": []}', "no weight_map"),
        (b'{"weight_map": {"a": 1}}', "instead of a tensor and its file"),
        (b'{"weight_map": {"a": "b.safetensors"', "instead of a tensor and its file"),
        (b'{"weight_map": {"a": "\xff"}}', "not UTF-8"),
    ],
)
def test_a_broken_index_is_refused(tmp_path: Path, content: bytes, met: str) -> None:
    lay(tmp_path, sharded() | {"model.safetensors.index.json": content})

    with pytest.raises(UnreadableError, match=met):
        read_model(str(tmp_path))


def test_the_small_files_beside_a_config_are_read(tmp_path: Path) -> None:
    beside = {"hf_quant_config.json": b'{"quantization": {"quant_algo": "FP8"}}', "params.json": b'{"dim": 64}'}

    model = read_model(str(lay(tmp_path, {"config.json": b'{"a": 1}'} | beside)))

    assert model.quantization == {"quantization": {"quant_algo": "FP8"}}
    assert model.params == {"dim": 64}
    assert model.config == {"a": 1}


def test_a_model_of_mistrals_own_format_has_params_for_its_config(tmp_path: Path) -> None:
    lay(tmp_path, {"params.json": b'{"dim": 64}'})

    for where in (tmp_path, tmp_path / "params.json"):
        model = read_model(str(where))
        assert model.config == model.params == {"dim": 64}


def test_an_infinite_number_is_read_as_transformers_does(tmp_path: Path) -> None:
    lay(tmp_path, {"config.json": b'{"time_step_limit": [0.0, Infinity]}'})

    assert read_model(str(tmp_path)).config == {"time_step_limit": [0.0, float("inf")]}


@pytest.mark.parametrize(
    ("content", "met"),
    [
        (b"", "it is empty"),
        (b"[1, 2]", "holds a JSON list"),
        (b"<!DOCTYPE html><html>", "begins with b'<!DOCTYPE html><html>'"),
        (b'{"a": 1,}', "line 1 column"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number of 5000 digits"),
        (b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "nests deeper than 64"),
        (b'{"a": ' + b"[" * 100_000, "nests deeper than 64"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a": [' + b"[]," * 200_000 + b"[]]}", "more entries than any config"),
        (b'{"a": "' + b" " * (8 << 20) + b'"}', "larger than 8.00 MiB"),
    ],
)
def test_a_broken_config_is_refused_with_what_was_met(tmp_path: Path, content: bytes, met: str) -> None:
    lay(tmp_path, {"config.json": content})

    with pytest.raises(UnreadableError, match=met):
        read_model(str(tmp_path))


def test_a_directory_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"neither config\.json nor params\.json"):
        read_model(str(tmp_path))


@pytest.mark.parametrize(
    "where",
    ["./nowhere", "/nowhere/at/all", "~/nowhere-at-all", "nowhere/config.json", "C:\\models\\x", "x.gguf", "./\0"],
)
def test_a_path_that_is_not_there_names_both_ways_to_write_a_model(where: str) -> None:
    with pytest.raises(UnknownModel, match=r"no such file or directory here, and it is no Hub id \(write \./directory"):
        read_model(where)


def test_a_weight_file_is_no_model(tmp_path: Path) -> None:
    lay(tmp_path, {"model.safetensors": safetensors(SMALL)})

    with pytest.raises(UsageError, match="give the directory it is in"):
        read_model(str(tmp_path / "model.safetensors"))


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(UsageError, match="neither a file nor a directory"):
        read_model(str(tmp_path / "pipe"))


def test_a_path_works_without_huggingface_hub(tmp_path: Path) -> None:
    lay(tmp_path, sharded())
    program = (
        "import sys; sys.modules['huggingface_hub'] = None\n"
        "from oomph.errors import UnreadableError\n"
        "from oomph.readers.model import read_model\n"
        "assert len(read_model(sys.argv[1]).checkpoint.tensors) == 2\n"
        "try: read_model('organisation/name')\n"
        "except UnreadableError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert "needs huggingface_hub" in run.stdout


def test_a_path_never_loads_huggingface_hub(tmp_path: Path) -> None:
    lay(tmp_path, sharded())
    program = (
        "import sys\n"
        "from oomph.readers.model import read_model\n"
        "read_model(sys.argv[1])\n"
        "print({'huggingface_hub', 'concurrent', 'http'} & set(sys.modules))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert run.stdout.strip() == "set()"
