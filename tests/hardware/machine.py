"""Machines that are not here: a scenario file becomes libraries that answer for its cards, and a tree of its files.

The libraries stand in for the driver only; `nvidia-ml-py`, ctypes and all of oomph are the real ones. They are found
by LD_LIBRARY_PATH, so a scenario is always asked from a process of its own: `Machine.environment` is what to give it.

A scenario file has a part that the libraries read (see scenario.h) and sections for the test:
    == env                  lines NAME=value
    == file PATH            its text, below the root that OOMPH_ROOT names
    == process PID PARENT COMM      its command line, as a shell would write it
    == without LIBRARY …    which are not there
"""

import atexit
import functools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
SCENARIOS = sorted(path.stem for path in (FOLDER / "scenarios").glob("*.txt"))
LIBRARIES = {"libnvidia-ml.so.1": "fake_nvml.c", "libcuda.so.1": "fake_cuda.c"}
_OURS = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "VLLM_", "PYTORCH_", "LD_", "KUBERNETES_", "GPU_", "OOMPH_", "FAKE_")


@dataclass(frozen=True, slots=True)
class Machine:
    """One that is not here: what to give a process so that it believes to be on it."""

    root: Path
    environment: dict[str, str]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Our Python with these words, there."""
        return subprocess.run(
            [sys.executable, *words],
            env=self.environment | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@functools.cache
def libraries() -> Path:
    """The folder in which both are, made once."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        if os.environ.get("CI"):
            pytest.fail("no C compiler: CI must install one, for the libraries that stand in for a driver")
        pytest.skip("no C compiler here (cc or gcc), which the libraries that stand in for a driver need")
    folder = Path(tempfile.mkdtemp(prefix="oomph-driver-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, source in LIBRARIES.items():
        words = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-Wl,-soname,{name}"]
        subprocess.run([*words, "-o", str(folder / name), str(FOLDER / source)], check=True)
    return folder


def machine(scenario: str, folder: Path) -> Machine:
    """The machine of that name, or of that text, with its files below the folder."""
    text = scenario if "\n" in scenario else (FOLDER / "scenarios" / f"{scenario}.txt").read_text()
    root, found = folder / "root", folder / "libraries"
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/stat").write_text("77 (python) S 1")
    (folder / "scenario.txt").write_text(text)
    found.mkdir()
    for name in LIBRARIES:
        (found / name).symlink_to(libraries() / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    environment |= {"LD_LIBRARY_PATH": str(found), "FAKE_GPU_SCENARIO": str(folder / "scenario.txt")}
    environment |= {"OOMPH_ROOT": str(root)}
    for kind, words, lines in sections(text):
        if kind == "env":
            environment |= dict(line.split("=", 1) for line in lines if line)
        elif kind == "file":
            _write(root / words[0], "".join(f"{line}\n" for line in lines))
        elif kind == "process":
            _process(root, words, lines[0])
        elif kind == "without":
            for name in words:
                (found / name).unlink()
    return Machine(root, environment)


def sections(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Kind, words and lines of each part that is for us."""
    for part in text.split("\n== ")[1:]:
        head, *lines = part.rstrip("\n").split("\n")
        kind, *words = head.split(" ")
        yield kind, words, lines


def _process(root: Path, words: list[str], line: str) -> None:
    pid, parent, comm = words
    _write(root / "proc" / pid / "comm", f"{comm}\n")
    _write(root / "proc" / pid / "stat", f"{pid} ({comm}) S {parent} {pid} {pid} 0 -1 4194560 0 0\n")
    _write(root / "proc" / pid / "cmdline", "\0".join(shlex.split(line)) + "\0")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def probed(there: Machine, *, context: bool = False, **more: str) -> dict[str, Any]:
    """What the readers find there, as the contract writes it."""
    program = (
        "import sys; from oomph.readers.probe import probe; from oomph.write.probe_json import probe_json; "
        f"sys.stdout.write(probe_json(probe(context={context})))"
    )
    done = there.run("-c", program, **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
