"""Starts the real `vllm serve` on loopback with a tiny model and a pinned pool, and always stops all of it.

Knows how the engine of `tests/engine` is started as a server, how to wait for it, and which processes it consists of.
Does not know what is asked of it.

A boot costs 20 to 30 seconds on two cores: share a server where you can. What a test may do to a server of its own:
end or stop `engine_pid` (SIGKILL, SIGSTOP), end `pid` (then the engine is orphaned until the block is left).
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.pipe import engine_python
from live.tiny import tiny

BLOCK_TOKENS: Final = 32  # the smallest block of vLLM's CPU build

_BOOT: Final = 240.0  # seconds until /health must answer; a cold disk and a busy machine are slow
_LEAVE: Final = 15.0  # seconds after which a server that was asked to leave is made to


class ServerError(RuntimeError):
    """The server did not come up; its last words are in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One running server."""

    url: str  # http://127.0.0.1:PORT, without a slash at the end
    model: str  # as /v1/models names it
    blocks: int  # of the pool, the null block among them
    pid: int  # the API server, which leads the process group
    log: Path

    @property
    def pids(self) -> tuple[int, ...]:
        """Every living process of its group."""
        return tuple(sorted(_group(self.pid)))

    @property
    def engine_pid(self) -> int:
        """The process that holds the model: vLLM calls it EngineCore, and it owns the most memory but for the API's."""
        for pid in self.pids:
            if b"EngineCore" in _said(f"/proc/{pid}/comm") or b"EngineCore" in _said(f"/proc/{pid}/cmdline"):
                return pid
        message = f"no EngineCore among {self.pids}"
        raise ServerError(message)


@contextmanager
def served(
    *, blocks: int = 64, length: int = 1024, flags: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """The real vLLM with a pool of so many blocks of 32 tokens; whatever happens, nothing of it is left."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="oomph-served-", ignore_cleanup_errors=True) as scratch:
        log = Path(scratch) / "log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                _words(port, blocks=blocks, length=length, flags=flags),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=_surroundings(scratch, env or {}),
                cwd=scratch,
                start_new_session=True,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _await(url, process, log)
            yield Served(url=url, model="tiny", blocks=blocks, pid=process.pid, log=log)
        finally:
            _stop(process)


def _words(port: int, *, blocks: int, length: int, flags: Sequence[str]) -> list[str]:
    python = engine_python()
    if python is None:
        message = "there is no engine environment; run scripts/engine, or point OOMPH_ENGINE_PYTHON at one"
        raise ServerError(message)
    serve = [str(python.parent / "vllm"), "serve", str(tiny()), "--served-model-name", "tiny"]
    where = ["--host", "127.0.0.1", "--port", str(port)]
    pinned = ["--kv-cache-memory-bytes", "16M", "--num-gpu-blocks-override", str(blocks)]
    shape = ["--block-size", str(BLOCK_TOKENS), "--max-model-len", str(length), "--enforce-eager", "--dtype", "float32"]
    # A test run that is killed takes the server with it: the kernel tells the server, and the server its engine.
    tied = [*filter(None, [shutil.which("setpriv")])]
    return [*([*tied, "--pdeathsig", "TERM", "--"] if tied else []), *serve, *where, *pinned, *shape, *flags]


def _surroundings(scratch: str, more: Mapping[str, str]) -> dict[str, str]:
    """As for one GPU: an API server and an engine, no worker apart; and nothing written outside but caches."""
    ours = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": scratch,
        "VLLM_RPC_BASE_PATH": scratch,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "PYTEST_", "PYTHONPATH"))
    }
    return {**kept, **ours, **more}


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _BOOT
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{url}/health", timeout=5) as answer:  # noqa: S310 - loopback
            if answer.status == 200:
                return
        time.sleep(0.25)
    what = "still silent" if process.poll() is None else f"left with {process.returncode}"
    message = f"starting vllm serve: {what}; its last words:\n{log.read_text(errors='replace')[-4000:]}"
    raise ServerError(message)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the leader; then end whatever is left of its group, stopped and orphaned processes too."""
    for pid in _group(process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LEAVE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    until = time.monotonic() + _LEAVE
    while _group(process.pid) and time.monotonic() < until:
        time.sleep(0.02)


def _group(leader: int) -> set[int]:
    """The living processes whose group this is; what has ended and only waits to be counted is not among them."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            # pid (name) state ppid pgrp …; the name may hold anything, brackets too.
            after = _said(f"/proc/{folder.name}/stat").rpartition(b")")[2].split()
            if len(after) > 2 and int(after[2]) == leader and after[0] not in {b"Z", b"X"}:
                found.add(int(folder.name))
    return found


def _said(path: str) -> bytes:
    """A file of /proc, empty when the process is gone."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port
