"""Pieces that pages share: a table with a swatch for each account, a flag as code, and what a page may load.

Knows elements. Does not know what is told with them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from oomph.ledger.ledger import Account
from oomph.write import sentences
from oomph.write.drawing import look_of
from oomph.write.markup import Markup, tag, together

# Nothing may be fetched and nothing may run, whatever a name tries to smuggle in.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], foot: Sequence[str]) -> Markup:
    """Rows whose first cell names them, and their sum."""
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in columns))),
        tag("tbody", *(_line(columns, row) for row in rows)),
        tag("tfoot", _line(columns, foot)),
    )


def _line(columns: Sequence[str], row: Sequence[str]) -> Markup:
    cells = (
        tag("td", word, data_label=name) if word else tag("td", Markup(""))
        for name, word in zip(columns[1:], row[1:], strict=True)
    )
    return tag("tr", tag("th", row[0], scope="row"), *cells)


def swatch(account: Account) -> Markup:
    """An account with its colour."""
    box = tag("rect", width=12, height=12, class_=look_of(account))
    return together(tag("svg", box, viewBox="0 0 12 12", class_="swatch", aria_hidden="true"), account)


def named(what: str) -> Markup:
    """A flag as it is typed, or a deed in words."""
    return tag("code", what) if sentences.typed(what) else tag("strong", f"{what}:")
