"""What is known of the model that shall be served."""

from dataclasses import dataclass

from oomph.ledger.checkpoint import Checkpoint
from oomph.ledger.geometry import Geometry
from oomph.ledger.ledger import Entry
from oomph.ledger.quantization import Quantization


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Its name, its shapes, and how it is stored."""

    name: str
    geometry: Geometry
    quantization: Quantization | None = None
    weights: Entry | None = None  # where loading was measured
    checkpoint: Checkpoint | None = None  # where its headers are at hand
