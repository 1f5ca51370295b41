"""`oomph watch` on machines that have devices: their memory is told beside the engines."""

import json
from pathlib import Path

import pytest

from hardware.machine import machine
from live.replay import replayed

GIB = 1 << 30


@pytest.mark.parametrize(("scenario", "devices"), [("clean_24gb", 1), ("eight_mixed", 8), ("no_driver", 0)])
def test_the_memory_of_local_devices_is_told(scenario: str, devices: int, tmp_path: Path) -> None:
    with replayed(["well"]) as urls:
        done = machine(scenario, tmp_path).run("-m", "oomph", "watch", *urls, "--once", "--json")
    told = json.loads(done.stdout)

    assert done.returncode == 0
    assert len(told["devices"]) == devices
    assert all(0 <= device["used"] <= device["total"] for device in told["devices"])
    assert all(device["total"] >= 8 * GIB for device in told["devices"])


def test_a_device_is_a_line_of_the_screen(tmp_path: Path) -> None:
    with replayed(["well"]) as urls:
        done = machine("clean_24gb", tmp_path).run("-m", "oomph", "watch", *urls, "--once")

    assert "GPU 0 NVIDIA" in done.stdout
    assert "MiB used of 23.99 GiB" in done.stdout


@pytest.mark.parametrize(
    ("url", "devices"), [("http://127.0.0.1:8000", 1), ("localhost", 1), ("http://10.0.0.7:8000", 0)]
)
def test_who_drives_a_server_on_this_machine_sees_its_devices(url: str, devices: int, tmp_path: Path) -> None:
    look = (
        "from oomph.readers.device_memory import memory_beside\n"
        f"with memory_beside({url!r}) as look:\n"
        "    print([(held.at, held.used <= held.total) for held in look(3.0)])"
    )
    done = machine("clean_24gb", tmp_path).run("-c", look)

    assert done.stdout.strip() == str([(3.0, True)] * devices)
