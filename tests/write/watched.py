"""Draws docs/pictures/watch.svg: a fleet of sixteen as the screen shows it. `python -m write.watched` from `tests`."""

import io
import math
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from diagnose.serving.looks import scrape
from oomph.cli.screen import styled
from oomph.diagnose.serving.fleet import Fleet, fleet
from oomph.ledger.answer import Answer, Trouble
from oomph.write.watch_text import watch_lines

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "watch.svg"
WIDTH, HEIGHT = 104, 30


def looks(
    *, pool: float, running: int, pace: float, found: float, still: bool = False, **per_second: float
) -> tuple[Answer, ...]:
    """A minute of an engine: its pool fills to that share, so many tokens a second, that share of prompts found."""
    made = []
    for number in range(13):
        at = 5.0 * number
        moved = 0.0 if still else at
        said = scrape(
            at,
            model="qwen3-32b",
            kv_used=pool if still else pool * (0.8 + at / 300),
            running=running,
            waiting=int(per_second.get("waiting", 0.0) * at),
            preemptions=int(per_second.get("preempted", 0.0) * at),
            prompt_tokens=int(9e6 + 5 * pace * moved),
            generation_tokens=int(2e6 + pace * moved),
            prefix_queries=int(9e6 + 5 * pace * moved),
            prefix_hits=int(found * (9e6 + 5 * pace * moved)),
            finished={"stop": int(4_000 + pace * moved / 500)},
            steps=int(40 * moved),
            blocks=9_000,
        )
        made.append(Answer(at=at, scrapes=(said,), healthy=True if still else None))
    return tuple(made)


def watched() -> Fleet:
    """Thirteen that are well, one overfull, one that stands still, one gone."""
    gone = tuple(Answer(at=at, trouble=Trouble.UNREACHABLE, words="Connection refused") for at in (30.0, 60.0))
    found = {
        f"gpu-{number:02d}:8000": looks(
            pool=0.35 + 0.3 * abs(math.sin(number)),
            running=18 + number,
            pace=900 + 31 * number,
            found=0.35 + number / 50,
        )
        for number in range(1, 17)
    }
    found["gpu-07:8000"] = looks(pool=0.99, running=54, pace=1480, found=0.61, waiting=0.5, preempted=0.3)
    found["gpu-11:8000"] = looks(pool=0.57, running=23, pace=900, found=0.58, still=True)
    return fleet(found | {"gpu-12:8000": gone}, at=60.0, interval=5.0)


def picture() -> str:
    """The screen as a drawing that loads nothing."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in watch_lines(watched(), width=WIDTH, height=HEIGHT, clock="14:02:05"):
        console.print(Text.assemble(*(styled(span) for span in line)), highlight=False)
    plain = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    plain = re.sub(r"<!--.*?-->\s*", "", plain, flags=re.DOTALL).replace("Fira Code", "Menlo, Consolas")
    drawn = console.export_svg(title="oomph watch @fleet.txt", code_format=plain, unique_id="watch")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture())
