"""Python's tracebacks, as they stand in logs: whole, in excerpts, inside any prefix.

Knows a frame, an exception with what it says, and the sentences that chain one traceback to the next. Does not know
whose they are, nor which exception matters.
"""

import re
from typing import Final

_FRAME: Final = re.compile(
    r'^\W{0,12}File ["“](?P<file>[^"”\n]{1,400})["”], line (?P<line>[0-9]{1,7})(?:, in (?P<function>[\w<>.]{1,120}))?'
)
_RAISED: Final = re.compile(
    r"^\W{0,6}(?:ray\.exceptions\.RayTaskError\((?P<ray>\w{3,60})\)|"
    r"(?P<kind>(?:[A-Za-z_]\w{0,60}\.){0,8}(?:[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Failure|OfResources)|Exception)))"
    r"(?P<colon>:|$| \(most)(?P<said>.*)$",
    re.DOTALL,
)
_ENDINGS: Final = ("Error", "Exception", "Interrupt", "Exit", "Failure", "OfResources")
_CODE: Final = re.compile(
    r"(?:raise|return|assert|if|elif|with|await|yield|for|self\.\w{1,60}|\w{1,60} =|\w{1,60}\(|f?[\"'])[ (=.\"']"
)
_BEGUN: Final = "Traceback (most recent call last)"
_CHAINED: Final = ("During handling of the above exception", "The above exception was the direct cause")
_ROOTS: Final = ("/site-packages/", "/dist-packages/", "/vllm/vllm/")


def frame_in(text: str) -> tuple[str, str] | None:
    """The file, as much of it as tells it, and the function; None where the line is no frame."""
    if ", line " not in text or (found := _FRAME.search(text)) is None:
        return None
    return shortened(found["file"]), found["function"] or ""


def raised_in(text: str) -> tuple[str, str] | None:
    """The exception that a line names at its beginning, and what it says."""
    if not any(ending in text for ending in _ENDINGS) or (found := _RAISED.match(text)) is None:
        return None
    return found["ray"] or found["kind"], found["said"].strip()


def is_code(text: str) -> bool:
    """Whether it is a line of source, quoted below its frame."""
    return _CODE.match(text) is not None


def begins(text: str) -> bool:
    """Whether a traceback begins with this line."""
    return _BEGUN in text


def chains(text: str) -> bool:
    """Whether the next traceback follows from the one before."""
    return any(sentence in text for sentence in _CHAINED)


def shortened(path: str) -> str:
    """Without where it is installed: `v1/worker/gpu_worker.py` of vLLM, `torch/cuda/graphs.py` of others."""
    path = path.replace("\\", "/")
    for root in _ROOTS:
        path = path.rpartition(root)[2]
    for package in ("vllm/", "sglang/"):
        if (at := path.rfind(f"/{package}")) >= 0:
            path = path[at + 1 :]
    path = path.removeprefix("…/")
    return path.removeprefix("vllm/")
