"""Whether some setting holds a workload: the question that sizing asks very often."""

from oomph.errors import UsageError
from oomph.fit.judge import Judge, Judged
from oomph.fit.question import Question
from oomph.fit.search import easiest, some, ways
from oomph.fit.space import space


def holds(question: Question) -> bool:
    """Whether one of all settings passes every gate and holds every user."""
    return first(question) is not None


def first(question: Question) -> Judged | None:
    """The easiest setting of the first way that does, the dearest ways first."""
    try:
        judge = asked(question)
    except UsageError:
        return None
    return first_of(judge)


def asked(question: Question) -> Judge:
    """A judge of all settings of a question."""
    found = space(question.startup, question.workload, models=question.models, rounds=question.rounds)
    return Judge(found, risk=question.risk)


def first_of(judge: Judge) -> Judged | None:
    """The easiest of every way is enough to know."""
    choices = judge.space.choices
    found = (some(judge, easiest(choices, way)) for way in ways(choices))
    return next((each for each in found if each is not None), None)
