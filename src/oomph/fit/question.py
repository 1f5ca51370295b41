"""What is asked: what stands fast, what shall be served, and how sure it must be."""

from dataclasses import dataclass

from oomph.engines.vllm.levers.startup import Startup
from oomph.fit.choice import Option
from oomph.fit.workload import Workload
from oomph.ledger.rest import Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question."""

    startup: Startup  # whose flags stay as they are
    workload: Workload
    models: tuple[Option, ...] = ()  # other checkpoints, the dearest first
    risk: Rest = Rest.SURE
    preference: str = "quality"
    rounds: bool = True  # weights and keys may be rounded to fewer bits than they are stored in
