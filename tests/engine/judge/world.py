"""One process that believes to be a rank of a distributed world. Knows the groups vLLM looks for; sends nothing."""

import torch
import torch.distributed as dist

from judge.parts import Part


class Group:
    """What vLLM's layers read of a GroupCoordinator."""

    def __init__(self, name, ranks, rank):
        self.unique_name, self.ranks, self.rank = name, ranks, rank
        self.rank_in_group, self.world_size = ranks.index(rank), len(ranks)
        self.local_rank = rank
        self.device = torch.device("cpu")
        self.device_group = self.cpu_group = Part(
            size=lambda: self.world_size, rank=lambda: self.rank_in_group, name=lambda: name
        )
        self.device_communicator = self.mq_broadcaster = None
        self.use_custom_op_call = self.use_device_communicator = False

    @property
    def is_first_rank(self):
        """Whether this rank comes first."""
        return self.rank_in_group == 0

    @property
    def is_last_rank(self):
        """Whether this rank comes last."""
        return self.rank_in_group == self.world_size - 1

    @property
    def first_rank(self):
        """The global rank of the first."""
        return self.ranks[0]

    @property
    def last_rank(self):
        """The global rank of the last."""
        return self.ranks[-1]


def pretend(tp, pp, rank):
    """Be this rank of tp × pp, as vLLM orders them: tensor parallel ranks are neighbours."""
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from vllm.distributed import parallel_state as state

    dist.init_process_group("fake", store=FakeStore(), world_size=tp * pp, rank=rank)
    stage = rank // tp
    tensor = Group("tp", [stage * tp + each for each in range(tp)], rank)
    groups = {
        "_WORLD": Group("world", list(range(tp * pp)), rank),
        "_TP": tensor,
        "_PP": Group("pp", [each * tp + rank % tp for each in range(pp)], rank),
        "_EP": tensor,
        "_ETP": tensor,
    }
    alone = {name: Group(name.strip("_").lower(), [rank], rank) for name in ("_DP", "_DCP", "_PCP", "_EPLB")}
    for name, group in (groups | alone).items():
        if hasattr(state, name):
            setattr(state, name, group)
    state._NODE_COUNT = 1
