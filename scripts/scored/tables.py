"""Tables of the page: components, verdicts, groups and the worst.

Knows how a line of a table is written. Does not know in which order tables stand.
"""

from collections.abc import Callable, Iterator

from oomph.units import GIB, MIB, Bounds
from scored.board import Board, Scope, grouped
from scored.components import Component
from scored.figures import NEAR, Point, median, score
from scored.outcomes import Ending, Verdicts
from scored.reasons import KNOWN
from scored.records import Record


def row(*cells: str) -> str:
    """One line."""
    return "| " + " | ".join(cells) + " |"


def rule(*names: str) -> Iterator[str]:
    """The head of a table."""
    yield row(*names)
    yield "|" + "---|" * len(names)


def percent(share: float | None) -> str:
    """A share, with one decimal."""
    return "–" if share is None else f"{share:.1%}".replace("%", " %")


def _gib(size: float | None) -> str:
    return "–" if size is None else f"{size:.2f}"


def components(scope: Scope) -> Iterator[str]:
    """Every component of a scope that has any record."""
    yield from rule("component", "records", "median", "p90", "median GiB", "p90 GiB", "inside", "width")
    for component in Component:
        found = scope.score(component)
        if not found.count:
            continue
        counts = component is Component.TOKENS
        without_bounds = component is Component.WEIGHTS
        yield row(
            component.value,
            str(found.count),
            percent(found.median),
            percent(found.p90),
            *(("", "") if counts else (_gib(found.median_gib), _gib(found.p90_gib))),
            f"{percent(found.near)} within {NEAR * 100:g} %" if without_bounds else percent(found.inside),
            "" if counts else percent(found.width),
        )


def weighed(scope: Scope) -> str:
    """What a figure without bounds is held against, and why it is seldom the same to the last digit."""
    points = scope.points[Component.WEIGHTS]
    same = sum(point.off == 0 for point in points)
    small = sum(0 < abs(point.off) <= MIB for point in points)
    return (
        "Weights are a sum over tensors and have no bounds, so that nothing but the printed digits would lie inside; "
        f"counted are those within {NEAR * 100:g} % of them. {same} of {len(points)} agree to the last printed digit, "
        f"{small} more within 1 MiB. Most of these are printed with four decimals and lack 0.1 MiB: what seven "
        "scalars of each attention layer take, since the allocator rounds each up to 512 B."
    )


def endings(found: Verdicts) -> Iterator[str]:
    """What was said, by how it ended."""
    ended = [ending for ending in Ending if ending is not Ending.UNSURE]
    yield from rule("we say ↓, it ended →", *(ending.value for ending in ended))
    for said in Ending:
        counts = [found.table.get((said, ending), 0) for ending in ended]
        if any(counts) or said in ended:
            marked = [
                f"**{count}**" if said is ending and count else str(count or "")
                for count, ending in zip(counts, ended, strict=True)
            ]
            yield row(said.value, *marked)


def sentence(found: Verdicts) -> str:
    """The same in few words."""
    return f"{found.count} records, {percent(found.right)} right where we are sure, {percent(found.unsure)} not sure."


Key = Callable[[Record], str]


def family(record: Record) -> str:
    """As the geometry calls it."""
    return record.family


def device(record: Record) -> str:
    """By its name, or its size."""
    return record.devices[0].name if record.devices else "not stated"


def series(record: Record) -> str:
    """0.11 for 0.11.0, 0.11.1 and so on."""
    return "not stated" if record.release is None else ".".join(str(record.release).split(".")[:2])


def groups(title: str, board: Board, key: Key) -> Iterator[str]:
    """The pool by something of the record."""
    yield from rule(title, "records", "median", "p90", "inside", "width")
    for name, points in grouped(board.stock.points[Component.POOL], lambda each: key(board.record(each))).items():
        found = score(points)
        cells = (found.median, found.p90, found.inside, found.width)
        yield row(name, str(found.count), *(percent(cell) for cell in cells))


def by_source(board: Board) -> float | None:
    """The median of the sources' own medians."""
    found = grouped(board.stock.points[Component.POOL], lambda each: board.record(each).source)
    return median(each for points in found.values() if (each := score(points).median) is not None)


def worst(board: Board, count: int) -> Iterator[str]:
    """The pools that are farthest off, with the reason where it is known."""
    yield from rule("record", "model", "device", "release", "measured", "forecast", "error", "why")
    ordered = sorted(board.stock.points[Component.POOL], key=lambda point: -abs(point.error))
    for each in ordered[:count]:
        yield _far(each, board.record(each.id))


def _far(point: Point, record: Record) -> str:
    name = record.named.partition(" ")[0].rpartition("/")[2]
    where = f"{len(record.devices)} × {record.devices[0].name}"
    release, measured = str(record.release), f"{point.measured.likely / GIB:.2f}"
    return row(
        record.id,
        name,
        where,
        release,
        measured,
        _range(point.foreseen),
        f"{point.error:+.1%}".replace("%", " %"),
        KNOWN.get(record.id, ""),
    )


def _range(size: Bounds) -> str:
    return f"{size.likely / GIB:.2f} ({size.low / GIB:.2f} to {size.high / GIB:.2f})"
