"""Whether a pasted text is Python rather than a command. Apart from its reader, which a command does not need."""

import re
from typing import Final

CALL: Final = re.compile(r"\b(?:LLM|AsyncLLM|AsyncLLMEngine|EngineArgs|AsyncEngineArgs|Namespace)\s*\(")
PRINTED: Final = re.compile(r"(?:\A|args:)\s*\{(?=\s*['\"]\w+['\"]\s*:)")
_COMMAND: Final = re.compile(r"\bvllm\s+serve\b|\b-m\s+vllm\.")


def is_python(text: str) -> bool:
    """Whether it holds a call of an engine's class, or a dictionary as vLLM prints its arguments."""
    return bool(PRINTED.search(text) or (CALL.search(text) and not _COMMAND.search(text)))
