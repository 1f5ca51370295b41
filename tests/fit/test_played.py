from dataclasses import replace

import pytest

from engines.vllm.models import HYBRID, LLAMA
from oomph.architectures.registry import geometry
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.fit.fit import fit
from oomph.fit.played import played, sent
from oomph.fit.question import Question
from oomph.fit.workload import Workload
from oomph.ledger.catalogue import devices
from oomph.ledger.lengths import Lengths
from oomph.ledger.settings import Flags

WORK = Workload(prompt=Lengths.given(3000, p50=1000), answer=Lengths.given(400, p50=100), users=12)


def question(config: dict[str, object], gpu: str, users: int) -> Question:
    start = Startup(
        flags=Flags({}),
        model=Model(name="made", geometry=geometry(config, where="made")),
        devices=devices(gpu),
        release=HISTORY.release("0.32.0"),
    )
    return Question(startup=start, workload=replace(WORK, users=users))


@pytest.mark.parametrize(("config", "gpu"), [(LLAMA, "rtx-4090"), (HYBRID, "h100-80gb")])
def test_users_that_are_held_all_run_and_none_is_thrown_back(config: dict[str, object], gpu: str) -> None:
    found = fit(question(config, gpu, 12))
    through = found.played

    assert found.holds
    assert through is not None
    assert (through.seen.peak_running, through.seen.preemptions, through.seen.waits_for_room) == (12, 0, None)
    assert through.calm is not None
    assert through.calm.users >= 12


def test_more_users_than_are_held_wait_or_are_thrown_back() -> None:
    found = fit(question(LLAMA, "rtx-4090", 12))
    assert found.proposal is not None
    through = played(found.proposal.judged, replace(WORK, users=120))

    assert through is not None
    assert through.users == found.proposal.judged.held
    assert through.seen.waits_for_room is None
    assert through.calm is not None
    assert through.calm.limited
    assert through.users <= through.calm.users < 120


def test_what_is_longer_than_the_engine_takes_is_sent_short() -> None:
    users = sent(WORK, 12, longest=1500)

    assert all(each.prompt_tokens + each.answer_tokens <= 1500 for user in users for each in user.requests)
    assert len(users) == 12
