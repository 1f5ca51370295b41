"""What moved between two releases, part by part.

Knows how to pair: by name, by shared option strings, by likeness of wording. Does not judge which change moves bytes.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Generic, TypeVar

from scouting.defaults import Default
from scouting.extract import Said
from scouting.functions import Function
from scouting.metrics import Metric
from scouting.options import Flag
from scouting.sentences import Sentence

T = TypeVar("T", bound=Hashable)

_ALIKE: Final = 0.72  # below this, two sentences are taken for two different ones
_RENAMED: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Generic[T]):
    """The difference between two lists of the same thing."""

    added: tuple[T, ...] = ()
    removed: tuple[T, ...] = ()
    changed: tuple[tuple[T, T], ...] = ()  # what was said before, what is said now

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Everything that moved from one release to another."""

    before: str
    after: str
    defaults: Moved[Default]
    functions: Moved[Function]
    flags: Moved[Flag]
    renamed: tuple[tuple[Flag, Flag], ...]  # a guess: removed and added options that look alike
    sentences: Moved[Sentence]
    metrics: Moved[Metric]


def compare(before: Said, after: Said) -> Difference:
    """What the second release says differently."""
    flags = _by_name(before.flags, after.flags, key=lambda flag: flag.names[0], same=_same_flag)
    flags, renamed = _renamed(flags)
    return Difference(
        before=before.release,
        after=after.release,
        defaults=_by_name(before.defaults, after.defaults, key=lambda each: each.name, same=_same_default),
        functions=_by_name(before.functions, after.functions, key=lambda each: each.name, same=_same_function),
        flags=flags,
        renamed=renamed,
        sentences=_by_wording(before.sentences, after.sentences),
        metrics=_by_name(_once(before.metrics), _once(after.metrics), key=lambda each: each.name, same=_same_metric),
    )


def _by_name(
    before: Iterable[T], after: Iterable[T], *, key: Callable[[T], str], same: Callable[[T, T], bool]
) -> Moved[T]:
    old = {key(each): each for each in before}
    new = {key(each): each for each in after}
    return Moved(
        added=tuple(each for name, each in new.items() if name not in old),
        removed=tuple(each for name, each in old.items() if name not in new),
        changed=tuple((old[name], each) for name, each in new.items() if name in old and not same(old[name], each)),
    )


def _same_default(old: Default, new: Default) -> bool:
    return old.value == new.value  # a moved file alone is no news here; the functions tell it


def _same_function(old: Function, new: Function) -> bool:
    return (old.digest, old.file) == (new.digest, new.file)


def _same_flag(old: Flag, new: Flag) -> bool:
    def shown(flag: Flag) -> tuple[object, ...]:
        return set(flag.names), flag.kind, flag.nargs, flag.human, set(flag.choices), flag.default, flag.negations

    return shown(old) == shown(new)


def _same_metric(old: Metric, new: Metric) -> bool:
    return (old.kind, old.labels, old.hidden) == (new.kind, new.labels, new.hidden)


def _once(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """One entry for a name that two engines declare; the newer engine's, which sorts last."""
    return tuple({metric.name: metric for metric in metrics}.values())


def _renamed(flags: Moved[Flag]) -> tuple[Moved[Flag], tuple[tuple[Flag, Flag], ...]]:
    """Takes out of the added and removed those that look like one option under two names."""

    def likeness(old: Flag, new: Flag) -> float:
        if set(old.names) & set(new.names):
            return 1.0
        return SequenceMatcher(None, old.names[0], new.names[0]).ratio() if old.kind == new.kind else 0.0

    pairs = _paired(flags.removed, flags.added, likeness, _RENAMED)
    gone, come = {old for old, _ in pairs}, {new for _, new in pairs}
    rest = Moved(
        added=tuple(each for each in flags.added if each not in come),
        removed=tuple(each for each in flags.removed if each not in gone),
        changed=flags.changed,
    )
    return rest, pairs


def _by_wording(before: Iterable[Sentence], after: Iterable[Sentence]) -> Moved[Sentence]:
    """Pairs what is no longer said with what is now said instead; the same words in another file are no change."""
    old, new = _texts(before), _texts(after)
    removed = [sentence for text, sentence in old.items() if text not in new]
    added = [sentence for text, sentence in new.items() if text not in old]
    louder = tuple((old[text], each) for text, each in new.items() if text in old and old[text].said != each.said)
    pairs = _paired(removed, added, _likeness, _ALIKE)
    gone, come = {one for one, _ in pairs}, {other for _, other in pairs}
    return Moved(
        added=tuple(each for each in added if each not in come),
        removed=tuple(each for each in removed if each not in gone),
        changed=pairs + louder,
    )


def _texts(sentences: Iterable[Sentence]) -> Mapping[str, Sentence]:
    return {sentence.text: sentence for sentence in sorted(sentences)}


def _likeness(old: Sentence, new: Sentence) -> float:
    matcher = SequenceMatcher(None, old.text, new.text, autojunk=False)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < _ALIKE:
        return 0.0
    return matcher.ratio()


def _paired(
    removed: Iterable[T], added: Iterable[T], likeness: Callable[[T, T], float], least: float
) -> tuple[tuple[T, T], ...]:
    """The best pairs first, each member once."""
    old, new = list(removed), list(added)
    scored = sorted(
        ((likeness(one, other), i, j) for i, one in enumerate(old) for j, other in enumerate(new)),
        key=lambda scored: (-scored[0], scored[1], scored[2]),
    )
    used_old: set[int] = set()
    used_new: set[int] = set()
    pairs = []
    for score, i, j in scored:
        if score >= least and i not in used_old and j not in used_new:
            used_old.add(i)
            used_new.add(j)
            pairs.append((old[i], new[j]))
    return tuple(pairs)
