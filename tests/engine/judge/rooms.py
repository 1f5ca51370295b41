"""Processes that believe in one GPU each.

Much of vLLM asks for the device while it is imported and keeps the answer, so a process can speak for one device only.
A room is forked from the judge before any such import, chooses its device, and stays; its imports are made once. What
would leave traces in the room, a configuration or a model, is answered in a child that the room forks for that one
question: a fork of warm imports costs milliseconds, and nothing can leak from one question into the next.
"""

import json
import os
import sys

from judge import device, serve

# For questions that do not depend on the device, as long as there is one.
_ANY = {"name": "NVIDIA H100 80GB HBM3", "capability": [9, 0], "total": 80 * 2**30}

_ROOMS = {}


def room_of(asked, tree):
    """The room of the device that the question names."""
    wanted = asked["with"].pop("device", None) or _ANY
    key = json.dumps(wanted, sort_keys=True)
    if key not in _ROOMS or _ROOMS[key].died:
        _ROOMS[key] = Room(wanted, tree)
    return _ROOMS[key]


class Room:
    """One device: the judge's end of the pipe to its process."""

    def __init__(self, wanted, tree):
        their_questions, our_questions = os.pipe()
        our_answers, their_answers = os.pipe()
        if os.fork() == 0:
            os.close(our_questions)
            os.close(our_answers)
            _stay(wanted, tree, their_questions, their_answers)
        os.close(their_questions)
        os.close(their_answers)
        self._questions = os.fdopen(our_questions, "w", encoding="utf-8")
        self._answers = os.fdopen(our_answers, encoding="utf-8")
        self.died = False

    def pass_on(self, asked, module, *, alone):
        """Let the room, or with `alone` a child of it, answer."""
        print(json.dumps({"asked": asked, "module": module, "alone": alone}), file=self._questions, flush=True)
        line = self._answers.readline()
        if not line:
            self.died = True
            message = "the room died; see the judge's stderr"
            return {"error": {"by": "judge", "type": "EOFError", "message": message}}
        return json.loads(line)


def _stay(wanted, tree, questions, answers):
    """Live as the room until the judge closes its end."""
    os.close(0)  # the judge's own questions are not ours to read
    device.choose(**wanted)
    with os.fdopen(questions, encoding="utf-8") as lines, os.fdopen(answers, "w", encoding="utf-8") as out:
        for line in lines:
            order = json.loads(line)
            answer = _in_child if order["alone"] else serve.answered
            print(json.dumps(answer(order["module"], order["asked"], tree)), file=out, flush=True)
    os._exit(0)


def _in_child(module, asked, tree):
    warm = serve.answered(module, {"ask": "warm_up", "with": {}}, tree)
    if "error" in warm:
        return warm
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        with os.fdopen(theirs, "w", encoding="utf-8") as out:
            json.dump(serve.answered(module, asked, tree), out)
        sys.stderr.flush()
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as answer:
        text = answer.read()
    _, status = os.waitpid(pid, 0)
    if not text:
        message = f"the child died with status {status}; see the judge's stderr"
        return {"error": {"by": "judge", "type": "EOFError", "message": message}}
    return json.loads(text)
