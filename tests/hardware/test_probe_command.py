"""`oomph probe` on machines that are not here, from process start to exit status."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardware.judged import Json, judged
from hardware.machine import SCENARIOS, machine

FITS, OVERFLOWS, UNSURE = "fits", "overflows", "unsure"

# By scenario: the exit status, and for each device the verdict at the default share of 0.32.0 (0.92), the largest share
# that surely passes, and whose word the total is.
EXPECTED: dict[str, tuple[int, list[tuple[str, float, str]]]] = {
    "clean_24gb": (0, [(FITS, 0.97, "NVML")]),
    "desktop": (0, [(FITS, 0.93, "NVML")]),
    "device_limit": (0, [(FITS, 0.99, "NVML")]),
    "ecc_reserved": (0, [(FITS, 0.97, "NVML")]),
    "eight_mixed": (
        1,
        [
            (FITS, 0.97, "NVML"),
            (OVERFLOWS, 0.12, "NVML"),
            (OVERFLOWS, 0.60, "NVML"),
            (FITS, 0.97, "NVML"),
            (OVERFLOWS, 0.32, "NVML"),
            (FITS, 0.98, "NVML"),
            (OVERFLOWS, 0.08, "NVML"),
            (OVERFLOWS, 0.10, "NVML"),
        ],
    ),
    "gb10": (1, [(OVERFLOWS, 0.69, "the host's memory")]),
    "hami_driver_smaller": (0, [(FITS, 0.94, "HAMi's limit")]),
    "hami_nvml_smaller": (0, [(FITS, 0.94, "HAMi's limit")]),
    "jetson": (3, []),
    "lost_gpu": (3, [(FITS, 0.99, "NVML")]),
    "mig_1g": (1, [(OVERFLOWS, 0.23, "NVML")]),
    "mig_3g": (0, [(FITS, 0.96, "NVML")]),
    "mps_limit": (1, [(OVERFLOWS, 0.43, "NVML")]),
    "no_driver": (3, []),
    "orphan_engine": (1, [(OVERFLOWS, 0.10, "NVML")]),
    "permission_denied": (1, [(OVERFLOWS, 0.63, "NVML")]),
    "seed_003": (0, [(FITS, 0.97, "HAMi's limit")]),
    "two_tenants": (1, [(OVERFLOWS, 0.33, "NVML")]),
    "wsl2": (3, [(UNSURE, 0.90, "NVML")]),
}
# By scenario: what is remarked, on any device or on the machine.
REMARKS: dict[str, set[str]] = {
    "clean_24gb": set(),
    "desktop": {"display"},
    "device_limit": {"less-than-believed", "little-host-memory"},
    "eight_mixed": {"neighbours", "visible-devices"},
    "gb10": {"neighbours", "display", "unified-memory", "swap-on-unified-memory"},
    "hami_driver_smaller": {"sources-disagree", "less-than-believed"},
    "hami_nvml_smaller": {"clamp-unproven"},
    "lost_gpu": {"lost-device"},
    "mig_1g": {"neighbours", "expandable-segments"},
    "mps_limit": {"mps-limit", "neighbours"},
    "orphan_engine": {"orphan-engine"},
    "permission_denied": {"little-host-memory"},
    "seed_003": {"sources-disagree"},
    "two_tenants": {"neighbours"},
    "wsl2": {"display", "expandable-segments", "little-host-memory"},
}


def remarked(answer: Json) -> set[str]:
    found = answer["judgement"]
    return {each["name"] for each in (*found["remarks"], *(one for on in found["devices"] for one in on["remarks"]))}


def test_every_machine_has_its_expectation() -> None:
    assert set(EXPECTED) == set(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_machine_gets_its_verdict_and_no_context_is_opened_unasked(scenario: str, tmp_path: Path) -> None:
    log = tmp_path / "contexts"
    status, expected = EXPECTED[scenario]
    answer = judged(scenario, tmp_path, "--release", "0.32.0", status=status, FAKE_CONTEXT_LOG=str(log))
    found = answer["judgement"]["devices"]

    assert not log.exists()
    assert expected == [
        (each["start_check"]["verdict"], each["start_check"]["largest"], each["believed"]["total_from"])
        for each in found
    ]
    assert all(each["start_check"]["share"] == 0.92 for each in found)
    assert remarked(answer) == REMARKS.get(scenario, remarked(answer))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_machine_is_told_in_words_within_the_width(scenario: str, tmp_path: Path) -> None:
    done = machine(scenario, tmp_path).run("-m", "oomph", "probe", "--release", "0.19.1", COLUMNS="76")
    first, *lines = done.stdout.splitlines()

    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, (first, *lines))) <= 76
    assert first.startswith(("cuda:0 (", "GPU 0, ") if EXPECTED[scenario][1] else "No GPU that an engine")


def test_both_ways_in_which_hami_and_the_driver_disagree_are_named_once_the_driver_is_asked(tmp_path: Path) -> None:
    smaller = judged("hami_driver_smaller", tmp_path / "a", "--context")
    larger = judged("hami_nvml_smaller", tmp_path / "b", "--context")
    totals = [answer["judgement"]["devices"][0]["believed"]["total"] for answer in (smaller, larger)]

    assert totals == [12 << 30, 24139 << 20]
    assert "sources-disagree" in remarked(smaller)
    assert {"clamp-unseen-by-driver", "less-than-believed"} <= remarked(larger)
    assert larger["judgement"]["devices"][0]["smallest"]["source"] in {"HAMi's limit", "NVML"}


def test_old_releases_do_not_ask_before_they_load(tmp_path: Path) -> None:
    answer = judged("orphan_engine", tmp_path, "--release", "0.9.0", status=3)
    check = answer["judgement"]["devices"][0]["start_check"]
    said = machine("orphan_engine", tmp_path / "words").run("-m", "oomph", "probe", "--release", "0.9.0").stdout

    assert (check["verdict"], check["largest"]) == (None, None)
    assert "has no start check" in " ".join(said.split())
    assert "surely passes" not in " ".join(said.split())


def test_a_lost_card_that_is_hidden_leaves_the_others_sure(tmp_path: Path) -> None:
    answer = judged("lost_gpu", tmp_path, "--release", "0.32.0", status=0, CUDA_VISIBLE_DEVICES="0")

    assert answer["judgement"]["visible"]["indices"] == [0]


def test_a_clamp_that_was_not_seen_at_work_is_unsure_and_said_so_first(tmp_path: Path) -> None:
    words = ("-m", "oomph", "probe", "--release", "0.32.0")
    done = machine("clean_24gb", tmp_path).run(*words, CUDA_DEVICE_MEMORY_LIMIT_0="12g")

    assert done.returncode == 3
    assert "unsure whether vLLM 0.32.0 passes" in " ".join(done.stdout.split("\n\n")[0].split())


@pytest.mark.parametrize(
    ("value", "indices"),
    [("7,0", [7, 0]), ("", []), ("GPU-000000a5", [5]), ("3,3", []), ("-1", [])],
)
def test_the_shells_own_variable_chooses_what_is_judged(value: str, indices: list[int], tmp_path: Path) -> None:
    answer = judged("eight_mixed", tmp_path, CUDA_VISIBLE_DEVICES=value)

    assert answer["judgement"]["visible"]["indices"] == indices
    assert len(answer["gpus"]) == 8


def test_a_saved_answer_is_judged_again_and_alike(tmp_path: Path) -> None:
    file = tmp_path / "probe.json"
    there = machine("orphan_engine", tmp_path)
    file.write_text(there.run("-m", "oomph", "probe", "--json").stdout)
    again = subprocess.run(
        [sys.executable, "-m", "oomph", "probe", "--json", "--device", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert again.returncode == 1
    assert json.loads(again.stdout) == json.loads(file.read_text())


def test_watching_redraws_until_it_is_interrupted(tmp_path: Path) -> None:
    there = machine("clean_24gb", tmp_path)
    watching = subprocess.Popen(
        [sys.executable, "-u", "-m", "oomph", "probe", "--watch", "0.2", "--release", "0.32.0"],
        env=there.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    seen: list[str] = []
    while sum("23.62 GiB of 23.62 GiB" in line for line in seen) < 1:
        seen.append(watching.stdout.readline())
    scenario = tmp_path / "scenario.txt"
    scenario.write_text(scenario.read_text().replace("  used 1MiB\n", "  used 8GiB\n"))
    while sum("15.62 GiB of 23.62 GiB" in line for line in seen) < 2:
        seen.append(watching.stdout.readline())
    watching.send_signal(signal.SIGINT)
    _, said = watching.communicate(timeout=30)

    assert (watching.returncode, said) == (1, "")


@pytest.mark.parametrize("pause", ["0", "-1", "nan", "0.01", "inf", "1e12"])
def test_watching_without_a_pause_or_without_an_end_to_it_is_refused(pause: str, tmp_path: Path) -> None:
    done = machine("clean_24gb", tmp_path).run("-m", "oomph", "probe", f"--watch={pause}")

    assert (done.returncode, done.stdout) == (2, "")
    assert "every 0.2 seconds at the most" in done.stderr


def test_eight_cards_take_a_quarter_of_a_second_of_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = machine("eight_mixed", tmp_path)
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert there.run("-m", "oomph", "probe", "--json", "--release", "0.32.0").returncode == 1
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    with capsys.disabled():
        print(f"\n  oomph probe, eight cards: {min(spent) * 1000:.0f} ms of CPU (wanted: 250)", end="")  # noqa: T201 - the figure

    assert min(spent) < 0.75
