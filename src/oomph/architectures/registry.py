"""Which file reads which architecture; one that no file reads is refused by name, never guessed."""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import dense
from oomph.architectures.config import Config
from oomph.errors import UnknownArchitecture
from oomph.ledger.geometry import Geometry

ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {**dense.ARCHITECTURES}


def geometry(fields: Mapping[str, object], where: str = "config.json") -> Geometry:
    """What the model of this config is."""
    config = Config(fields, where)
    named = config.items("architectures", str)
    for name in named:
        if name in ARCHITECTURES:
            return ARCHITECTURES[name](config)
    message = (
        f"{where}: architectures: {', '.join(named)[:80] or 'none'} is not among the {len(ARCHITECTURES)} "
        f"architectures that are known (add a file to oomph/architectures, or plan with a similar model)"
    )
    raise UnknownArchitecture(message)
