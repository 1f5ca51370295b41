"""The whole answer: what is proposed, at which price, what was not taken, and what would help instead."""

from dataclasses import replace
from functools import cache

import pytest

from fit.problems import MODELS, workload
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.fit import fit
from oomph.fit.hardware import Hardware, all_hardware, holding
from oomph.fit.holds import first, holds
from oomph.fit.instead import instead
from oomph.fit.priced import changed
from oomph.fit.proposal import Fitted
from oomph.fit.question import Question
from oomph.ledger.catalogue import CATALOGUE, devices
from oomph.ledger.device import Device
from oomph.ledger.gate import Verdict
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bytes

WORK = workload(prompt=900, answer=100, users=8)


def question(gpu: str = "rtx-4090", users: int = 8, flags: dict[str, Value] | None = None) -> Question:
    start = Startup(flags=Flags(flags), model=MODELS["llama"], devices=devices(gpu), release=HISTORY.release("0.32.0"))
    return Question(startup=start, workload=replace(WORK, users=users))


@cache
def answer(gpu: str, users: int) -> Fitted:
    return fit(question(gpu, users))


def test_what_has_room_is_left_as_it_is() -> None:
    found = answer("h100-80gb", 8)

    assert found.holds
    assert found.proposal is not None
    assert dict(found.proposal.change) == {}
    assert found.proposal.gpus == 1
    assert found.instead == ()


def test_llama_8b_on_an_rtx_4090_gives_up_length_and_says_so() -> None:
    found = answer("rtx-4090", 8)
    assert found.proposal is not None
    change = found.proposal.change

    assert found.holds
    assert found.proposal.forecast.verdict is Verdict.FITS
    assert "max_model_len" in change
    assert found.proposal.prices.keys() == change.keys()
    assert all(found.proposal.prices.values())
    assert f"{change['max_model_len']:,}" in found.proposal.prices["max_model_len"]


def test_no_other_proposal_is_worse_in_everything_and_none_is_the_first() -> None:
    found = answer("rtx-4090", 8)
    assert found.proposal is not None
    flags = [dict(each.judged.startup.flags) for each in (found.proposal, *found.others)]

    assert 1 <= len(found.others) <= 4
    assert all(flags.count(each) == 1 for each in flags)


def test_too_many_users_get_nearly_as_many_as_can_be_held() -> None:
    many = question("rtx-4090", 3000)
    found = answer("rtx-4090", 3000)
    assert found.proposal is not None
    held = found.proposal.judged.users

    assert not found.holds
    assert 8 < held < 3000
    assert holds(replace(many, workload=replace(WORK, users=held)))
    assert not holds(replace(many, workload=replace(WORK, users=held * 20 // 19 + 2)))


def test_what_would_hold_them_instead_does_hold_them() -> None:
    said = list(instead(question("rtx-4090", 3000)))
    told = next(line for line in said if line.startswith("other hardware"))
    least = next(holding(question("rtx-4090", 3000)))

    assert least.words in told
    assert holds(replace(question(users=3000), startup=replace(question().startup, devices=least.devices)))
    assert said[-1].startswith("the next step is memory of the host")


def test_popular_choices_are_answered_by_what_the_forecast_says_of_them() -> None:
    found = answer("rtx-4090", 8)
    assert found.proposal is not None
    taken = dict(found.proposal.judged.startup.flags)
    whys = {tuple(each.change.items()): each.why for each in found.not_taken}

    assert all(taken.get(flag) != value for change in whys for flag, value in change)
    for change, why in whys.items():
        forecast = found.proposal.judged.startup.but(dict(change)).forecast()
        fails = Rest.of_all(forecast.gates) < Rest.SURE
        assert why.startswith(("it fails", "it may fail")) == fails, change


def test_what_is_only_likely_is_said_to_be_unsure() -> None:
    card = Device(name="card", total=Bytes(10 * GIB))
    tight = replace(question(users=1), startup=replace(question().startup, devices=(card,)))
    bold = replace(tight, risk=Rest.LIKELY)

    assert first(tight) is None
    assert fit(tight).unsure
    assert fit(tight).holds
    assert not fit(bold).unsure


def test_the_catalogue_is_tried_by_memory_and_single_machines_only_once() -> None:
    every = all_hardware()
    memories = [each.memory for each in every]

    assert memories == sorted(memories)
    assert {each.count for each in every if each.key == "h100-80gb"} == {1, 2, 4, 8}
    assert {each.count for each in every if each.key == "gb10"} == {1}


def test_hardware_is_said_with_its_memory() -> None:
    card = CATALOGUE["h100-80gb"]

    assert Hardware(key="h100-80gb", device=card, count=1).words == "NVIDIA H100 80GB HBM3, 79.18 GiB"
    assert Hardware(key="h100-80gb", device=card, count=4).words == "4 × NVIDIA H100 80GB HBM3, 79.18 GiB each"
    assert Hardware(key="h100-80gb", device=card, count=4).memory == 4 * card.total


def test_every_kind_of_device_is_found_with_the_least_number_that_is_enough() -> None:
    asked = question(users=64)
    found = list(holding(asked))
    keys = [each.key for each in found]

    assert len(keys) == len(set(keys))
    assert {each.count for each in found if each.key == "h200"} == {1}
    assert [each.memory for each in found] == sorted(each.memory for each in found)
    smaller = next(each for each in found if each.count > 1)
    fewer = (smaller.device,) * (smaller.count // 2)
    assert not holds(replace(asked, startup=replace(asked.startup, devices=fewer)))


def test_only_what_was_not_so_before_is_a_change() -> None:
    before = question(flags={"max_num_seqs": 8, "enforce_eager": True}).startup
    after = before.but({"max_num_seqs": 4, "enforce_eager": True, "max_model_len": 1024})

    assert changed(before, after) == {"max_num_seqs": 4, "max_model_len": 1024}


def test_requests_that_the_model_does_not_take_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot be served"):
        fit(replace(question(), workload=workload(prompt=200_000, answer=1, users=1)))
