"""What is shown on stderr while a server is driven: a live picture on a terminal, a line per stage elsewhere.

Knows what people want to see move. Answers nothing: the answer is the report.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from oomph.cli.screen import colourful
from oomph.diagnose.proof.judge import Judged, Result
from oomph.ledger.proof import Scene
from oomph.live.load.client import Client
from oomph.live.prove_stage import Sight

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

_MARKS: Final = {Result.HELD: "✓", Result.BROKE: "✗", Result.REFUSED: "–", Result.UNKNOWN: "?"}
_STYLES: Final = {Result.HELD: "green", Result.BROKE: "bold red", Result.REFUSED: "yellow", Result.UNKNOWN: "yellow"}
_BAR: Final = 32
_STEPS: Final = "▁▁▂▃▄▅▆▇█"
_KEPT: Final = 48  # looks that the picture of the pool goes back


class Progress(Protocol):
    """Whoever is told how it goes."""

    def told(self, scene: Scene, sight: Sight, client: Client) -> None:
        """After every look at the server."""

    def judged(self, judged: Judged) -> None:
        """After every stage."""


@contextmanager
def progress(url: str) -> Iterator[Progress]:
    """Of this terminal; `rich` is brought only where there is one."""
    if not colourful(sys.stderr):
        yield _Lines()
        return
    from rich.console import Console  # noqa: PLC0415 - costs more than a line of words
    from rich.live import Live  # noqa: PLC0415 - likewise

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield _Picture(live, url)


class _Lines:
    """A line when a stage is over."""

    def told(self, scene: Scene, sight: Sight, client: Client) -> None:
        """Nothing moves on a pipe."""

    def judged(self, judged: Judged) -> None:
        stage = judged.stage
        words = judged.why[0] if judged.why else f"{len(stage.outcomes)} answered in {stage.end - stage.begin:.1f} s"
        sys.stderr.write(f"{stage.scene.name} ({stage.scene.users} at once): {judged.result}, {words}\n")


class _Picture:
    """The stage that runs, above it those that are over."""

    def __init__(self, live: "Live", url: str) -> None:
        self._live = live
        self._url = url
        self._over: list[Judged] = []
        self._used: deque[float | None] = deque(maxlen=_KEPT)
        self._before = (0.0, 0)

    def told(self, scene: Scene, sight: Sight, client: Client) -> None:
        now, pieces = client.now, client.pulse.pieces
        rate = (pieces - self._before[1]) / max(now - self._before[0], 1e-3)
        self._before = now, pieces
        last = sight.scrapes[-1] if sight.scrapes else None
        used = None if last is None else last.kv_used
        self._used.append(used)
        running, waiting = (0, 0) if last is None else (last.running or 0, last.waiting or 0)
        pulse = client.pulse
        self._live.update(
            self._drawn(
                f"[bold]{scene.name}[/] · {scene.users} at once",
                f"pool    {'not known' if used is None else f'{_bar(used)} {used:4.0%}'}",
                f"        [cyan]{went(self._used)}[/]",
                f"engine  {running} running, {waiting} waiting",
                f"client  {pulse.in_flight} asked, {pulse.ended} answered, {pulse.failed} failed, {rate:,.0f} tokens/s",
            )
        )

    def judged(self, judged: Judged) -> None:
        self._over.append(judged)
        self._live.update(self._drawn())

    def _drawn(self, *lines: str) -> "RenderableType":
        from rich.text import Text  # noqa: PLC0415 - likewise

        over = (
            f"[{_STYLES[each.result]}]{_MARKS[each.result]} {each.stage.scene.name}, {each.stage.scene.users}[/]"
            for each in self._over
        )
        text = "\n".join((f"[bold]oomph prove[/] {self._url}", "  ".join(over), *lines))
        return Text.from_markup(text)


def went(shares: Iterable[float | None]) -> str:
    """How full the pool was from look to look; a gap where nobody said."""
    return "".join(" " if share is None else _STEPS[round(8 * min(share, 1.0))] for share in shares)


def _bar(share: float) -> str:
    full = round(_BAR * min(share, 1.0))
    colour = "red" if share > 0.95 else "green"  # noqa: PLR2004 - almost full
    return f"[{colour}]{'█' * full}[/][dim]{'░' * (_BAR - full)}[/]"
