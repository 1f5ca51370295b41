"""The proof: every stage judged, the breaking load if it was looked for, the accounts, what is left, and one verdict.

Knows how stages make one answer. Does not know how it is told.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from oomph.diagnose.proof.accounts import Accounts, accounts
from oomph.diagnose.proof.against_plan import Compared, against_plan
from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.room import Room, blocks_of, room, shared_blocks
from oomph.diagnose.proof.scenes import HOLD, LOADS, TRIAL
from oomph.diagnose.proof.search import Search
from oomph.ledger.proof import Ask, Held, Planned, Promise, Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """What was left at the fullest moment of the load that held."""

    kv: float | None  # 0..1 of the pool
    tokens: int | None  # the same in tokens
    users: int | None  # more of the same, which these tokens hold
    device: Held | None  # the fullest moment of the fullest device; None where no device was read


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The whole answer."""

    promise: Promise
    ask: Ask
    users: int  # of the peak, as asked; with a search, the most that were tried
    stages: tuple[Judged, ...]
    not_run: tuple[Scene, ...]
    search: Search | None
    room: Room | None  # what block arithmetic says of this load
    accounts: Accounts
    headroom: Headroom
    compared: tuple[Compared, ...]  # with the plan, if there was one
    notes: tuple[str, ...]
    interrupted: bool = False

    @property
    def result(self) -> Result:
        """Broke where one stage did, but for trials, which look for just that; who loses the server broke it."""
        results = {each.result for each in self.counting}
        nobody = self.search is not None and not self.search.held and self.search.broke is not None
        if Result.BROKE in results or nobody:
            return Result.BROKE
        return Result.UNKNOWN if Result.UNKNOWN in results or self.doubt is not None else Result.HELD

    @property
    def counting(self) -> tuple[Judged, ...]:
        """Stages by which the whole is judged."""
        return tuple(each for each in self.stages if each.stage.scene.name != TRIAL or each.fatal or each.ours)

    @property
    def doubt(self) -> str | None:
        """Why it cannot be told, where no stage says so itself."""
        if self.interrupted:
            return "interrupted before all was played"
        if not any(each.stage.scene.name in LOADS for each in self.stages):
            return "no load was held, for --for 0 and --ramp 0 ask for none"
        search = self.search
        shown = any(each.stage.scene.name == HOLD and each.result is Result.HELD for each in self.stages)
        if search is not None and search.held in search.doubted and not shown:
            tried = (each for each in self.stages if each.stage.scene.users == search.held)
            return next((why for each in tried if each.result is Result.UNKNOWN for why in each.why), None)
        return None

    @property
    def held(self) -> int | None:
        """The most users that held at once, and less than who ever broke it."""
        broke = self.broke
        held = (each.stage.scene.users for each in _at_once(self.stages) if each.result is Result.HELD)
        return max((users for users in held if broke is None or users < broke), default=None)

    @property
    def broke(self) -> int | None:
        """The fewest users that broke it."""
        found = [each.stage.scene.users for each in _at_once(self.stages) if each.result is Result.BROKE]
        if self.search is not None and self.search.broke is not None:
            found.append(self.search.broke)
        return min(found, default=None)

    @property
    def peak(self) -> Judged | None:
        """The stage that tells how the load went: the hold, else the last trial that held, else the last of all."""
        holds = [each for each in self.stages if each.stage.scene.name == HOLD]
        trials = [each for each in self.stages if each.stage.scene.name == TRIAL and each.result is Result.HELD]
        found = holds or trials or [each for each in self.stages if not each.stage.scene.killer]
        return found[-1] if found else None


def _at_once(stages: Iterable[Judged]) -> Iterable[Judged]:
    return (each for each in stages if each.stage.scene.name in {HOLD, TRIAL})


def conclude(
    promise: Promise,
    ask: Ask,
    users: int,
    stages: tuple[Judged, ...],
    *,
    not_run: tuple[Scene, ...] = (),
    search: Search | None = None,
    planned: Planned | None = None,
    interrupted: bool = False,
) -> Proof:
    """Everything that follows from what was played."""
    sums = accounts(each.stage for each in stages)
    proof = Proof(
        promise=promise,
        ask=ask,
        users=users,
        stages=stages,
        not_run=not_run,
        search=search,
        room=room(ask, promise),
        accounts=sums,
        headroom=Headroom(kv=None, tokens=None, users=None, device=None),
        compared=(),
        notes=tuple(_notes(sums, promise)),
        interrupted=interrupted,
    )
    compared = () if planned is None else against_plan(planned, promise, ask, held=proof.held, broke=proof.broke)
    return replace(proof, compared=compared, headroom=_headroom(proof))


def _headroom(proof: Proof) -> Headroom:
    """By samples, which may have missed the peak, and by blocks, which all who ran at once must have had."""
    fullest = [held for each in proof.stages for held in each.stage.devices]
    device = max(fullest, key=lambda held: held.used / held.total, default=None)
    peak, promise = proof.peak, proof.promise
    if peak is None or peak.result is not Result.HELD or peak.stage.scene.name not in LOADS:
        return Headroom(kv=None, tokens=None, users=None, device=device)  # what did not hold left nothing
    sampled = peak.kv_peak
    if promise.blocks is None or promise.block_tokens is None:
        return Headroom(kv=None if sampled is None else 1 - sampled, tokens=None, users=None, device=device)
    common = shared_blocks(proof.ask, promise.block_tokens) if promise.prefix_caching is not False else 0
    own = blocks_of(proof.ask, promise.block_tokens) - common
    given = (promise.blocks - 1) * promise.engines
    by_blocks = common + own * peak.stage.scene.users
    used = min(given, max(by_blocks, round((sampled or 0.0) * given)))
    free = given - used
    return Headroom(kv=free / given, tokens=free * promise.block_tokens, users=free // own, device=device)


def _notes(sums: Accounts, promise: Promise) -> Iterable[str]:
    if sums.agrees is False:
        theirs, ours = sums.counted, f"{sums.prompt_tokens:,} + {sums.answer_tokens:,}"
        yield (
            f"the server counted {theirs.prompt_tokens:,} + {theirs.answer_tokens:,} tokens of prompts and answers, we "
            f"{ours}: somebody else uses it, and is in every figure"
        )
    if sums.counted.preemptions is None:
        yield "the server did not say how often it preempted over the whole run"
    if promise.blocks is None:
        yield "the server says nothing of its pool, so there is no block arithmetic"
