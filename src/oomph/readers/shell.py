"""Text that was made for a shell → the commands in it, each as its words.

Knows quotes, backslashes, comments, operators, redirections and variables that the text itself sets. Runs nothing and
looks nothing up: what only a running shell could know becomes a hole, which `words.holes` finds, and whoever needs the
value refuses.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from oomph.errors import UsageError
from oomph.readers.words import CLOSE, OPEN, assigned, hole, holes

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER: Final = re.compile(r"<[A-Za-z][^<>|&;\n]{0,80}>")
_REDIRECTION: Final = re.compile(r"&>>?|[<>]{1,3}&?[0-9-]*\|?")
_OPERATOR: Final = r"&&|\|\||\|&|;;|."
_FLAG_NEXT: Final = re.compile(r"[ \t]*--?[A-Za-z]")
_ENDS: Final = frozenset(" \t\n;|<>()&")  # of a word, unless quoted
_DEPTH: Final = 8  # of defaults within defaults


def commands(text: str, *, notes: list[str]) -> Iterator[tuple[str, ...]]:
    """The commands in order; what they set is known to the ones after them."""
    reader = _Reader(text=text.replace(OPEN, "?").replace(CLOSE, "?"), notes=notes)
    while reader.at < len(reader.text):
        words = reader.command()
        if words:
            reader.remember(words)
            yield words


def split(text: str) -> list[str]:
    """All words of a text that holds one command."""
    return [word for words in commands(text, notes=[]) for word in words]


@dataclass(slots=True, kw_only=True)
class _Reader:
    """A place in the text, and the variables that were set before it."""

    text: str
    notes: list[str]
    at: int = 0
    depth: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    def remember(self, words: tuple[str, ...]) -> None:
        """Keep what `A=1` and `export A=1` set for the commands that follow."""
        said = words[1:] if words[0] in {"export", "declare", "readonly", "local", "set"} else words
        pairs = [assigned(word) for word in said]
        if all(pairs):
            self.variables.update(pair for pair in pairs if pair is not None)

    def command(self) -> tuple[str, ...]:
        """Read up to the operator or line end that closes the command."""
        words: list[str] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "\n":
                self.at += 1
                if not (words and _FLAG_NEXT.match(self.text, self.at)):
                    return tuple(words)
                self._note("lines without a backslash at their end were read as one command")
            elif sign in " \t":
                self.at += 1
            elif sign == "#":
                self._skip_past(r"[^\n]*")
            elif sign in "()":
                self._parenthesis(words)
            elif sign in "<>&|;" and not _PLACEHOLDER.match(self.text, self.at):
                if self._ended_by_operator(words):
                    return tuple(words)
            else:
                words += self._word()
        return tuple(words)

    def _ended_by_operator(self, words: list[str]) -> bool:
        """Skip a redirection; any other operator ends the command."""
        if found := _REDIRECTION.match(self.text, self.at):
            self.at = found.end()
            if words and words[-1].isdecimal() and self.text[found.start() - 1] == words[-1][-1]:
                words.pop()  # the number of a stream: 2>
            if found[0][-1] in "<>|" or found[0].endswith(">&"):
                self._skip_past(r"[ \t]*")
                self._word()
            return False
        self._skip_past(_OPERATOR)
        return True

    def _parenthesis(self, words: list[str]) -> None:
        """Brackets around a command are skipped; a remark in brackets behind one is left out."""
        if self.text[self.at] == "(" and words:
            self._note("what stands in brackets behind the command was left out")
            self._skip_past(r"\([^()\n]*\)?")
        else:
            self.at += 1

    def _word(self) -> list[str]:
        """One word; several where a bare variable holds several."""
        if self.text.startswith(('{"', "{'"), self.at) and (bare := self._bare_json()):
            return [bare]
        pieces = [""]
        quoted = False
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "<" and (found := _PLACEHOLDER.match(self.text, self.at)):
                pieces[-1] += found[0]
                self.at = found.end()
            elif sign in _ENDS:
                break
            elif sign in "'\"":
                quoted = True
                pieces[-1] += self._quoted(sign)
            elif sign in "$`":
                self._spread(pieces, self._expansion())
            elif sign == "\\":
                pieces[-1] += self._escaped()
            else:
                pieces[-1] += sign
                self.at += 1
        return pieces if quoted or pieces != [""] else []

    def _escaped(self) -> str:
        self.at += 2
        sign = self.text[self.at - 1 : self.at]
        return "" if sign == "\n" else sign

    def _quoted(self, mark: str) -> str:
        """Up to the closing mark; between double ones, variables are put in."""
        begin, self.at = self.at, self.at + 1
        said = ""
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == mark:
                self.at += 1
                return said
            if mark == '"' and sign in "$`":
                said += self._expansion()
            elif mark == '"' and sign == "\\" and self.text[self.at + 1 : self.at + 2] in set('$`"\\\n'):
                said += self._escaped()
            else:
                said += sign
                self.at += 1
        message = f"a quote is never closed: {self.text[begin : begin + 40]!r} (was a part of the command lost?)"
        raise UsageError(message)

    def _bare_json(self) -> str | None:
        """An object in braces that lost the quotes around it; a shell would have torn it apart."""
        try:
            _, end = json.JSONDecoder().raw_decode(self.text, self.at)
        except (ValueError, RecursionError):
            return None
        self._note("JSON without quotes around it was read as one word; a shell needs single quotes there")
        begin, self.at = self.at, end
        return self.text[begin:end]

    def _expansion(self) -> str:
        """The value of `$NAME`, `${NAME:-value}`; a hole for what only a running shell knows."""
        begin = self.at
        if self.text[begin] == "`":
            self._skip_past(r"`[^`]*`?")
        elif self.text.startswith("$(", begin):
            self._skip_balanced("()")
        elif self.text.startswith("${", begin):
            self._skip_balanced("{}")
            return self._braced(self.text[begin + 2 : self.at].removesuffix("}"), self.text[begin : self.at])
        elif found := _NAME.match(self.text, begin + 1):
            self.at = found.end()
            return self.variables.get(found[0], "~" if found[0] == "HOME" else hole(f"${found[0]}"))
        elif begin + 1 < len(self.text) and self.text[begin + 1] in "0123456789@*#?!":
            self.at += 2
        else:
            self.at += 1
            return "$"
        return hole(self.text[begin : self.at])

    def _braced(self, inside: str, whole: str) -> str:
        name = _NAME.match(inside)
        if name is None:
            return hole(whole)
        rest = inside[name.end() :]
        if name[0] in self.variables and (not rest or rest[0] in ":-="):
            return self.variables[name[0]]
        for sign in (":-", ":=", "-", "="):
            if rest.startswith(sign) and self.depth < _DEPTH:
                self._note(f"{whole} was read as the default inside it")
                return self._filled(rest.removeprefix(sign))
        return hole(whole)

    def _filled(self, default: str) -> str:
        """A default, with what it refers to put in."""
        inner = _Reader(text=f'"{default}"', notes=self.notes, depth=self.depth + 1, variables=self.variables)
        return inner._quoted('"') if '"' not in default else default.strip('"')

    def _spread(self, pieces: list[str], value: str) -> None:
        """A bare variable is split where it holds spaces."""
        first, *rest = [value] if holes(value) else re.split(r"[ \t\n]+", value)
        pieces[-1] += first
        pieces += rest

    def _skip_balanced(self, pair: str) -> None:
        depth = 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            depth += (sign == pair[0]) - (sign == pair[1])
            self.at += 1
            if depth == 0 and sign == pair[1]:
                return

    def _skip_past(self, pattern: str) -> None:
        if found := re.compile(pattern).match(self.text, self.at):
            self.at = found.end()

    def _note(self, said: str) -> None:
        if said not in self.notes:
            self.notes.append(said)
