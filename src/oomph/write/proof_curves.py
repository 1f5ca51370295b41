"""A proof as curves: how full the pool was, how many ran and waited, how fast answers came, stage by stage.

Knows which figures make a curve. Does not know pixels.
"""

from typing import Final

from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.proof import Proof
from oomph.diagnose.proof.spread import arrivals
from oomph.write.chart import Band, Chart, Curve

_BINS: Final = 150  # over the whole run
_FINEST: Final = 0.25  # seconds
_LOOKS: Final = {Result.BROKE: "c-broke", Result.REFUSED: "c-odd", Result.UNKNOWN: "c-odd"}

STYLE: Final = (
    ".c-line{fill:none;stroke-width:2;stroke-linejoin:round}.c-area{stroke:none;opacity:.25}"
    ".c-pool{stroke:#009e73;fill:#009e73}.c-running{stroke:#0072b2;fill:#0072b2}"
    ".c-waiting{stroke:#cf8500;fill:#cf8500}.c-rate{stroke:#cc79a7;fill:#cc79a7}.c-pool.c-line,.c-running.c-line,"
    ".c-waiting.c-line,.c-rate.c-line{fill:none}"
    "thead th{white-space:nowrap}"
    ".c-even{fill:#80808010}.c-uneven{fill:#80808024}.c-broke{fill:#b8320a33}.c-odd{fill:#85560033}"
)


def charts(proof: Proof) -> tuple[tuple[str, Chart], ...]:
    """Each with the words that describe it to who cannot see it."""
    end = max((each.stage.end for each in proof.stages), default=0.0)
    bands = tuple(_band(number, each) for number, each in enumerate(proof.stages))
    scrapes = [scrape for each in proof.stages for scrape in each.stage.scrapes]
    pool = tuple((scrape.at, scrape.kv_used) for scrape in scrapes if scrape.kv_used is not None)
    running = tuple((scrape.at, float(scrape.running)) for scrape in scrapes if scrape.running is not None)
    waiting = tuple((scrape.at, float(scrape.waiting)) for scrape in scrapes if scrape.waiting is not None)
    made = (
        (
            "How full the KV pool was.",
            Chart(
                curves=(Curve(name="KV pool in use", look="c-pool", points=pool, filled=True),),
                bands=bands,
                end=end,
                top=1.0,
                percent=True,
                named=True,
            ),
        ),
        (
            "How many requests ran and waited.",
            Chart(
                curves=(
                    Curve(name="running", look="c-running", points=running),
                    Curve(name="waiting", look="c-waiting", points=waiting),
                ),
                bands=bands,
                end=end,
            ),
        ),
        (
            "How many tokens a second came.",
            Chart(
                curves=(
                    Curve(name="tokens of answers a second", look="c-rate", points=_rate(proof, end), filled=True),
                ),
                bands=bands,
                end=end,
            ),
        ),
    )
    return made if proof.stages else ()


def _band(number: int, each: Judged) -> Band:
    scene = each.stage.scene
    even = "c-even" if number % 2 else "c-uneven"
    name = str(scene.users) if scene.name == "trial" else scene.name
    return Band(name=name, begin=each.stage.begin, end=each.stage.end, look=_LOOKS.get(each.result, even))


def _rate(proof: Proof, end: float) -> tuple[tuple[float, float], ...]:
    width = max(_FINEST, end / _BINS)
    counts = [0.0] * (int(end / width) + 1)
    for at, tokens in arrivals(outcome for each in proof.stages for outcome in each.stage.outcomes):
        counts[min(int(at / width), len(counts) - 1)] += tokens
    return tuple(((number + 0.5) * width, count / width) for number, count in enumerate(counts))
