"""What should I run? The settings that hold a workload, the best first, each with its price.

Knows the order of questions: all users, else as many as can be; surely, unless the bold ask. Does not know how a
setting is judged (`judge`), nor how the best is found (`search`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oomph.fit.floor import floor
from oomph.fit.holds import asked, first_of
from oomph.fit.instead import instead
from oomph.fit.judge import Judge
from oomph.fit.played import played
from oomph.fit.popular import not_taken
from oomph.fit.priced import changed, prices
from oomph.fit.proposal import Fitted, Proposal
from oomph.fit.question import Question
from oomph.fit.search import Found, best_of_each_way, order
from oomph.ledger.forecast import Forecast
from oomph.ledger.rest import Rest

_OTHERS: Final = 4  # that a person reads
_LAST: Final = 20  # of so many users the last one is left waiting where all cannot be held


def fit(question: Question) -> Fitted:
    """The best setting, what else there is, and what would be needed where it is not enough."""
    judge, found = searched(question)
    if not found and question.risk is Rest.SURE:
        return replace(fit(replace(question, risk=Rest.LIKELY)), unsure=True)  # more than nothing
    levers, now = order(question.preference), question.startup.forecast()
    found.sort(key=lambda each: each.rank(levers))
    plain = Fitted(
        workload=question.workload,
        release=str(question.startup.release),
        risk=question.risk,
        preference=question.preference,
        proposal=_proposal(question, now, found[0]) if found else None,
        settings=judge.space.size,
        forecasts=judge.forecasts,
    )
    others = tuple(_proposal(question, now, each) for each in _trades(found)[:_OTHERS])
    missing = () if plain.holds else tuple(instead(question))
    popular = () if plain.proposal is None else tuple(not_taken(plain.proposal, question.workload))
    through = None if plain.proposal is None else played(plain.proposal.judged, question.workload)
    return replace(plain, others=others, not_taken=popular, played=through, instead=missing)


def searched(question: Question) -> tuple[Judge, list[Found]]:
    """For all users; else for nearly as many as can be held, because the last few cost most."""
    levers = order(question.preference)
    judge = _judge(question, question.workload.users)
    if found := list(best_of_each_way(judge, levers)):
        return judge, found
    most, spent = _utmost(question)
    if most:
        spent += judge.forecasts
        judge = _judge(question, most - most // _LAST)
        found = list(best_of_each_way(judge, levers))
    judge.forecasts += spent
    return judge, found


def _utmost(question: Question) -> tuple[int, int]:
    """The most users that some setting holds, 0 where none starts; and the forecasts that it took to know.

    Fewer users are never harder to hold. From below, because what holds is found sooner than that nothing does.
    """
    low, high, spent = 0, 1, 0  # so many are held, so many are asked for
    missed = question.workload.users  # so many are not held
    while missed - low > 1 or (not low and missed > 1):
        judge = _judge(question, high)
        if first_of(judge) is not None:
            low, high = high, min(2 * high, (high + missed) // 2)
        else:
            missed, high = high, (low + high) // 2
        spent += judge.forecasts
    return low, spent


def _judge(question: Question, users: int) -> Judge:
    return asked(replace(question, workload=replace(question.workload, users=users)))


def _proposal(question: Question, now: Forecast, found: Found) -> Proposal:
    change = changed(question.startup, found.judged.startup)
    other = found.judged.startup.model
    first = question.startup.model
    return Proposal(
        judged=found.judged,
        change=change,
        model=None if other is None or first is None or other.name == first.name else other.name,
        prices=prices(question.startup, now, found.judged, change),
        floor=floor(found.judged.forecast, question.workload, users=found.judged.wanted),
    )


def _trades(found: Sequence[Found]) -> list[Found]:
    """Behind the best, those to which no other is better in everything."""
    return [each for each in found[1:] if not any(_better(other, each) for other in found if other is not each)]


def _better(one: Found, other: Found) -> bool:
    """In something, and in nothing worse."""
    pairs = [(one.places[lever], other.places[lever]) for lever in one.places]
    return all(mine <= its for mine, its in pairs) and any(mine < its for mine, its in pairs)
