"""Machines that are not here, read through the real clients: NVML's own, and ctypes."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from hardware.machine import FOLDER, SCENARIOS, machine, probed
from oomph.readers.probe_file import read_probe
from oomph.write.probe_json import probe_json

MIB = 1 << 20
GIB = 1 << 30


def one(scenario: str, folder: Path, *, context: bool = False) -> dict[str, Any]:
    """The only card of that machine."""
    cards: list[dict[str, Any]] = probed(machine(scenario, folder), context=context)["gpus"]
    assert len(cards) == 1
    return cards[0]


def test_there_are_enough_machines() -> None:
    assert len(SCENARIOS) >= 14


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_machine_is_read_without_a_context_and_survives_being_saved(scenario: str, tmp_path: Path) -> None:
    there = machine(scenario, tmp_path)
    answer = probed(there, FAKE_CONTEXT_LOG=str(tmp_path / "contexts"))
    saved = tmp_path / "probe.json"
    saved.write_text(json.dumps(answer))

    assert not (tmp_path / "contexts").exists()
    assert json.loads(probe_json(read_probe(str(saved)))) == answer
    assert [gpu["seen"] for gpu in answer["gpus"]] == [None] * len(answer["gpus"])


def test_a_clean_card_and_what_a_context_on_it_costs(tmp_path: Path) -> None:
    there = machine("clean_24gb", tmp_path)
    answer = probed(there, context=True, FAKE_CONTEXT_LOG=str(tmp_path / "contexts"))
    (gpu,) = answer["gpus"]
    seen = gpu["seen"]

    assert (answer["driver"], answer["cuda"], answer["notes"]) == ("570.133.20", "12.8", [])
    assert (gpu["name"], gpu["capability"], gpu["ecc"]) == ("NVIDIA GeForce RTX 4090", "8.9", None)
    assert (gpu["total"], gpu["reserved"], gpu["used"]) == (24564 * MIB, 367 * MIB, MIB)
    assert gpu["free"] == (24564 - 367 - 1) * MIB
    assert (seen["total"], seen["free"], seen["cost"]) == (24197 * MIB, (24197 - 1 - 470) * MIB, 470 * MIB)
    assert (tmp_path / "contexts").read_text() == "opened NVIDIA GeForce RTX 4090\nclosed NVIDIA GeForce RTX 4090\n"


def test_a_desktop_draws_on_its_card(tmp_path: Path) -> None:
    gpu = one("desktop", tmp_path)

    assert gpu["display"] is True
    assert [(each["name"], each["graphics"]) for each in gpu["processes"]] == [
        ("Xorg", True),
        ("gnome-shell", True),
        ("firefox", True),
    ]


def test_tenants_have_names_sizes_and_living_parents(tmp_path: Path) -> None:
    gpu = one("two_tenants", tmp_path)
    engine, notebook = gpu["processes"]

    assert (engine["name"], engine["holds"]) == ("VLLM::EngineCore", 40962 * MIB)
    assert (engine["parent"], engine["parent_name"], engine["own_namespace"]) == (2050, "vllm", True)
    assert notebook["command"] == "/opt/conda/bin/python -m ipykernel_launcher -f kernel-12.json"


def test_an_orphan_has_been_adopted(tmp_path: Path) -> None:
    (engine,) = one("orphan_engine", tmp_path)["processes"]

    assert (engine["name"], engine["parent"], engine["parent_name"]) == ("VLLM::EngineCore", 1, "systemd")


@pytest.mark.parametrize(("scenario", "profile", "total"), [("mig_3g", "3g.20gb", 19968), ("mig_1g", "1g.5gb", 4864)])
def test_of_a_cut_card_the_driver_is_asked_inside_the_slice_that_is_given(
    scenario: str, profile: str, total: int, tmp_path: Path
) -> None:
    gpu = one(scenario, tmp_path, context=True)
    slices = {part["name"]: part for part in gpu["slices"]}
    (seen,) = [part["name"] for part in slices.values() if part["seen"] is not None]

    assert gpu["mig"] is True
    assert gpu["seen"] is None
    assert seen == profile
    assert slices[profile]["total"] == slices[profile]["seen"]["total"] == total * MIB
    assert [each["pid"] for each in slices["1g.5gb"]["processes"]] == [911]
    assert slices["3g.20gb"]["processes"] == []


def test_hami_may_cut_the_card_for_the_driver_only(tmp_path: Path) -> None:
    answer = probed(machine("hami_driver_smaller", tmp_path), context=True)
    (gpu,) = answer["gpus"]
    seen, environment = gpu["seen"], answer["environment"]

    assert (gpu["total"], seen["total"], seen["device_total"]) == (24 * GIB, 12 * GIB, 24139 * MIB)
    assert seen["free"] == 12 * GIB > gpu["free"]  # HAMi does not count what others hold
    assert environment["/etc/ld.so.preload"] == "/usr/local/vgpu/libvgpu.so"
    assert environment["CUDA_DEVICE_MEMORY_LIMIT_0"] == "12288m"
    assert answer["host"]["container"] == "kubernetes"


def test_hami_may_cut_the_card_for_nvml_only(tmp_path: Path) -> None:
    gpu = one("hami_nvml_smaller", tmp_path, context=True)

    assert (gpu["total"], gpu["seen"]["total"]) == (12 * GIB, 24139 * MIB)


def test_the_machine_of_seed_003_is_seen_as_23_gib(tmp_path: Path) -> None:
    gpu = one("seed_003", tmp_path, context=True)

    assert (gpu["total"], gpu["seen"]["total"]) == (24 * GIB, 23 * GIB)


def test_mps_shows_by_its_door_its_server_and_its_limit(tmp_path: Path) -> None:
    answer = probed(machine("mps_limit", tmp_path))
    (gpu,) = answer["gpus"]
    environment = answer["environment"]

    assert gpu["exclusive"] is True
    assert environment["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=20G"
    assert environment[str(Path("/", "tmp", "nvidia-mps", "control"))] == "there"
    assert [each["name"] for each in gpu["processes"]] == ["nvidia-cuda-mps-server", "python"]


def test_a_card_without_memory_of_its_own_says_so_and_the_host_tells_the_rest(tmp_path: Path) -> None:
    answer = probed(machine("gb10", tmp_path))
    (gpu,) = answer["gpus"]
    host = answer["host"]

    assert (gpu["unified"], gpu["total"], gpu["free"], gpu["error"]) == (True, None, None, None)
    assert answer["notes"] == ["GPU 0: memory: it has none of its own, and uses the host's"]
    assert host["total"] == 127540224 << 10
    assert host["page_cache"] == (62000000 + 40960 - 20480) << 10
    assert host["board"] == "NVIDIA_DGX_Spark"


def test_under_wsl_nobody_says_who_is_on_the_card(tmp_path: Path) -> None:
    answer = probed(machine("wsl2", tmp_path))
    (gpu,) = answer["gpus"]

    assert answer["host"]["wsl"] is True
    assert (gpu["listed"], gpu["processes"], gpu["used"]) == (False, [], 2310 * MIB)


def test_of_eight_mixed_cards_each_gets_what_the_driver_says_of_it(tmp_path: Path) -> None:
    cards = probed(machine("eight_mixed", tmp_path), context=True)["gpus"]

    assert [card["index"] for card in cards] == list(range(8))
    for card in cards:  # CUDA counts the fastest first, so that only the UUID tells which is which
        total, reserved, seen = card["total"], card["reserved"], card["seen"]
        assert seen["total"] == total - reserved
    assert cards[7]["name"] == "NVIDIA H100 80GB HBM3"


def test_reserved_memory_is_told_apart_from_used(tmp_path: Path) -> None:
    gpu = one("ecc_reserved", tmp_path)

    assert (gpu["ecc"], gpu["reserved"], gpu["used"]) == (True, 1942 * MIB, 4 * MIB)


def test_a_card_that_is_lost_on_the_way_keeps_what_was_read_and_hides_no_other(tmp_path: Path) -> None:
    answer = probed(machine("lost_gpu", tmp_path), context=True)
    well, lost = answer["gpus"]

    assert (well["error"], well["total"]) == (None, 81559 * MIB)
    assert (lost["name"], lost["error"], lost["total"]) == ("NVIDIA H100 80GB HBM3", "GPU is lost", None)
    assert lost["listed"] is False
    assert answer["notes"] == [
        "GPU 1: memory: GPU is lost",
        "CUDA: card 1: cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN",
    ]


def test_one_who_may_not_see_processes_is_told_so(tmp_path: Path) -> None:
    answer = probed(machine("permission_denied", tmp_path))
    (gpu,) = answer["gpus"]
    host = answer["host"]

    assert (gpu["listed"], gpu["processes"], gpu["error"]) == (False, [], None)
    assert answer["notes"] == ["GPU 0: its processes: Insufficient Permissions"]
    assert (host["container"], host["limit"], host["used"]) == ("docker", 16 * GIB, 9 * GIB)
    assert host["used_by_cache"] == 6 * GIB
    assert host["shm_total"] == 64 * MIB


def test_without_a_driver_there_is_a_note_and_no_card(tmp_path: Path) -> None:
    answer = probed(machine("no_driver", tmp_path), context=True)
    notes = answer["notes"]

    assert answer["gpus"] == []
    assert notes[0].startswith("NVIDIA: no libnvidia-ml.so.1 here")
    assert notes[1].startswith("CUDA: no libcuda.so.1 that can be used")
    assert answer["host"]["total"] == 16384000 << 10


def test_a_jetson_without_nvml_shows_its_card_to_cuda(tmp_path: Path) -> None:
    there = machine("jetson", tmp_path)
    without, (gpu,) = probed(there), probed(there, context=True)["gpus"]

    assert without["gpus"] == []
    assert "Jetson AGX Orin" in json.dumps(without["notes"])
    assert (gpu["name"], gpu["capability"], gpu["unified"]) == ("Orin", "8.7", True)
    assert gpu["seen"]["total"] == 62841 * MIB


def test_a_limit_of_the_control_group_on_the_card_is_found_by_its_place(tmp_path: Path) -> None:
    answer = probed(machine("device_limit", tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["bus"], gpu["limit"]) == ("0000:65:00.0", 16 * GIB)
    assert answer["host"]["limit"] == 64 * GIB
    assert answer["host"]["container"] == "kubernetes"


def test_eight_cards_take_a_fraction_of_a_second_of_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = machine("eight_mixed", tmp_path)
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert there.run("-c", "from oomph.readers.probe import probe; assert len(probe().gpus) == 8").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    with capsys.disabled():
        print(f"\n  a probe of 8 cards: {min(spent) * 1000:.0f} ms of CPU from process start (wanted: 250)", end="")  # noqa: T201 - the figure

    assert min(spent) < 0.6


def test_every_scenario_says_what_it_is() -> None:
    first = [(FOLDER / "scenarios" / f"{name}.txt").read_text().split("\n", 1)[0] for name in SCENARIOS]

    assert all(line.startswith("# ") for line in first)
