"""The typed end of the pipe to the judges: asks a release of vLLM a question and hands back its answer.

Knows how judges are started, spoken to and ended. Does not know what any question means; tests/engine/judge does.

All judges of one `Bench` are forked from one nursery, which has imported what every release needs (torch,
transformers): a judge then starts in a second or two and shares that memory. Each release is a process of its own,
because one process can hold only one `vllm`.
"""

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NoReturn, Self

from scouting.trees import home

# The releases whose judges must agree with the evidence. scripts/engine fetches exactly these.
RELEASES: Final = (
    "0.11.0",
    "0.12.0",
    "0.14.1",
    "0.17.1",
    "0.18.1",
    "0.19.1",
    "0.20.2",
    "0.22.1",
    "0.24.0",
    "0.26.0",
    "0.27.1",
    "0.28.0",
    "0.29.0",
    "0.31.0",
    "0.32.0",
)

# Older ones, too old to be asked: their source is read by the scout. scripts/engine fetches these too.
OLDER: Final = ("0.6.0", "0.6.4", "0.7.3", "0.8.5", "0.9.1", "0.10.2")

_START: Final = 180.0  # seconds until a judge must have greeted; a cold disk is slow
_ANSWER: Final = 180.0  # seconds without any answer after which a judge counts as stuck
_CHUNK: Final = 1 << 16


class Refusal(Exception):  # noqa: N818 - the engine's answer, not a mistake of ours
    """What the engine raised instead of answering."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(f"{type_}: {message}")
        self.type = type_
        self.message = message


class JudgeError(RuntimeError):
    """The judge itself failed: it died, hung, or was asked what it does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of many: either a value or the refusal."""

    value: object = None
    refusal: Refusal | None = None


def engine_python() -> Path | None:
    """The Python of the engine environment, or None where there is none."""
    if named := os.environ.get("OOMPH_ENGINE_PYTHON"):
        return Path(named)
    ready = [path for path in home().glob("env-*/bin/python") if path.exists()]
    return max(ready, key=lambda path: path.parents[1].stat().st_mtime, default=None)


class _Log:
    """What a process of ours says on stderr, kept to be shown when it dies."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="oomph-judge-")  # noqa: SIM115 - closed by close()

    def tail(self, size: int = 4000) -> str:
        end = self.file.seek(0, os.SEEK_END)
        text = os.pread(self.file.fileno(), size, max(0, end - size))
        return text.decode(errors="replace").strip() or "(it said nothing)"

    def close(self) -> None:
        self.file.close()


class Nursery:
    """The process that has imported what every release shares, and forks the judges. Starts with the first judge."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._log = _Log()
        self._scratch = tempfile.TemporaryDirectory(prefix="oomph-judges-", ignore_cleanup_errors=True)

    def bear(self, release: str, ends: Sequence[int]) -> int:
        """Fork a judge that reads, writes and complains at these three ends; its process id."""
        order = {"release": release, "tree": str(_tree(release))}
        line = self._line or self._start()
        socket.send_fds(line, [json.dumps(order).encode()], list(ends))
        try:
            reply = line.recv(_CHUNK)
        except OSError:
            reply = b""
        if not reply:
            message = f"starting the judge of vLLM {release}: the nursery is gone; its last words:\n{self._log.tail()}"
            raise JudgeError(message)
        return int(reply)

    def close(self) -> None:
        """End the nursery; judges that are still alive notice that their questions have ended."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._log.close()
        self._scratch.cleanup()

    def _start(self) -> socket.socket:
        python = engine_python()
        if python is None:
            message = "there is no engine environment; run scripts/engine, or point OOMPH_ENGINE_PYTHON at one"
            raise JudgeError(message)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(_START)
        self._process = subprocess.Popen(
            [python, "-P", "-m", "judge.nursery"],
            stdin=theirs.fileno(),
            stdout=self._log.file,
            stderr=self._log.file,
            env=_environment() | {"TMPDIR": self._scratch.name},
            cwd=self._scratch.name,
        )
        theirs.close()
        self._line = ours
        return ours


class Judge:
    """One release of vLLM, answering questions. Starts with the first question."""

    def __init__(self, release: str, nursery: Nursery | None = None) -> None:
        self.release = release
        self.pid: int | None = None
        self._nursery = nursery or Nursery()
        self._owns_nursery = nursery is None
        self._log = _Log()
        self._in = self._out = -1
        self._asked = 0
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, question: str, /, **with_: object) -> object:
        """The engine's answer; raises `Refusal` with the engine's own words if it refuses."""
        (answer,) = self.ask_many(question, [with_])
        if answer.refusal is not None:
            raise answer.refusal
        return answer.value

    def ask_many(self, question: str, cases: Sequence[Mapping[str, object]]) -> list[Answer]:
        """All answers in the order of the cases; the questions are sent while answers come back."""
        if self.pid is None:
            self._start()
        first = self._asked
        self._asked += len(cases)
        lines = [
            json.dumps({"id": number, "ask": question, "with": dict(case)}) for number, case in enumerate(cases, first)
        ]
        answers = []
        for number, line in enumerate(
            self._exchange("".join(f"{line}\n" for line in lines).encode(), len(lines)), first
        ):
            answers.append(self._answer(number, json.loads(line)))
        return answers

    def dismiss(self) -> None:
        """Tell the judge that there will be no more questions."""
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    def close(self) -> None:
        """End the judge, politely first."""
        self.dismiss()
        if self.pid is not None:
            if not self._ended(10):
                os.kill(self.pid, signal.SIGKILL)
                self._ended(10)
            os.close(self._out)
            self.pid = None
        self._log.close()
        if self._owns_nursery:
            self._nursery.close()

    def _start(self) -> None:
        read, self._in = os.pipe()
        self._out, write = os.pipe()
        try:
            self.pid = self._nursery.bear(self.release, [read, write, self._log.file.fileno()])
        finally:
            os.close(read)
            os.close(write)
        os.set_blocking(self._in, False)
        self._exchange(b"", 1, patience=_START)  # the greeting: the release is imported

    def _exchange(self, questions: bytes, count: int, patience: float = _ANSWER) -> list[bytes]:
        """Write and read at the same time, so that neither side waits on a full pipe."""
        unsent = memoryview(questions)
        answers: list[bytes] = []
        while len(answers) < count:
            readable, writable, _ = select.select([self._out], [self._in] if unsent else [], [], patience)
            if not readable and not writable:
                self._fail(f"said nothing for {patience:.0f} s")
            if writable:
                try:
                    unsent = unsent[os.write(self._in, unsent[:_CHUNK]) :]
                except BrokenPipeError:
                    self._fail("died")
            if readable:
                said = os.read(self._out, _CHUNK)
                if not said:
                    self._fail("died")
                *whole, self._unread = (self._unread + said).split(b"\n")
                answers += whole
        return answers

    def _answer(self, number: int, reply: dict[str, object]) -> Answer:
        if reply.get("id") != number:
            self._fail(f"answered question {reply.get('id')} when {number} was asked")
        error = reply.get("error")
        if not isinstance(error, dict):
            return Answer(value=reply["answer"])
        if error["by"] != "engine":
            self._fail(f"could not put the question to the engine: {error['type']}: {error['message']}")
        return Answer(refusal=Refusal(error["type"], error["message"]))

    def _fail(self, what: str) -> NoReturn:
        message = f"the judge of vLLM {self.release} {what}; its last words:\n{self._log.tail()}"
        raise JudgeError(message)

    def _ended(self, seconds: float) -> bool:
        """Whether the judge closed its end within this time. It is the nursery's child, so the pipe tells us."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            readable, _, _ = select.select([self._out], [], [], left)
            if readable and not os.read(self._out, _CHUNK):
                return True
        return False


class Bench:
    """All judges of one test run by release, each started when first asked."""

    def __init__(self) -> None:
        self._nursery = Nursery()
        self._judges: dict[str, Judge] = {}

    def __getitem__(self, release: str) -> Judge:
        if release not in self._judges:
            self._judges[release] = Judge(release, self._nursery)
        return self._judges[release]

    def another(self, release: str) -> Judge:
        """A judge of one's own, to be closed by whoever asked: for tests that would spoil a shared one."""
        return Judge(release, self._nursery)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for judge in self._judges.values():
            judge.dismiss()  # all at once: each takes a moment to go
        for judge in self._judges.values():
            judge.close()
        self._nursery.close()


def _tree(release: str) -> Path:
    folder = home() / "trees" / release
    if not (folder / "vllm").is_dir():
        message = f"the source of vLLM {release} is not at {folder}; run scripts/engine, or scouting.trees.tree()"
        raise JudgeError(message)
    return folder


def _environment() -> dict[str, str]:
    """The variables a judge may see: none that would change what the engine answers."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "PYTHON", "HF_", "TORCH"))
    }
    return kept | {
        "PYTHONPATH": str(Path(__file__).parent),
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_PLUGINS": "",
        "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1",  # it would compile an extension
        "OMP_NUM_THREADS": "1",  # threads would not survive the fork
        "CUDA_VISIBLE_DEVICES": "",  # a real GPU must not answer for the faked one
    }
