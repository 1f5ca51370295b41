"""Elements of SVG and HTML, put together so that no text can become markup.

Knows escaping. Does not know any element. Whatever is not `Markup` is text, and is escaped where it goes in.
"""

from oomph.write.span import visible

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_QUOTED = _TEXT | str.maketrans({'"': "&quot;", "'": "&#39;"})


class Markup(str):
    """Text that is markup already, and safe."""

    __slots__ = ()


def tag(name: str, /, *inside: str, **attributes: str | float | None) -> Markup:
    """An element; `text_anchor` is written `text-anchor`, `class_` is written `class`, None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not inside:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{together(*inside)}</{name}>")


def together(*parts: str) -> Markup:
    """One after the other."""
    return Markup("".join(part if isinstance(part, Markup) else visible(part).translate(_TEXT) for part in parts))


def _attribute(value: str | float) -> str:
    """Numbers with at most one decimal, so that the same picture is the same bytes everywhere."""
    if isinstance(value, str):
        return visible(value).translate(_QUOTED)
    return f"{value:.1f}".removesuffix(".0")
