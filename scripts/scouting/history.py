"""What all releases at hand said, folded into spans and ready to be turned into tables.

Knows which fact of each part makes a span. Does not read trees and does not write files.
"""

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping

from scouting.extract import Said
from scouting.options import Flag
from scouting.spans import spans

_SHORT = 32  # longer lists of choices are not worth a table

Json = dict[str, object]


def histories(said: Mapping[str, Said]) -> dict[str, Json]:
    """One history for each part, by the name of the file it may be kept in."""
    return {
        "flags": _history(said, _flags, _flag),
        "metrics": _history(said, _metrics, _metric),
        "defaults": _history(
            said, lambda one: ((each.name, (each.value, each.file)) for each in one.defaults), _default
        ),
        "functions": _history(
            said, lambda one: ((each.name, (each.digest, each.file)) for each in one.functions), _function
        ),
        "sentences": _history(said, _sentences, _sentence),
    }


def _history(
    said: Mapping[str, Said],
    part: Callable[[Said], Iterable[tuple[str, Hashable]]],
    shown: Callable[[str, Hashable], Json],
) -> Json:
    """For each name: in which releases it was there at all, and each way it was said."""
    parts = {release: dict(part(one)) for release, one in said.items()}
    there = spans({release: dict.fromkeys(names, True) for release, names in parts.items()})
    return {
        name: {
            "spans": [_ends(run.first, run.last) for run in there[name]],
            "said": [{**_ends(run.first, run.last), **shown(name, run.said)} for run in runs],
        }
        for name, runs in spans(parts).items()
    }


def _ends(first: str, last: str | None) -> Json:
    return {"first": first, "last": last}


def _flags(said: Said) -> Iterable[tuple[str, Hashable]]:
    return ((name, flag) for flag in said.flags for name in flag.names + flag.negations)


def _flag(name: str, said: Hashable) -> Json:
    flag = said if isinstance(said, Flag) else Flag(names=(name,))
    return {
        "names": list(flag.names),
        "negation_of": flag.names[0] if name in flag.negations else None,
        "kind": flag.kind,
        "nargs": flag.nargs,
        "human": flag.human,
        "choices": list(flag.choices) if len(flag.choices) <= _SHORT else [],
        "default": {"visible": False} if flag.default is None else {"visible": True, "value": _plain(flag.default)},
        "file": flag.file,
    }


def _plain(literal: str) -> object:
    value: object = ast.literal_eval(literal)
    return list(value) if isinstance(value, tuple) else value


def _metrics(said: Said) -> Iterable[tuple[str, Hashable]]:
    names = {metric.name for metric in said.metrics}
    return ((name, tuple(each for each in said.metrics if each.name == name)) for name in names)


def _metric(_: str, said: Hashable) -> Json:
    declared = said if isinstance(said, tuple) else ()
    return {
        "declared": [
            {"file": each.file, "kind": each.kind, "labels": each.labels and list(each.labels), "hidden": each.hidden}
            for each in declared
        ]
    }


def _default(_: str, said: Hashable) -> Json:
    value, file = said if isinstance(said, tuple) else (None, None)
    return {"value": value, "file": file}


def _function(_: str, said: Hashable) -> Json:
    digest, file = said if isinstance(said, tuple) else (None, None)
    return {"digest": digest, "file": file}


def _sentences(said: Said) -> Iterable[tuple[str, Hashable]]:
    where: dict[str, tuple[tuple[str, str], ...]] = {}
    for sentence in said.sentences:
        where[sentence.text] = (*where.get(sentence.text, ()), (sentence.said, sentence.file))
    return where.items()


def _sentence(_: str, said: Hashable) -> Json:
    places = said if isinstance(said, tuple) else ()
    return {"where": [{"said": way, "file": file} for way, file in places]}
