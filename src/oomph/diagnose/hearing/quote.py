"""What a request said, where an engine logs its requests: nothing of that happened to the engine.

Knows where a logged prompt begins and that it may go on for lines of its own. Does not know what it says.
"""

from dataclasses import dataclass
from typing import Final

_LOGGER: Final = "logger.py:"  # entrypoints/logger.py, which logs nothing but requests
_BEGINS: Final = ("Received request ", "Added request ")
_PROMPT: Final = "prompt: "
_ENDS: Final = "params: "  # what follows the prompt
_LINES: Final = 400  # that one prompt may go on for


@dataclass(slots=True)
class Quote:
    """Hears a log line by line."""

    _left: int = 0  # lines for which the prompt may still go on

    def holds(self, who: str, file: str, words: str) -> bool:
        """Whether a line is inside a prompt that began on a line before it."""
        if words.startswith(_BEGINS):
            open_ended = _PROMPT in words and _ENDS not in words.partition(_PROMPT)[2]
            self._left = _LINES if open_ended else 0
            return False
        inside = self._left > 0 and (not (who or file) or file.startswith(_LOGGER))
        self._left = self._left - 1 if inside and _ENDS not in words else 0
        return inside
