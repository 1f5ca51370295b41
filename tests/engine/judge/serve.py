"""The judge's end of the pipe: reads questions as JSON lines on stdin, writes answers as JSON lines on stdout.

Knows the questions by name, in which process each is answered, and who is to blame for an error. Does not know vLLM.

    {"id": 7, "ask": "page", "with": {…}}
    {"id": 7, "answer": …}, or {"id": 7, "error": {"by": "engine", "type": "ValueError", "message": "…"}}

The first line written is a greeting: the release has been imported and the questions can begin.
"""

import faulthandler
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

# In this process, which has no device and so cannot remember one.
_HERE = {
    "page": "judge.specs",
    "need": "judge.planner",
    "plan": "judge.planner",
}
# In a room: a process with one device. The worker's code asks for the device while it is imported.
_IN_A_ROOM = {
    "minimal_pool": "judge.profiling",
    "request_memory": "judge.memory",
    "snapshot": "judge.memory",
    "available_memory": "judge.memory",
    "human_readable_int": "judge.arguments",
    "flags": "judge.arguments",
    "parsed": "judge.arguments",
    "captures": "judge.choices",
    "batch": "judge.choices",
    "served": "judge.admission",
}
# In a child of that room, which ends with the answer: building a configuration or a model leaves traces all over vLLM.
_IN_A_CHILD = {
    "defaults": "judge.defaults",
    "model": "judge.models",
    "adapters": "judge.adapters",
}


def main(release: str, tree: str) -> None:
    """Greet, then answer until the questions end."""
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the engine prints to stdout at will; the pipe must stay clean
    from judge import fakes, rooms

    fakes.install(release)
    print(json.dumps({"ready": release}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        reply = reply_to(asked, tree, rooms)
        print(json.dumps({"id": asked["id"], **reply}), file=answers, flush=True)


def reply_to(asked, tree, rooms):
    """The answer or the error, from the process that may answer."""
    question = asked["ask"]
    if question in _HERE:
        return answered(_HERE[question], asked, tree)
    if question in _IN_A_ROOM:
        return rooms.room_of(asked, tree).pass_on(asked, _IN_A_ROOM[question], alone=False)
    if question in _IN_A_CHILD:
        return rooms.room_of(asked, tree).pass_on(asked, _IN_A_CHILD[question], alone=True)
    return {"error": {"by": "judge", "type": "LookupError", "message": f"there is no question {question!r}"}}


def answered(module, asked, tree):
    """Put the question to the engine in this process."""
    try:
        ask = getattr(importlib.import_module(module), asked["ask"])
        return {"answer": ask(**asked["with"])}
    except Exception as error:  # noqa: BLE001 - whatever the engine raises is its answer
        traceback.print_exc()
        return {"error": {"by": _culprit(error, tree), "type": type(error).__name__, "message": str(error)}}


def _culprit(error, tree):
    """The engine, if its code was running and the error did not come up in a fake that it called."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = str(Path(__file__).parent)
    inside = any(file.startswith(tree) for file in files)
    return "engine" if inside and not files[-1].startswith(ours) else "judge"
