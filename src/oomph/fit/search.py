"""The best setting of a space, without missing one.

Values of unordered levers are all tried. Along ordered ones each further value leaves more room, so that with all
others at their easiest the best value that passes is found by halving; fixing it and going on to the next lever yields
what comes first among all settings, levers compared in the order of preference. Sequences are ordered but for one case,
of which the judge warns; there they are tried one by one. Equal to trying everything: a test does both.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from oomph.fit.choice import Choice, Lever, Places
from oomph.fit.judge import Judge, Judged

Order = Sequence[Lever]  # the lever that is given up last comes first
_Passes = Callable[[Judge, Places], Judged | None]

QUALITY: Final = tuple(Lever)  # as they are written down
_FIRST: Final[Mapping[str, tuple[Lever, ...]]] = {
    "quality": (),
    "length": (Lever.LENGTH,),
    "gpus": (Lever.GPUS,),
    "speed": (Lever.GRAPHS, Lever.GUESSES, Lever.STEP),
}
PREFERENCES: Final = tuple(_FIRST)


def order(preference: str) -> Order:
    """Levers by how dear they are to somebody who prefers this."""
    first = _FIRST[preference]
    return (*first, *(lever for lever in QUALITY if lever not in first))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A setting that passes: where it lies in the space, and what was judged."""

    places: Places
    judged: Judged

    def rank(self, levers: Order) -> tuple[int, ...]:
        """The least is the best."""
        return tuple(self.places.get(lever, 0) for lever in levers)


def best_of_each_way(judge: Judge, levers: Order) -> Iterator[Found]:
    """For every way of choosing the unordered levers, its best setting, if any passes.

    A way that is worse in everything than one that gives up nothing else is left out.
    """
    whole: list[Places] = []
    for way in ways(judge.space.choices):
        if any(all(way[lever] >= place for lever, place in other.items()) for other in whole):
            continue
        if (found := _best(judge, way, levers)) is not None:
            yield found
            if not any(place for lever, place in found.places.items() if lever not in way):
                whole.append(way)


def ways(choices: Sequence[Choice]) -> Iterator[dict[Lever, int]]:
    """Every combination of values of unordered levers."""
    open_ = [choice for choice in choices if not choice.ordered]
    for places in product(*(range(len(choice.options)) for choice in open_)):
        yield {choice.lever: place for choice, place in zip(open_, places, strict=True)}


def easiest(choices: Sequence[Choice], way: Places) -> dict[Lever, int]:
    """A way with every ordered lever as far as it goes."""
    return {**way, **{choice.lever: len(choice.options) - 1 for choice in choices if choice.ordered}}


def some(judge: Judge, places: Places) -> Judged | None:
    """What passes with these, or with more sequences: those seldom leave more room, but they can (`Judge.nearly`)."""
    place = _sequences(judge, places)
    return None if place is None else judge.of({**places, Lever.SEQUENCES: place})


def _best(judge: Judge, way: Places, levers: Order) -> Found | None:
    places = easiest(judge.space.choices, way)
    passes: _Passes = some
    if passes(judge, places) is None:
        return None
    ordered = {choice.lever for choice in judge.space.choices if choice.ordered}
    for lever in (lever for lever in levers if lever in ordered):
        if lever is Lever.SEQUENCES:
            places[lever], passes = _most_sequences(judge, places), Judge.of  # from here on they are fixed
        else:
            places[lever] = _least(places[lever], _passing(judge, places, lever, passes))
    judged = judge.of(places)
    return None if judged is None else Found(places=places, judged=judged)


def _sequences(judge: Judge, places: Places) -> int | None:
    """The first place that passes, from here towards more sequences; None where none does, nor may."""
    for place in range(places[Lever.SEQUENCES], -1, -1):
        trial = {**places, Lever.SEQUENCES: place}
        if judge.of(trial) is not None:
            return place
        if not judge.nearly(trial):
            return None
    return None


def _most_sequences(judge: Judge, places: Places) -> int:
    """The best place that passes: below one that does not, there may be another."""
    place = _least(_sequences(judge, places) or 0, _passing(judge, places, Lever.SEQUENCES, Judge.of))
    while place and (better := _sequences(judge, {**places, Lever.SEQUENCES: place - 1})) is not None:
        place = better
    return place


def _passing(judge: Judge, places: Places, lever: Lever, passes: _Passes) -> Callable[[int], bool]:
    return lambda place: passes(judge, {**places, lever: place}) is not None


def _least(last: int, passes: Callable[[int], bool]) -> int:
    """The first place that passes; the last one does."""
    return 0 if passes(0) else bisect_left(range(last), True, lo=1, key=passes)  # noqa: FBT003 - what is searched for
