"""MODEL on a command line → what a forecast takes: its shapes, how it is stored, and what loading took, if said."""

from oomph.architectures.registry import geometry, quantization
from oomph.engines.vllm.model import Model
from oomph.errors import UsageError
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.readers.model import read_model
from oomph.units import Bounds, Bytes


def model_at(where: str, *, weights: str | None) -> Model:
    """Read a folder, a config file or a repository on the Hub."""
    found = read_model(where)
    file = f"{found.name}: config.json"
    stored = quantization(found.config, found.quantization, found.checkpoint, where=file)
    return Model(
        name=found.name,
        geometry=geometry(found.config, where=file),
        quantization=stored,
        weights=None if weights is None else _stated(weights),
        checkpoint=found.checkpoint,
    )


def _stated(written: str) -> Entry:
    """Weights as the user measured them."""
    try:
        size = Bytes.parse(written)
    except ValueError as wrong:
        message = f"--weights: {wrong}"
        raise UsageError(message) from None
    return Entry(account=Account.WEIGHTS, size=Bounds(size), basis=Basis.OBSERVED, because=f"--weights {written}")
