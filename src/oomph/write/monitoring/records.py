"""Recording rules: each answer once per engine, and folded once more for each model of each tenant.

Knows how a recorded series is called and what it is made of: `engine:oomph_kv_used:max`, and of it
`model:oomph_kv_used:max`. The names are those of the questions, so that alerts and pictures do not change when a
release renames its metrics. Histograms are folded by model only: their buckets are many, and it is users who wait.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from oomph.engines.vllm.monitoring.expression import Expression, Gauge, Quantile, Rate, Scope, Share, folded
from oomph.engines.vllm.monitoring.questions import Question
from oomph.write.monitoring.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One recording rule."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The recorded series of one release, for one fleet."""

    answers: Mapping[Question, Expression]
    fleet: Fleet

    def __contains__(self, question: object) -> bool:
        return question in self.answers

    def engine(self, question: Question) -> str:
        """The series of one engine; KeyError where the release does not answer."""
        return f"engine:oomph_{question}:{self.answers[question].operation}"

    def model(self, question: Question) -> str:
        """The series of one model of one tenant."""
        return f"model:oomph_{question}:{self.answers[question].operation}"

    def of_engines(self) -> Iterator[Record]:
        """Gauges and rates as they are scraped, then what is made of them."""
        for question, answer in self.answers.items():
            if isinstance(answer, Gauge | Rate):
                yield Record(name=self.engine(question), text=self._scraped(answer))
        for question, share in self._shares():
            part, whole = (self.engine(self._asks(rate)) for rate in (share.part, share.whole))
            yield Record(name=self.engine(question), text=f"{part} / ({whole} > 0)")

    def _scraped(self, answer: Gauge | Rate) -> str:
        """What was recorded already is not folded again."""
        scope = Scope(by=self.fleet.engine)
        whole = answer.whole if isinstance(answer, Rate) else None
        if not isinstance(answer, Rate) or whole is None:
            return answer.text(scope)
        return f"{answer.bare(scope)} or 0 * {self.engine(self._asks(whole))}"

    def of_models(self) -> Iterator[Record]:
        """The same, of all engines of a model."""
        for question, answer in self.answers.items():
            if isinstance(answer, Gauge | Rate):
                yield Record(
                    name=self.model(question), text=folded(answer.fold, self.fleet.served, self.engine(question))
                )
        for question, share in self._shares():
            part, whole = (self.model(self._asks(rate)) for rate in (share.part, share.whole))
            yield Record(name=self.model(question), text=f"{part} / ({whole} > 0)")

    def of_waits(self) -> Iterator[tuple[Question, Iterator[Record]]]:
        """Quantiles, each a group of its own: their buckets are most of all series."""
        for question, answer in self.answers.items():
            if isinstance(answer, Quantile):
                yield question, self._of_wait(question, answer)

    def _of_wait(self, question: Question, answer: Quantile) -> Iterator[Record]:
        """From buckets that are folded first and kept, so that many Prometheus can be folded into one."""
        buckets = f"model:oomph_{question}_bucket:rate5m"
        yield Record(name=buckets, text=answer.buckets.text(Scope(by=("le", *self.fleet.served))))
        yield Record(name=self.model(question), text=answer.of(buckets))

    def _shares(self) -> Iterator[tuple[Question, Share]]:
        return ((question, answer) for question, answer in self.answers.items() if isinstance(answer, Share))

    def _asks(self, rate: Rate) -> Question:
        return next(question for question, answer in self.answers.items() if answer == rate)
