"""Prints what one release says, or what moved between two: the answer first, then part by part.

Knows the words of the report. Does not read trees.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from scouting.compare import Difference, Moved
from scouting.defaults import Default
from scouting.extract import Said
from scouting.functions import Function
from scouting.metrics import Metric
from scouting.options import Flag
from scouting.sentences import Sentence
from scouting.watched import MEMORY_WORDS

T = TypeVar("T")


def difference(found: Difference, *, every: bool) -> Iterator[str]:
    """The report on two releases; `every` shows also what has no word about memory in it."""
    sentences = found.sentences if every else _about_memory(found.sentences, lambda each: each.text)
    defaults = found.defaults if every else _about_memory(found.defaults, _matters)
    yield _summary(found, sentences, defaults)
    yield from _section("defaults", _moved(defaults, _default, _default_change))
    yield from _section("functions that decide bytes", _moved(found.functions, _function, _function_change))
    yield from _section("options", [*_moved(found.flags, _flag, _flag_change), *map(_rename, found.renamed)])
    yield from _section("sentences", _moved(sentences, _sentence, _sentence_change))
    yield from _section("metrics", _moved(found.metrics, _metric, _metric_change))
    hidden = len(found.sentences) - len(sentences) + len(found.defaults) - len(defaults)
    if hidden:
        yield f"\n{hidden} more changes without a word about memory: --all"


def listing(said: Said, *, every: bool) -> Iterator[str]:
    """What one release says."""
    sentences = [each for each in said.sentences if every or _memory(each.text)]
    defaults = [each for each in said.defaults if every or _memory(_matters(each))]
    yield (
        f"vLLM {said.release}: {len(defaults)} defaults, {len(said.functions)} functions that decide bytes, "
        f"{len(said.flags)} options, {len(sentences)} sentences, {len(said.metrics)} metrics"
    )
    yield from _section("defaults", map(_default, defaults))
    yield from _section("functions that decide bytes", map(_function, said.functions))
    yield from _section("options", map(_flag, said.flags))
    yield from _section("sentences", map(_sentence, sentences))
    yield from _section("metrics", map(_metric, said.metrics))


def _summary(found: Difference, sentences: Moved[Sentence], defaults: Moved[Default]) -> str:
    counts = (
        (len(defaults), "default"),
        (len(found.functions), "watched function"),
        (len(found.flags) + len(found.renamed), "option"),
        (len(sentences), "sentence"),
        (len(found.metrics), "metric"),
    )
    told = [f"{count} {noun}{'s' if count != 1 else ''}" for count, noun in counts if count]
    if not told:
        return f"{found.before} -> {found.after}: nothing watched moved"
    return f"{found.before} -> {found.after}: {', '.join(told)} moved"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield f"\n{title}"
        yield from (f"  {line}" for line in body)


def _moved(moved: Moved[T], show: Callable[[T], str], change: Callable[[T, T], str]) -> Iterator[str]:
    yield from (f"~ {change(old, new)}" for old, new in moved.changed)
    yield from (f"+ {show(each)}" for each in moved.added)
    yield from (f"- {show(each)}" for each in moved.removed)


def _about_memory(moved: Moved[T], text: Callable[[T], str]) -> Moved[T]:
    return Moved(
        added=tuple(each for each in moved.added if _memory(text(each))),
        removed=tuple(each for each in moved.removed if _memory(text(each))),
        changed=tuple(pair for pair in moved.changed if _memory(text(pair[0])) or _memory(text(pair[1]))),
    )


def _memory(text: str) -> bool:
    low = text.lower()
    return any(word in low for word in MEMORY_WORDS)


def _matters(default: Default) -> str:
    """Every watched default matters; an environment variable only if its name speaks of memory."""
    return default.name if default.name.startswith("env ") else "memory"


def _default(each: Default) -> str:
    return f"{each.name} = {each.value}  ({each.file})"


def _default_change(old: Default, new: Default) -> str:
    moved = new.file if old.file == new.file else f"{old.file} -> {new.file}"
    for opening, separator, closing in (("(", ", ", "()"), ("", "; ", "")):  # a list of choices, a list of conditions
        if old.value.startswith(opening) and separator in old.value + new.value:
            before, after = (each.value.strip(closing or None).split(separator) for each in (old, new))
            gone = "".join(f"\n      - {each}" for each in before if each not in after)
            come = "".join(f"\n      + {each}" for each in after if each not in before)
            return f"{new.name}{'' if gone + come else ' reordered'}  ({moved}){gone}{come}"
    return f"{new.name}: {old.value} -> {new.value}  ({moved})"


def _function(each: Function) -> str:
    return f"{each.name}  ({each.file}:{each.line})"


def _function_change(old: Function, new: Function) -> str:
    if old.digest == new.digest:
        return f"{new.name} moved unchanged  ({old.file} -> {new.file}:{new.line})"
    moved = "" if old.file == new.file else f", was {old.file}"
    return f"{new.name} changed  ({new.file}:{new.line}{moved})"


def _flag(each: Flag) -> str:
    negated = " [--no-]" if each.negations else ""
    choices = f" {{{','.join(each.choices)}}}" if each.choices else ""
    default = "not visible" if each.default is None else each.default
    return f"{' '.join(each.names)}{negated}  {_kind(each)}{choices}, default {default}  ({each.file})"


def _flag_change(old: Flag, new: Flag) -> str:
    told = []
    if set(old.names) != set(new.names):
        told.append(f"names {' '.join(old.names)} -> {' '.join(new.names)}")
    if old.default != new.default:
        told.append(f"default {old.default} -> {new.default}")
    if set(old.choices) != set(new.choices):
        told.append(_choices(set(old.choices), set(new.choices)))
    if (old.kind, old.nargs, old.human) != (new.kind, new.nargs, new.human):
        told.append(f"kind {_kind(old)} -> {_kind(new)}")
    if old.negations != new.negations:
        told.append(f"{'gained' if new.negations else 'lost'} its --no- form")
    return f"{new.names[0]}: {'; '.join(told)}  ({new.file})"


def _choices(old: set[str], new: set[str]) -> str:
    told = [f"choices + {', '.join(sorted(new - old))}"] if new - old else []
    told += [f"choices - {', '.join(sorted(old - new))}"] if old - new else []
    return "; ".join(told)


def _kind(flag: Flag) -> str:
    return f"{flag.kind}{'' if flag.nargs is None else f' nargs={flag.nargs}'}{' human' if flag.human else ''}"


def _rename(pair: tuple[Flag, Flag]) -> str:
    return f"? {pair[0].names[0]} -> {pair[1].names[0]}, renamed by the look of it  ({pair[1].file})"


def _sentence(each: Sentence) -> str:
    return f"{each.said}: {each.text!r}  ({each.file})"


def _sentence_change(old: Sentence, new: Sentence) -> str:
    if old.text == new.text:
        return f"{old.said} -> {new.said}: {new.text!r}  ({new.file})"
    return f"{new.said}: {old.text!r}\n    -> {new.text!r}  ({new.file})"


def _metric(each: Metric) -> str:
    labels = "labels not visible" if each.labels is None else f"{{{', '.join(each.labels)}}}"
    return f"{each.name}  {each.kind or 'kind not visible'} {labels}{' hidden' if each.hidden else ''}  ({each.file})"


def _metric_change(old: Metric, new: Metric) -> str:
    told = [f"{old.kind} -> {new.kind}"] if old.kind != new.kind else []
    told += [f"labels {old.labels} -> {new.labels}"] if old.labels != new.labels else []
    told += [f"hidden {old.hidden} -> {new.hidden}"] if old.hidden != new.hidden else []
    return f"{new.name}: {'; '.join(told)}  ({new.file})"
