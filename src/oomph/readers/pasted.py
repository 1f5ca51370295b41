"""Repairs what web pages, chats and terminals do to a command on its way into the clipboard.

Knows typography, prompts and line ends. Does not know what a command means; every repair is told in a note.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

_START: Final = (
    r"(?:sudo|env|export|exec|nohup|time|uvx?|cd|source|vllm|python[0-9.]*|docker|podman|nerdctl"
    r"|[A-Z_][A-Z0-9_]*=|/\S*/)"
)
_PROMPT: Final = re.compile(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:\[?[\w.-]+@[\w.-]+[^\n$#]{0,80})?[$#%❯➜]>?[ \t]+(?=" + _START + ")",
    re.MULTILINE,
)
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_DASHES: Final = re.compile(r"(?<![^\s'\"(\[])(?P<dashes>[–—―‒][–—―‒-]*)(?P<name>[A-Za-z][\w.-]*)")
_SHORT: Final = 3  # letters of -tp, -dcp

_Repair = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str], str]


def _dash(found: re.Match[str]) -> str:
    """Two dashes became one long one; a single one before two letters was a single one."""
    alone = found["dashes"] == "–" and len(found["name"]) <= _SHORT
    return ("-" if alone else "--") + found["name"]


_REPAIRS: Final[tuple[_Repair, ...]] = (
    (re.compile("\r\n?"), "\n", "line ends of Windows were read as plain ones"),
    (re.compile("[\u200b-\u200f\u2060\ufeff]"), "", "invisible signs were left out"),
    (re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"), " ", "non-breaking spaces were read as spaces"),
    (re.compile("[“”„‟″]"), '"', "typographic quotes were read as plain ones"),
    (re.compile("[‘’‚‛′]"), "'", "typographic quotes were read as plain ones"),
    (re.compile("[\u2010\u2011\u2212\ufe63\uff0d]"), "-", "typographic dashes were read as plain ones"),
    (_DASHES, _dash, "typographic dashes were read as plain ones"),
    (re.compile(r"\\[ \t]+\n"), "\\\n", "spaces behind a backslash at a line's end were left out; a shell trips there"),
    (re.compile(r"[ \t][`^][ \t]*\n"), " \\\n", "line ends of PowerShell or cmd were read as a shell's"),
    (_FENCE, "", "the fence around the code was left out"),
    (_PROMPT, "", "the prompt before the command was left out"),
)


def repaired(text: str, *, notes: list[str]) -> str:
    """The text as it was before it was pasted."""
    for pattern, instead, said in _REPAIRS:
        text, count = pattern.subn(instead, text)
        if count and said not in notes:
            notes.append(said)
    return text


def as_text(words: Sequence[str]) -> str:
    """Words that a shell has split already → text that can be repaired and split again.

    Typographic quotes are no quotes to a shell: what they hold was torn apart at its spaces.
    """
    from shlex import quote  # noqa: PLC0415 - only odd words need it

    kept: list[str] = []
    inside = 0
    for word in (word.strip("\r") for word in words if not word.isspace()):
        kept.append(word if inside or _torn(word) else quote(word))
        inside = max(0, inside + word.count("‘") + word.count("“") - word.count("’") - word.count("”"))
    return " ".join(kept)


def _torn(word: str) -> bool:
    """Whether a shell has split here where the writer did not mean it, or not where they did."""
    if " " in word or word[:1] in {"{", "["}:
        return False  # it was quoted: what is in it is for the engine
    return any(sign in word for sign in "‘’“”\u00a0")
