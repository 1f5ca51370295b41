"""The few shapes of PromQL that an answer has, written for any labels to fold by and any series to ask.

Knows how a gauge, a rate, a share and a quantile are folded so that each level is right: a share is made of folded
rates, a quantile of folded buckets, never of other shares and quantiles. Does not know any metric.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whom an expression asks, and what stays apart in its answer."""

    by: tuple[str, ...]
    where: tuple[str, ...] = ()  # matchers: model_name=~"$model_name"
    window: str = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What is now."""

    name: str
    fold: str = "sum"
    where: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        """As the name of a recorded series ends."""
        return self.fold

    def text(self, scope: Scope) -> str:
        """In PromQL."""
        return folded(self.fold, scope.by, series(self.name, self.where + scope.where))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many a second, of a counter."""

    name: str
    where: tuple[str, ...] = ()
    among: tuple[str, ...] | None = None  # of a series that is not there before it counts: of these it is none
    fold: str = "sum"

    @property
    def operation(self) -> str:
        """As the name of a recorded series ends."""
        return "rate5m"

    def text(self, scope: Scope) -> str:
        """In PromQL."""
        whole = self.whole
        return self.bare(scope) if whole is None else f"({self.bare(scope)} or 0 * {whole.bare(scope)})"

    @property
    def whole(self) -> "Rate | None":
        """Of which it is a part that may not be there."""
        return None if self.among is None else Rate(name=self.name, where=self.among)

    def bare(self, scope: Scope) -> str:
        """Nothing where there is nothing."""
        where = (self.among or ()) + self.where + scope.where
        return folded(self.fold, scope.by, f"rate({series(self.name, where)}[{scope.window}])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One rate beside another; no answer where there is nothing to share."""

    part: Rate
    whole: Rate

    @property
    def operation(self) -> str:
        """As the name of a recorded series ends."""
        return "ratio"

    def text(self, scope: Scope) -> str:
        """In PromQL."""
        return f"{self.part.text(scope)} / ({self.whole.text(scope)} > 0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """What so many of all requests stay below."""

    name: str  # of the histogram
    share: float

    @property
    def operation(self) -> str:
        """As the name of a recorded series ends."""
        return f"p{self.share * 100:.0f}"

    @property
    def buckets(self) -> Rate:
        """What it is made of, folded as far as need be."""
        return Rate(name=f"{self.name}_bucket")

    def text(self, scope: Scope) -> str:
        """In PromQL."""
        return self.of(self.buckets.text(replace(scope, by=("le", *scope.by))))

    def of(self, buckets: str) -> str:
        """From buckets that somebody folded."""
        return f"histogram_quantile({self.share}, {buckets})"


Expression: TypeAlias = Gauge | Rate | Share | Quantile


def series(name: str, where: tuple[str, ...] = ()) -> str:
    """A selector."""
    return f"{name}{{{','.join(where)}}}" if where else name


def folded(fold: str, by: tuple[str, ...], inner: str) -> str:
    """One figure for each of the labels that stay."""
    return f"{fold} by ({', '.join(by)}) ({inner})" if by else f"{fold}({inner})"
