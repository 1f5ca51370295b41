"""A start-up that went well, in the words of every release, is called nothing by any rule."""

import re

import pytest

from diagnose.rules.failed_starts import case
from oomph.diagnose.explain import explain
from oomph.engines.history import Release
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.lines import BUDGET, GRAPHS, LOADING, POOL, SERVING
from oomph.engines.vllm.releases import HISTORY
from oomph.units import GIB

ORDER = (*LOADING, *BUDGET, *POOL, *GRAPHS, *SERVING)
WORDS = {"whole": 512, "count": 76_480, "word": "x", "words": "decode", "rest": "x", "share": 0.9}
UNSAID = {
    "server",
    "arguments",
    "engine",
    "slept",
    "preempted",
    "pool given",
    "plan refused",
    "runner",
    "graphs charged",
}


def said(sentence: Sentence) -> str:
    gaps = dict(re.findall(r"\{([a-z_]+):([a-z0-9_]+)\}", sentence.template))
    figures = {name: WORDS.get(notation, 1.5 if notation.startswith("f") else GIB) for name, notation in gaps.items()}
    return sentence.write(**figures)


@pytest.mark.parametrize("release", HISTORY.releases, ids=str)
def test_no_rule_speaks_of_a_start_up_that_went_well(release: Release) -> None:
    lines = [said(each) for each in ORDER if release in each.span and each.name not in UNSAID]

    assert len(lines) >= 5
    assert explain(case(*lines, release=str(release))) == ()
