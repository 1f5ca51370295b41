"""Stages and proofs made by hand, for whoever tests what is said of them."""

from collections.abc import Iterable

from oomph.diagnose.proof.judge import Judged, judge
from oomph.ledger.proof import Ask, Counted, Failure, Outcome, Promise, Scene, Stage, Wishes
from oomph.ledger.scrape import Scrape

ASK = Ask(prompt=100, answer=5)
PROMISE = Promise(
    url="http://127.0.0.1:8000",
    model="tiny",
    release="0.32.0",
    length=1024,
    blocks=64,
    block_tokens=32,
    pool_tokens=2048,
    prefix_caching=True,
)


def answered(user: int, *, sent: float = 0.0, first: float = 0.1, gap: float = 0.1, turn: int = 0) -> Outcome:
    """Five tokens, one by one."""
    return Outcome(
        user=user,
        turn=turn,
        ask=ASK,
        sent=sent,
        first=sent + first,
        ended=sent + first + 4 * gap,
        pieces=5,
        gaps=(gap,) * 4,
        prompt_tokens=100,
        answer_tokens=5,
    )


def failed(user: int, failure: Failure, said: str = "") -> Outcome:
    """Nothing came of it."""
    return Outcome(user=user, turn=0, ask=ASK, sent=0.0, ended=1.0, failure=failure, said=said)


def stage(
    outcomes: Iterable[Outcome],
    *,
    name: str = "hold",
    killer: bool = False,
    counted: Counted | None = None,
    scrapes: tuple[Scrape, ...] = (),
    hung: float | None = None,
    gone: str | None = None,
) -> Stage:
    """One stage that took ten seconds."""
    given = tuple(outcomes)
    users = len({outcome.user for outcome in given})
    return Stage(
        scene=Scene(name=name, asks=(ASK,) * users, seconds=10.0, killer=killer),
        begin=0.0,
        end=10.0,
        outcomes=given,
        scrapes=scrapes,
        counted=counted or Counted(preemptions=0, prompt_tokens=100 * users, answer_tokens=5 * users, finished=users),
        hung=hung,
        gone=gone,
        health=200,
    )


def judged(of: Stage, wishes: Wishes | None = None) -> Judged:
    """By the pool of `PROMISE`."""
    return judge(of, wishes or Wishes(), PROMISE)
