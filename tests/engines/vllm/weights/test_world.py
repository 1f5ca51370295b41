"""How flags divide a model between GPUs."""

import pytest

from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.world import gpus, ranks, redundant
from oomph.ledger.settings import Flags, Value


def test_one_rank_where_nobody_says() -> None:
    assert (ranks(Flags()), gpus(Flags())) == (Ranks(), 1)


def test_every_kind_of_division_is_read() -> None:
    flags = Flags({"tensor_parallel_size": 2, "pipeline_parallel_size": 3, "data_parallel_size": 4})
    whole = flags.but(enable_expert_parallel=True)

    assert ranks(flags, stage=1) == Ranks(tensor=2, pipeline=3, data=4, stage=1)
    assert ranks(whole, place=5) == Ranks(tensor=2, pipeline=3, data=4, experts_whole=True, place=5)
    assert gpus(flags) == 24
    assert gpus(flags.but(data_parallel_size_local=1)) == 6


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        ({"enable_eplb": True, "eplb_config": '{"num_redundant_experts": 32}'}, 32),
        ({"enable_eplb": True, "num_redundant_experts": 16}, 16),
        ({"enable_eplb": True}, 0),
        ({"eplb_config": '{"num_redundant_experts": 32}'}, 0),
        ({"enable_eplb": True, "eplb_config": "{"}, 0),
    ],
)
def test_redundant_experts_are_those_of_the_balancing(flags: dict[str, Value], count: int) -> None:
    assert redundant(Flags(flags)) == count
