"""How flags divide a model between GPUs.

Knows tensor, pipeline, data and expert parallelism, and the experts that are kept once more. Each replica of a model
without whole experts is an engine of its own: its bytes are those of one replica.
"""

import json

from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.settings import Flags


def ranks(flags: Flags, *, stage: int = 0, place: int = 0) -> Ranks:
    """One rank of a stage."""
    return Ranks(
        tensor=flags.count("tensor_parallel_size"),
        pipeline=flags.count("pipeline_parallel_size"),
        data=flags.count("data_parallel_size"),
        experts_whole=flags.switch("enable_expert_parallel", default=False),
        redundant=redundant(flags),
        stage=stage,
        place=place,
    )


def gpus(flags: Flags) -> int:
    """GPUs of this machine that the command needs."""
    local = flags.positive("data_parallel_size_local") or flags.count("data_parallel_size")
    return flags.count("tensor_parallel_size") * flags.count("pipeline_parallel_size") * local


def redundant(flags: Flags) -> int:
    """Experts that are kept once more (`--enable-eplb`)."""
    if not flags.switch("enable_eplb", default=False):
        return 0
    text = flags.get("eplb_config")
    try:
        config = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        config = {}
    said = config.get("num_redundant_experts") if isinstance(config, dict) else None
    count = said if isinstance(said, int) and not isinstance(said, bool) else flags.whole("num_redundant_experts")
    return max(0, count or 0)
