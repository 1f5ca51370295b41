"""The least time of a step: what it reads, at the full speed of the memory, by hand."""

import pytest

from fit.problems import MODELS, workload
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.fit.floor import floor
from oomph.ledger.catalogue import devices
from oomph.ledger.device import Device
from oomph.ledger.ledger import Account
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, MIB, Bytes

WORK = workload(prompt=900, answer=100, users=8)


def start(name: str = "llama", flags: dict[str, Value] | None = None, gpu: str = "h100-80gb") -> Startup:
    return Startup(flags=Flags(flags), model=MODELS[name], devices=devices(gpu), release=HISTORY.release("0.32.0"))


def test_llama_8b_on_an_h100_takes_5_1_milliseconds_for_eight_users() -> None:
    forecast = start().forecast()
    weights = forecast.ledger.of(Account.WEIGHTS)
    assert weights is not None
    keys = 8 * 63 * 2 * MIB  # 63 blocks of 2 MiB each

    assert floor(forecast, WORK, users=8) == pytest.approx((weights.low + keys) / 3350e9)
    assert floor(forecast, WORK, users=8) == pytest.approx(5.1e-3, rel=0.02)


def test_every_user_reads_his_own_keys() -> None:
    forecast = start().forecast()
    one, two = (floor(forecast, WORK, users=users) for users in (1, 2))

    assert one is not None
    assert two is not None
    assert two - one == pytest.approx(63 * 2 * MIB / 3350e9)


def test_routed_experts_are_not_counted_because_nobody_knows_which_are_read() -> None:
    forecast = start("routed").forecast()
    weights = forecast.ledger.of(Account.WEIGHTS)
    found = floor(forecast, WORK, users=1)
    assert weights is not None
    assert found is not None

    assert found < weights.low / 3350e9 / 5  # 128 experts of which 8 are chosen


def test_two_stages_are_read_one_after_the_other() -> None:
    split = floor(start(flags={"pipeline_parallel_size": 2}, gpu="h100-80gb x2").forecast(), WORK, users=8)
    whole = floor(start().forecast(), WORK, users=8)
    halved = floor(start(flags={"tensor_parallel_size": 2}, gpu="h100-80gb x2").forecast(), WORK, users=8)

    assert split is not None
    assert halved is not None
    assert split == pytest.approx(whole, rel=0.1)
    assert halved == pytest.approx(split / 2, rel=0.1)


def test_where_nobody_says_how_fast_the_memory_is_there_is_no_floor() -> None:
    card = Device(name="card", total=Bytes(24 * GIB))
    unknown = Startup(flags=Flags(), model=MODELS["llama"], devices=(card,), release=HISTORY.release("0.32.0"))

    assert floor(unknown.forecast(), WORK, users=1) is None
