"""What another checkpoint of the same model would weigh: no flag makes one, so it is only told, never a remedy.

Knows one usual way to store a model in four bits. Does not know whether somebody published it.
"""

from dataclasses import replace
from typing import Final

from oomph.engines.vllm.levers.startup import Startup
from oomph.errors import OomphError
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Account
from oomph.ledger.quantization import Format, Grain, Method, Quantization, Scheme
from oomph.units import Bytes

FOUR_BITS: Final = Quantization(
    method=Method.AWQ,
    scheme=Scheme(format=Format.AWQ, bits=4, grain=Grain.GROUP, group=128, symmetric=False),
)


def in_four_bits(startup: Startup, now: Forecast) -> str | None:
    """The weights of a checkpoint in four bits; None where it is quantized already, or was measured."""
    model, weights = startup.model, now.ledger.of(Account.WEIGHTS)
    if model is None or weights is None or model.quantization is not None or model.weights is not None:
        return None
    smaller = four_bits(startup)
    if smaller is None:
        return None
    return f"a checkpoint in 4 bits (AWQ, groups of 128) would hold about {smaller} of weights, not {weights.likely}"


def four_bits(startup: Startup) -> Bytes | None:
    """What a rank would hold of the same model in four bits; None where that is no less."""
    model = startup.model
    if model is None or (weights := _weights(startup)) is None:
        return None
    text = startup.but({"language_model_only": True})  # towers are left as they are
    whole, fewer = _weights(text), _weights(replace(text, model=replace(model, quantization=FOUR_BITS)))
    return None if whole is None or fewer is None or fewer >= whole else Bytes(weights - whole + fewer)


def _weights(startup: Startup) -> Bytes | None:
    """None where the format does not suit the model's shapes."""
    try:
        found = startup.forecast().ledger.of(Account.WEIGHTS)
    except OomphError:
        return None
    return None if found is None else found.likely
