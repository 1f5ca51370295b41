"""Whether what could not be had is a tensor of the sampler: rows of the vocabulary for every sequence.

Knows where a case tells sequences and vocabulary, and what both may be where it does not. Does not know when the
sampler is run.
"""

import re
from dataclasses import replace
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Said
from oomph.diagnose.grounds.arithmetic import Match, explained, sampler
from oomph.diagnose.grounds.vocabularies import family, vocabularies
from oomph.ledger.observation import Quantity

SENTENCE: Final = re.compile(r"warming up (?:sampler|pooler)(?: with (?P<sequences>[0-9]{1,6}))?")
_TIERS: Final = (1024, 256)  # engine/arg_utils.py: on large cards, and on all others


def sentence(case: Case) -> Said | None:
    """The engine's own words: it ran out while it warmed the sampler up."""
    return case.spoken("sampler overflowed") or case.line(SENTENCE)


def sequences(case: Case) -> int | None:
    """How many it was run for, where that is told."""
    for _, found in case.lines(SENTENCE):
        if found["sequences"]:
            return int(found["sequences"])
    resolved = None if case.forecast is None else case.forecast.settings.get("max_num_seqs")
    value = None if resolved is None else resolved.value
    return value if isinstance(value, int) else case.flags.positive("max_num_seqs")


def sampled(case: Case) -> Match | None:
    """The tensor of the sampler that has the size which was asked for."""
    tried = case.size(Quantity.TRIED)
    if tried is None:
        return None
    geometry = None if case.forecast is None else case.forecast.geometry
    words = vocabularies(case.model) if geometry is None else (geometry.vocabulary,)
    rows = sequences(case)
    found = explained(tried, sampler(_TIERS if rows is None else (rows,), words))
    return found if found is None or geometry is not None else _supposed(found, case.model)


def _supposed(match: Match, model: str | None) -> Match:
    """With how many words that is, and who has as many: the model that is named, where its name tells it."""
    words = match.term.words
    if words is None:
        return match
    told = model if vocabularies(model) != vocabularies(None) else family(words)
    reason = f"{match.term.reason}, with a vocabulary of {words:,} words, as {told} has"
    return replace(match, term=replace(match.term, reason=reason))
