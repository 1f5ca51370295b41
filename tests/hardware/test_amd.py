"""AMD's cards: through its own client where that is installed, else through the kernel."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hardware.machine import FOLDER
from oomph.ledger.probe import Maker
from oomph.readers.amd import read_amd
from readers.tree import tree

GIB = 1 << 30


def test_a_machine_without_the_driver_of_amd_says_nothing_of_it(tmp_path: Path) -> None:
    cards = read_amd(tmp_path)

    assert (cards.gpus, cards.notes) == ((), ())


@pytest.mark.skipif(importlib.util.find_spec("amdsmi") is not None, reason="amdsmi is here, and is asked instead")
def test_without_the_client_the_kernel_tells_total_and_used(tmp_path: Path) -> None:
    card = "sys/class/drm/card1/device"
    files = {"vendor": "0x1002\n", "mem_info_vram_total": f"{16 * GIB}\n", "mem_info_vram_used": f"{GIB}\n"}
    root = tree(tmp_path, {"sys/module/amdgpu/version": "6", "sys/class/drm/card0/device/vendor": "0x10de\n"})
    cards = read_amd(tree(root, {f"{card}/{name}": text for name, text in files.items()}))
    (gpu,) = cards.gpus

    assert (gpu.index, gpu.maker, gpu.listed) == (0, Maker.AMD, False)
    assert (gpu.total, gpu.used, gpu.free) == (16 * GIB, GIB, 15 * GIB)
    assert cards.notes == ("AMD: amdsmi cannot be imported; who is on its cards is not known",)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Of our own, with a refusal for every name that the client binds and the readers never ask."""
    client, compiler = importlib.util.find_spec("amdsmi"), shutil.which("cc")
    if client is None or client.origin is None or compiler is None:
        pytest.skip("amdsmi, which comes with ROCm, or a C compiler is not here")
    bound = re.findall(
        r"_libraries\['libamd_smi.so'\]\.(\w+)", Path(client.origin).with_name("amdsmi_wrapper.py").read_text()
    )
    ours = (FOLDER / "fake_amdsmi.c").read_text()
    stubs = "".join(
        f"int {name}(void) {{ return NOT_SUPPORTED; }}\n" for name in sorted(set(bound)) if f" {name}(" not in ours
    )
    source = tmp_path / "whole.c"
    source.write_text(ours + stubs)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(tmp_path / "libamd_smi.so"), str(source)], check=True)
    return tmp_path


def test_the_client_tells_cards_their_memory_and_who_is_on_them(library: Path) -> None:
    root = tree(library / "root", {"sys/module/amdgpu/version": "6"})
    program = (
        "import json; from pathlib import Path; from dataclasses import asdict; "
        "from oomph.readers.amd import read_amd; "
        f"print(json.dumps(asdict(read_amd(Path({str(root)!r})))))"
    )
    paths = {"LD_LIBRARY_PATH": str(library), "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=paths, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    large, small = answer["gpus"]

    assert (large["name"], large["total"], large["free"]) == ("AMD Instinct MI300X", 192 * GIB, 92 * GIB)
    assert [(each["pid"], each["name"], each["holds"]) for each in large["processes"]] == [(4711, "python3", 99 * GIB)]
    assert (large["unified"], small["unified"]) == (False, True)
    assert (small["listed"], small["processes"]) == (False, [])
    assert any("AMD GPU 1: its processes: " in note for note in answer["notes"])
