"""A sentence that a paste has broken into lines, whole again.

Knows that wrapping puts line ends anywhere, even inside a word. Does not know any sentence.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Said

_LINES: Final = 8  # over which one sentence is broken at most


def squeezed(case: Case, said: Said) -> str:
    """A line and those after it without any white space, so that it does not matter where they were broken."""
    begin = next((at for at, line in enumerate(case.log) if line.line >= said.line), None)
    lines = () if begin is None else case.log[begin : begin + _LINES]
    return "".join("".join(line.text for line in lines or (said,)).split())
