from collections.abc import Callable

import pytest

from scouting.functions import Watch, functions
from scouting.source import Package

Write = Callable[[dict[str, str]], Package]

BASE = """
    class Worker:
        def determine(self, u):
            if self.kv:
                raise ValueError("no")
            assert u, "some words"
            free = total * 0.9
            return free - u
"""


def digest(write: Write, text: str) -> str:
    package = write({"v1/worker/gpu_worker.py": text})
    found = functions(package, (Watch(files=("v1/worker/gpu_worker.py",), names=("Worker.determine",)),))
    return found[0].digest


@pytest.mark.parametrize(
    "talk",
    [
        BASE.replace("def determine(self, u):", 'def determine(self, u: float) -> int:\n            """Docstring."""'),
        BASE.replace("free = total", "free: float = total"),
        BASE.replace("return free", 'logger.info("free %s", free)\n            return free'),
        BASE.replace("return free", 'if verbose:\n                logger.info("x")\n            return free'),
        BASE.replace('"some words"', '"no words"'),
        BASE.replace('"no"', 'f"other words {u}"'),
        BASE.replace("return free", "known: int\n            return free"),
    ],
)
def test_talk_does_not_change_the_digest(write: Write, talk: str) -> None:
    assert talk != BASE
    assert digest(write, talk) == digest(write, BASE)


@pytest.mark.parametrize(
    "work",
    [
        BASE.replace("0.9", "0.92"),
        BASE.replace("free - u", "free + u"),
        BASE.replace("ValueError", "RuntimeError"),
        BASE.replace("assert u", "assert not u"),
        BASE.replace("(self, u)", "(self, u=1)"),
    ],
)
def test_work_does_change_the_digest(write: Write, work: str) -> None:
    assert digest(write, work) != digest(write, BASE)


def test_the_first_home_listed_counts_and_the_line_is_told(write: Write) -> None:
    watch = Watch(files=("new.py", "old.py"), names=("page*",), prefix="V2 ")
    package = write({"old.py": "def page(): return 1\ndef pages(): return 1", "new.py": "\ndef page(): return 2"})
    found = {function.name: (function.file, function.line) for function in functions(package, (watch,))}

    assert found == {"V2 page": ("new.py", 2), "V2 pages": ("old.py", 2)}
