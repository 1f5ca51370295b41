"""A page that stands alone: no network, no script, light and dark, readable on a phone.

Knows what every page of ours has. Does not know what is on one, nor how it looks (`look`).
"""

from collections.abc import Iterable

from oomph.write.drawing import Drawing, drawing
from oomph.write.markup import Markup, tag
from oomph.write.picture import Picture
from oomph.write.table import POLICY


def html_page(title: str, look: str, sections: Iterable[Markup]) -> str:
    """A whole file."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width,initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(look)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('main', *sections)), lang='en')}\n"


def section(title: str, *inside: Markup) -> Markup:
    """A part of a page, under its title."""
    return tag("section", tag("h2", title), *inside)


def figure(shown: Picture, label: str) -> Markup:
    """A picture on two sheets, of which the page shows the one that suits its width."""
    return tag(
        "figure",
        _sheet(drawing(shown), "on-wide", label),
        _sheet(drawing(shown, narrow=True), "on-narrow", label),
    )


def _sheet(sheet: Drawing, look: str, label: str) -> Markup:
    box = f"0 0 {sheet.width} {sheet.height}"
    return tag("svg", sheet.shapes, viewBox=box, class_=look, role="img", aria_label=label)
