"""How large a picture a model takes in one piece, from the fields of its vision config.

Knows the three ways in which configs bound a picture: a fixed size, a number of tokens, or only the processor's usual
limit. Does not read a processor's own file, which may allow less. What it does not understand it leaves unsaid, since a
tower's size is only one of the bounds of a peak.
"""

from collections.abc import Mapping
from typing import Final

from oomph.architectures.config import Config
from oomph.ledger.geometry import Sight

_USUAL: Final = 16_384  # tokens: what the processors of models without a fixed size allow (models/qwen2_vl.py)
_SAID: Final = ("mm_tokens_per_image", "vision_soft_tokens_per_image", "image_seq_length")
_LARGEST: Final = 1 << 20  # of any of these fields; what is larger is no picture


def sight(config: Config) -> Sight | None:
    """The largest picture; None where the model sees nothing, or its config does not say."""
    thinker = config.raw("thinker_config")
    fields = thinker if isinstance(thinker, Mapping) else config.fields
    seen = fields.get("vision_config")
    if not isinstance(seen, Mapping):
        return None
    tokens = _count(fields, *_SAID)
    side, patch = _count(seen, "image_size"), _count(seen, "patch_size")
    if side is not None and patch is not None and side >= patch:
        patches = (side // patch) ** 2
        return Sight(tokens=tokens or max(1, patches // _merged(seen)), patches=patches)
    return Sight(tokens=tokens or _USUAL, patches=(tokens or _USUAL) * _merged(seen))


def _merged(seen: Mapping[str, object]) -> int:
    """Patches that become one token."""
    kernel = seen.get("merge_kernel_size")
    side = kernel[0] if isinstance(kernel, list) and kernel else None
    if isinstance(side, int) and 0 < side <= _LARGEST:
        return side**2
    return (_count(seen, "spatial_merge_size", "pooling_kernel_size") or 1) ** 2


def _count(fields: Mapping[str, object], *names: str) -> int | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST:
            return value
    return None
