"""docs/explain/sizing-rederived.md: what the guides say beside what the forecast says.

Knows how the page is laid out. Does not know how a figure is found.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from oomph.fit.proposal import Fitted
from oomph.ledger.rest import Rest
from rederived import article, checklist, guide
from rederived.asking import RELEASE, Users, flags, longest, proposed, users
from rederived.checklist import REFERENCES, Reference
from rederived.claim import Claim, Verdict, differs, gb, in_gb, minimum


def page() -> str:
    """The whole page."""
    told = tuple(tuple(each.claims()) for each in (checklist, guide, article))
    parts = (
        _head(told),
        _references(),
        _sizes(),
        _steps(),
        _claims("The eight-step checklist", told[0]),
        _claims("The sizing guide", told[1]),
        _claims("The production article", told[2]),
        _how(),
    )
    return "\n".join(line for part in parts for line in (*part, "")).rstrip() + "\n"


def _head(told: Iterable[Sequence[Claim]]) -> Iterator[str]:
    counted = Counter(claim.verdict for claims in told for claim in claims)
    yield "# Three sizing guides, derived again"
    yield ""
    yield "Written by `scripts/rederive`; do not edit. The forecast alone: [advice checked](advice-checked.md)."
    yield ""
    yield (
        "The guides with which oomph began: an eight-step checklist, a sizing guide and a production article. Of "
        f"{counted.total()} claims about memory, {counted[Verdict.RIGHT]} are right, {counted[Verdict.PARTLY]} partly "
        f"and {counted[Verdict.WRONG]} wrong. What they get right is weights. What they get wrong is what moves the "
        "pool: it is what the budget leaves, whatever the length, the sequences, the block and the cache of prefixes; "
        "and who finds no room in it waits."
    )
    yield ""
    yield (
        f"All figures are for vLLM {RELEASE}, the last release whose default share is 0.90, from which the guides "
        "start. Where there are two numbers of users, the first is sure, the second likely."
    )


def _references() -> Iterator[str]:
    yield "## The three ready configurations"
    yield ""
    yield from _table("configuration", "as written", "`fit`, sure", "`fit --risk likely`", "to hold all")
    for each in REFERENCES:
        sure, likely = (proposed(each.bare, each.tokens, each.users, risk) for risk in (Rest.SURE, Rest.LIKELY))
        rest = "; ".join(_rest(sure))
        yield _row(each.words, _as_written(each), _best(sure, each, Rest.SURE), _best(likely, each, Rest.LIKELY), rest)


def _as_written(each: Reference) -> str:
    forecast = each.written.forecast()
    gate = forecast.stopped_at
    if gate is not None:
        return f"**does not start**: {gate.step}, {gate.because}"
    return f"starts; holds {users(each.written, each.tokens).words} of {each.users} at once"


def _best(answer: Fitted, each: Reference, risk: Rest) -> str:
    if answer.proposal is None:
        tokens = longest(each.bare, risk)
        return f"none of {each.users}" + (f"; one request of {tokens:,} tokens" if tokens else "; nothing starts")
    held = answer.proposal.judged.users
    sure = "" if not answer.unsure else "only likely: "
    return f"{sure}{held} of {answer.workload.users} with {flags(answer.proposal.change)}"


def _rest(answer: Fitted) -> Iterator[str]:
    """What would hold all of them, but for advice that fits everything."""
    return (words for words in answer.instead if not words.startswith(("memory of the host", "--risk")))


def _sizes() -> Iterator[str]:
    yield "## The sizing table"
    yield ""
    yield (
        "16 bits, requests of 4,096 tokens. *Needs*: the memory of a single device that surely holds one user, and "
        f"{guide.MANY}. *Hold*: users at once with the best flags on the cards that the guide names. *Least*: what is "
        "known with the least memory; behind it the same where weights or keys may be rounded to 8 bits. Partly "
        "right: enough if the guide's GB are GiB, which those of cards are not quite. It counts little more than "
        "weights; a step and the pool of one user come on top."
    )
    yield ""
    many = guide.MANY
    names = (
        "model",
        "said",
        "weights",
        "needs",
        "",
        f"needs for {many}",
        "the named cards hold",
        "least",
        f"for {many}",
    )
    yield from _table(*names)
    for row in guide.ROWS:
        held = ", ".join(f"{words}: {_none(row.held(gpu))}" for words, gpu in row.cards)
        one = in_gb(row.needs(1))
        yield _row(
            row.words,
            f"{row.said} GB",
            gb(row.weights),
            f"{gb(row.needs(1))}: {differs(row.said, one)}",
            minimum(row.said, one),
            gb(row.needs(many)),
            held,
            _either(row, 1),
            _either(row, many),
        )


def _none(found: Users) -> str:
    return "**does not start**" if not found.likely else found.words


def _either(row: guide.Row, count: int) -> str:
    plain, rounded = row.least(count), row.least(count, rounded=True)
    return plain if plain == rounded else f"{plain}; 8 bits: {rounded}"


def _steps() -> Iterator[str]:
    yield "## `--max-num-batched-tokens` by memory"
    yield ""
    yield (
        "The article gives it as a limit that prevents OOM in a burst. A step of full size is measured before the pool "
        "is made, so a burst takes no more; and all of its values are above the release's own. They cost pool, and "
        "make long prompts begin sooner."
    )
    yield ""
    yield from _table("card and model", "default", "a step takes", "the article", "a step takes", "pool")
    for step in article.STEPS:
        (usual, before, room), (more, after, less) = (step.peak(recommended=said) for said in (False, True))
        yield _row(step.words, f"{usual:,}", str(before), f"{more:,}", str(after), f"{less} instead of {room}")


def _claims(title: str, claims: Iterable[Claim]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from _table("it says", "the forecast says", "", "instead")
    for claim in claims:
        yield _row(claim.says, claim.found, claim.verdict, claim.instead)


def _how() -> Iterator[str]:
    yield "## How to ask again"
    yield ""
    yield (
        "`scripts/rederive --shapes DIR` writes the configs of the models into DIR. Then, for the first configuration: "
        "`oomph plan --gpu rtx-4090 --release 0.19.1 -- vllm serve DIR/Llama-3.1-8B --gpu-memory-utilization 0.85 "
        "--max-model-len 8192 --max-num-seqs 32`, and `oomph fit DIR/Llama-3.1-8B --gpu rtx-4090 --release 0.19.1 "
        "--prompt 7168 --answer 1024 --users 32`."
    )
    yield ""
    yield (
        "Llama 3.1 stands for Llama 3, which has the same shapes and a shorter context; Code Llama stands for 34B. GB "
        "are the guides' 10⁹ bytes. A figure that is said to be about something is right within 10 %."
    )


def _table(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
