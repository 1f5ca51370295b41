"""A workload played through the scheduler of the release, in the likely pool: who runs, who waits, who is thrown back.

Every user sends a request as soon as the former one is answered, so that there are as many at once as there are users;
lengths are those of the workload, not all of them the longest. What that leaves out: pauses between requests.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm import facts, kv
from oomph.engines.vllm.admission.admitted import Admitted, Lack, Moment
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.users import Most, largest
from oomph.engines.vllm.admission.workload import Request, User
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.pool import facts as facts_of_pool
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.planning import alone
from oomph.engines.vllm.pool.refusal import Unplannable
from oomph.errors import UnknownRelease
from oomph.fit.given import caches_beginnings
from oomph.fit.judge import Judged
from oomph.fit.lengths_drawn import lengths_of
from oomph.fit.workload import Workload
from oomph.ledger.forecast import Forecast

_EACH: Final = 2  # requests of a user: so that some begin while others end
_APART: Final = 3  # steps between the first requests of two users
_BLOCKS: Final = 200_000  # that are handed out, and
_TOKENS: Final = 1_000_000  # that are computed: more take longer to play than a person waits
_AGAIN: Final = 20_000  # steps times users: what takes no longer is played some times more
_BEYOND: Final = 3  # times as many users as are held: so far it is looked when somebody waits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """As many blocks, in such groups."""

    blocks: int
    groups: Sequence[Group]


_Watch = Callable[[Moment], bool] | None
_Play = Callable[[int, _Watch], Admitted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of the users that one replica holds, and how many there can be before somebody waits for room."""

    users: int
    seen: Admitted
    calm: Most | None  # None where it would take too long to look


def played(judged: Judged, workload: Workload) -> Played | None:
    """The users of one replica; None where there is no pool, or there are too many to play."""
    known = judged.forecast.kv
    users = min(-(-workload.users // judged.startup.flags.count("data_parallel_size")), max(1, judged.held))
    if known is None or known.blocks is None or judged.startup.model is None:
        return None
    most = min(_BLOCKS // known.taken(workload.longest), _TOKENS // workload.longest) // _EACH
    if users > most:
        return None
    beyond = min(most, _BEYOND * max(users, judged.held))
    try:
        play = _stage(judged.startup, judged.startup.model, judged.forecast, workload)
        seen = play(users, None)
        if seen.steps * users > _AGAIN:
            return Played(users=users, seen=seen, calm=None)
        calm = largest(lambda count: _calm(play, count), first=max(users, judged.held), upto=beyond)
        return Played(users=users, seen=seen, calm=calm)
    except (UnknownRelease, Unplannable):  # a scheduler older than was read, or layers that only a whole plan groups
        return None


def _calm(play: _Play, users: int) -> bool:
    """Whether nobody waits for room; played until somebody does."""
    met: list[Moment] = []

    def watch(moment: Moment) -> bool:
        if moment.lack in {Lack.BLOCKS, Lack.SEATS}:
            met.append(moment)
        return bool(met)

    return play(users, watch).stuck is None and not met


def _stage(start: Startup, model: Model, forecast: Forecast, workload: Workload) -> _Play:
    """The pool, the scheduler and the requests: what becomes of so many users."""
    settings = forecast.settings
    kept = kv.kept(model.geometry, start.flags, settings, device=forecast.device, release=start.release)
    scheduling = Scheduling(
        sequences=settings.whole("max_num_seqs"),
        prefix_caching=caches_beginnings(start),
        overlapped=start.flags.switch("async_scheduling", default=facts.async_scheduling.at(start.release)),
    )
    blocks = 0 if forecast.kv is None or forecast.kv.blocks is None else forecast.kv.blocks
    pool = _Pool(blocks=blocks, groups=alone(kept.layers, kept.limits, facts_of_pool.rules(start.release)))
    longest = settings.whole("max_model_len")

    def play(users: int, watch: _Watch) -> Admitted:
        asked = sent(workload, users, longest=longest)
        return simulate(pool, asked, kept.limits, scheduling, start.release, watch=watch)

    return play


def sent(workload: Workload, users: int, *, longest: int) -> tuple[User, ...]:
    """What each user sends, one after the other; what is longer than the engine takes is refused, and sent short."""
    requests = [
        _request(prompt, answer, workload.prefix, longest) for prompt, answer in lengths_of(workload, users * _EACH)
    ]
    return tuple(
        User(requests=tuple(requests[number * _EACH : (number + 1) * _EACH]), start=1 + number * _APART)
        for number in range(users)
    )


def _request(prompt: int, answer: int, prefix: int, longest: int) -> Request:
    taken = min(prompt, longest - 1)
    return Request(prompt_tokens=taken, answer_tokens=min(answer, longest - taken), prefix_tokens=min(prefix, taken))
