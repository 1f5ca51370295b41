"""Whether heads can be divided between ranks at all: vLLM looks before it builds anything.

Knows `verify_with_parallel_config` of `config/model.py`, which is the same in every release that was read.
"""

from oomph.errors import UsageError
from oomph.ledger.geometry import Attention, Compressed, Geometry, Latent


def refuse_uneven(geometry: Geometry, ranks: int) -> None:
    """Refuse what vLLM refuses: heads that tensor-parallel ranks cannot divide evenly."""
    if ranks == 1:
        return
    for layer in {id(layer): layer for layer in geometry.layers}.values():
        for mixer in layer.mixers:
            if isinstance(mixer, Attention | Latent | Compressed) and mixer.heads % ranks:
                what = f"{mixer.heads} attention heads cannot be divided between {ranks} ranks"
                message = f"{what}: vLLM refuses to start"
                raise UsageError(message)
