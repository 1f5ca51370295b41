"""A small picture of errors: one row per component, one dot per record. Light and dark.

Knows dots, rows and an axis from -50 % to +50 %. Does not know what is scored.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from scored.figures import median

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP = 760, 34, 250, 30, 34
_END: Final = 0.5  # of the axis; what lies beyond is drawn at its end
_APART: Final = (0, 4, -4, 8, -8, 2, -2, 6, -6)  # how far above their row dots stand that would hide each other
_STYLE: Final = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #656d76 }
  .axis { stroke: #d0d7de }
  .zero { stroke: #656d76 }
  .dot { fill: #0969da; fill-opacity: .55 }
  .other { fill: none; stroke: #bc4c00; stroke-width: 1.5 }
  .middle { stroke: #1f2328; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #8d96a0 } .axis { stroke: #30363d } .zero { stroke: #8d96a0 }
    .dot { fill: #58a6ff } .other { stroke: #f0883e } .middle { stroke: #e6edf3 }
  }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One row: its name, its errors as shares, and whether they are somebody else's."""

    name: str
    errors: Sequence[float]
    others: bool = False


def picture(strips: Sequence[Strip], title: str) -> str:
    """The whole picture as one SVG."""
    height = _TOP + _ROW * len(strips) + 40
    body = "\n".join((*_axis(height), *(line for place, each in enumerate(strips) for line in _strip(each, place))))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}">\n<style>{_STYLE}</style>\n<title>{escape(title)}</title>\n{body}\n</svg>\n'
    )


def _x(error: float) -> float:
    place = (max(-_END, min(error, _END)) + _END) / (2 * _END)
    return round(_LEFT + place * (_WIDTH - _LEFT - _RIGHT), 1)


def _axis(height: int) -> Iterator[str]:
    for percent in range(-50, 51, 10):
        x, name, label = _x(percent / 100), "axis" if percent else "zero", f"{percent:+d} %" if percent else "0"
        yield f'<line class="{name}" x1="{x}" x2="{x}" y1="{_TOP - 10}" y2="{height - 34}"/>'
        yield f'<text class="small" x="{x}" y="{height - 18}" text-anchor="middle">{label}</text>'
    yield f'<text class="small" x="{_LEFT}" y="16">too low</text>'
    yield f'<text class="small" x="{_WIDTH - _RIGHT}" y="16" text-anchor="end">too high</text>'


def _strip(strip: Strip, place: int) -> Iterator[str]:
    y = _TOP + _ROW * place + _ROW // 2
    yield f'<text x="0" y="{y + 1}">{escape(strip.name)}</text>'
    yield f'<text class="small" x="0" y="{y + 14}">{_counted(strip)}</text>'
    kind = "other" if strip.others else "dot"
    for x, above in _spread(strip.errors):
        yield f'<circle class="{kind}" cx="{x}" cy="{y - above}" r="3.5"/>'
    if (middle := median(strip.errors)) is not None:
        yield f'<line class="middle" x1="{_x(middle)}" x2="{_x(middle)}" y1="{y - 9}" y2="{y + 9}"/>'


def _counted(strip: Strip) -> str:
    beyond = sum(abs(error) > _END for error in strip.errors)
    what = "runs, one start-up" if strip.others else "start-ups"
    return f"{len(strip.errors)} {what}" + (f", {beyond} beyond the edge" if beyond else "")


def _spread(errors: Iterable[float]) -> Iterator[tuple[float, float]]:
    """Dots that would lie upon each other stand a little apart."""
    met: dict[int, int] = {}
    for error in sorted(errors):
        x = _x(error)
        stacked = met[round(x / 5)] = met.get(round(x / 5), -1) + 1
        yield x, _APART[stacked % len(_APART)]
