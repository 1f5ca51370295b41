"""`oomph plan` on a machine that is looked at, now or in a saved probe."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardware.judged import Json
from hardware.machine import Machine, machine
from oomph.cli.looked_at import hardware
from oomph.cli.main import main
from oomph.diagnose.case import Platform
from oomph.engines.history import release
from oomph.ledger.settings import Flags
from oomph.readers.command import Command
from oomph.units import GIB

QWEN = Path(__file__).parents[2] / "examples" / "qwen3.6-27b"
SLICE = Path(__file__).parents[1] / "logs" / "graph_profile_slice.log"
SEED = ("--kv-cache-dtype", "fp8_e5m2", "--attention-backend", "flashinfer", "--max-model-len", "32768")
SERVE = ("--", "vllm", "serve", str(QWEN))


def probe_of(there: Machine, folder: Path, *words: str) -> str:
    file = folder / "probe.json"
    file.write_text(there.run("-m", "oomph", "probe", "--json", *words).stdout)
    return str(file)


def plan(capsys: pytest.CaptureFixture[str], file: str, *words: str) -> Json:
    assert main(["plan", "--json", "--device", file, *words]) in {0, 1, 3}
    answer: Json = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize("asked", [(), ("--context",)], ids=["as NVML tells", "as the driver tells"])
def test_seed_003_shows_the_clamp_and_fails_in_the_graph_profile_whatever_the_share(
    asked: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report: 1.53 GiB asked, 1.39 to 1.49 GiB free of 23.00 GiB, the same at 0.95, 0.92 and 0.88."""
    file = probe_of(machine("seed_003", tmp_path), tmp_path, *asked, "--release", "0.19.1")
    told = json.loads(Path(file).read_text())["judgement"]["devices"][0]
    answers = [
        plan(
            capsys, file, "--release", "0.19.1", "--weights", "18GiB", *SERVE, "--gpu-memory-utilization", share, *SEED
        )
        for share in ("0.95", "0.92", "0.88")
    ]
    first = answers[0]
    gates = [next(gate for gate in answer["gates"] if gate["name"] == "graph-profile") for answer in answers]
    needs, has, pool = gates[0]["needs"], gates[0]["has"], first["graph_profile"]
    beside = {end: needs[end] - pool["total"] for end in ("low", "high")}  # weights and what stays with them
    left = [has[top] - beside[bottom] - 2 * pool["tensor"] for top, bottom in (("low", "high"), ("high", "low"))]

    assert told["believed"]["total"] == 23 * GIB
    assert {remark["name"] for remark in told["remarks"]} == {"sources-disagree"}
    assert {(answer["verdict"], answer["gate"]) for answer in answers} == {("overflows", "graph-profile")}
    assert f"{pool['tensor'] / GIB:.2f}" == "1.53"
    assert all((gate["needs"], gate["has"]) == (needs, has) for gate in gates)
    assert all("--gpu-memory-utilization" in gate["inert"] for gate in gates)
    assert left[0] < 1.39 * GIB < 1.49 * GIB < left[1]  # free when the third of them is asked for
    assert [finding["code"] for finding in first["findings"]] == ["GP001"]
    assert any("NVML says 23.57 GiB" in warning for warning in first["warnings"])


@pytest.mark.parametrize(
    ("scenario", "really"), [("device_limit", "only 16.00 GiB can"), ("hami_driver_smaller", "only 9.57 GiB can")]
)
def test_where_less_can_be_had_than_is_believed_the_plan_agrees_with_the_probe(
    scenario: str, really: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = probe_of(machine(scenario, tmp_path), tmp_path, "--release", "0.32.0")
    told = json.loads(Path(file).read_text())["judgement"]["devices"][0]
    answer = plan(capsys, file, "--release", "0.32.0", "--weights", "6GiB", *SERVE)
    gate = next(gate for gate in answer["gates"] if gate["name"] == "start-check")

    assert gate["has"] == told["believed"]["free"]
    assert answer["gate"] != "start-check"
    assert any(really in warning for warning in answer["warnings"])


def test_without_a_gpu_named_this_machine_is_planned_for(tmp_path: Path) -> None:
    there = machine("clean_24gb", tmp_path)
    done = there.run("-m", "oomph", "plan", "--json", "--weights", "6GiB", "--release", "0.32.0", str(QWEN))
    answer = json.loads(done.stdout)

    assert done.stderr == ""
    assert answer["device"]["name"] == "NVIDIA GeForce RTX 4090"
    assert answer["device"]["total"] == 24197 << 20
    assert answer["device"]["free"]["high"] < answer["device"]["total"]


def test_a_plan_for_a_named_card_looks_at_no_machine(tmp_path: Path) -> None:
    program = (
        "import sys; from oomph.cli.main import main; main(['plan', '--gpu', 'rtx-5090', '--json', sys.argv[1]]); "
        "sys.exit(sorted(name for name in sys.modules if name.rpartition('.')[2] in sys.argv[2:]))"
    )
    names = ("pynvml", "probe", "probe_file", "visible", "claims", "believed", "judgement", "looked_at", "installed")
    done = machine("clean_24gb", tmp_path).run("-c", program, str(QWEN), *names)

    assert done.stderr == "[]\n"


def test_where_there_is_no_gpu_it_is_said_how_to_name_one(tmp_path: Path) -> None:
    done = machine("no_driver", tmp_path).run("-m", "oomph", "plan", str(QWEN))

    assert (done.returncode, done.stdout) == (2, "")
    assert "shows no GPU that the engine could use" in done.stderr
    assert "--gpu rtx-5090" in done.stderr
    assert "--device with a saved probe" in done.stderr


def test_ranks_take_the_first_devices_in_the_engines_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = probe_of(machine("eight_mixed", tmp_path), tmp_path, "--context")
    words = ("--release", "0.32.0", "--weights", "6GiB", *SERVE)
    first = plan(capsys, file, *words)
    chosen = plan(capsys, file, "--release", "0.32.0", "--weights", "6GiB", "--", "CUDA_VISIBLE_DEVICES=5", *SERVE[1:])
    two = plan(capsys, file, *words, "--tensor-parallel-size", "2")

    assert first["device"]["name"] == "NVIDIA H100 80GB HBM3"  # CUDA counts the fastest first
    assert chosen["device"]["name"] == "NVIDIA A40"
    assert (two["device"]["count"], two["gate"]) == (2, "start-check")


def test_more_ranks_than_devices_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = probe_of(machine("clean_24gb", tmp_path), tmp_path)

    assert main(["plan", "--device", file, *SERVE, "--tensor-parallel-size", "2"]) == 2
    assert "2 ranks need as many GPUs" in capsys.readouterr().err


def test_a_name_and_a_probe_at_once_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--gpu", "l4", "--device", "probe.json", str(QWEN)]) == 2
    assert "of --gpu and --device, write one" in capsys.readouterr().err


def test_a_probe_that_is_not_there_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--device", "nowhere.json", str(QWEN)]) == 2
    assert "oomph probe --json" in capsys.readouterr().err


def test_a_log_is_explained_with_the_probe_of_its_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = probe_of(machine("seed_003", tmp_path), tmp_path)
    assert main(["explain", "--json", "--device", file, str(SLICE), *SERVE, *SEED]) in {0, 1, 3}
    answer = json.loads(capsys.readouterr().out)

    assert answer["findings"][0]["code"] == "GP001"
    assert main(["explain", "--gpu", "l4", "--device", file, str(SLICE)]) == 2
    assert "of --gpu and --device, write one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scenario", "platform"),
    [("wsl2", {Platform.WSL2}), ("mig_3g", {Platform.MIG}), ("gb10", {Platform.UNIFIED}), ("clean_24gb", set())],
)
def test_what_changes_the_meaning_of_a_message_is_taken_from_the_probe(
    scenario: str, platform: set[Platform], tmp_path: Path
) -> None:
    file = probe_of(machine(scenario, tmp_path), tmp_path)
    found = hardware(file, Command(model=None, flags=Flags()), release("0.32.0"))

    assert found.platform == platform
    assert [device.free for device in found.devices] == [None]  # what is free now was not what was free then


def mangled(held: object, path: list[int], value: object) -> object:
    """The same, with one value somewhere inside it replaced."""
    if not path or not isinstance(held, dict | list) or not held:
        return value
    keys = list(held) if isinstance(held, dict) else list(range(len(held)))
    key = keys[path[0] % len(keys)]
    changed = mangled(held[key], path[1:], value)
    if isinstance(held, dict):
        return {**held, key: changed}
    return [*held[: int(key)], changed, *held[int(key) + 1 :]]


values: st.SearchStrategy[object] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.just([])
    | st.just({})
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Probes that have something in every corner."""
    found = []
    for scenario in ("mig_3g", "hami_driver_smaller", "gb10", "eight_mixed"):
        folder = tmp_path_factory.mktemp(scenario)
        found.append(json.loads(machine(scenario, folder).run("-m", "oomph", "probe", "--json", "--context").stdout))
    return found


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 3),
    changes=st.lists(st.tuples(st.lists(st.integers(0, 40), min_size=1, max_size=6), values), min_size=1, max_size=3),
    cut=st.none() | st.integers(0, 4000),
)
def test_no_mangled_probe_crashes_anything(
    which: int,
    changes: list[tuple[list[int], object]],
    cut: int | None,
    whole: list[Json],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    held: object = whole[which]
    for path, value in changes:
        held = mangled(held, path, value)
    file = tmp_path / "mangled.json"
    file.write_text(json.dumps(held)[:cut])
    for words in (
        ["probe", "--device", str(file)],
        ["plan", "--device", str(file), "--weights", "6GiB", str(QWEN)],
        ["explain", "--device", str(file), str(SLICE)],
    ):
        status = main(words)
        said = capsys.readouterr()
        assert status in {0, 1, 2, 3}
        assert bool(said.out) is not bool(said.err)
