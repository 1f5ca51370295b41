"""Whole answers as text, kept in tests/golden; `python tests/write/golden.py` writes them anew, for review."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from oomph.write.plan_text import plan_text
from write.forecasts import SIX

FOLDER = Path(__file__).parents[1] / "golden" / "plan"
KINDS = {"80": (80, False), "40": (40, False), "all-100": (100, True)}  # width, and whether everything is said


def made(name: str, kind: str) -> str:
    forecast, findings = SIX[name]
    width, whole = KINDS[kind]
    return plan_text(forecast(), findings, width=width, whole=whole)


def file(name: str, kind: str) -> Path:
    return FOLDER / f"{name}.{kind}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for one in SIX:
        for kind in KINDS if one == "seed-crash" else ("80",):
            file(one, kind).write_text(made(one, kind), encoding="utf-8")
