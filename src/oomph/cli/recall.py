"""What the user's own start-ups measured, for a plan of the same model. Costs nothing where nothing was learned."""

import os
import sys

from oomph.engines.history import Release
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.resolve import longest, resolve
from oomph.ledger.device import Device
from oomph.ledger.observed import Observed
from oomph.ledger.settings import Flags
from oomph.readers.data_home import home


def recall(model: Model, flags: Flags, *, devices: tuple[Device, ...], release: Release) -> Observed | None:
    """What earlier start-ups say of this one; None where there were none. Files that are no use are named."""
    folder = home()
    if folder is None or not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir() raises for a name that no disk can hold
        return None
    from oomph.engines.vllm.learned import apply  # noqa: PLC0415 - only who has learned pays for it
    from oomph.readers.measurements import kept, model_name  # noqa: PLC0415 - likewise

    name = model_name(model.name)
    found, notes = kept(name)
    sys.stderr.writelines(f"oomph plan: {note}\n" for note in notes)
    poorest = min(devices, key=lambda device: device.total)
    settings = resolve(flags, device=poorest, release=release, context_tokens=longest(model.geometry, release))
    return apply(found, model=name, flags=flags, settings=settings, device=poorest, release=release) or None
