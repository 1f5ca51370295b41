"""What llama.cpp says of its memory, by device.

Knows the sentences of `llama-model.cpp`, `llama-context.cpp`, `llama-kv-cache.cpp` and of ggml's backends, as they were
worded over the years, and that a size is printed in MiB, with two decimals, or in bytes. Does not know what follows.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from oomph.engines.pytorch import printed
from oomph.ledger.observation import Figure, Quantity
from oomph.units import MIB, Bounds

ENGINE: Final = "llama.cpp"
Heard: TypeAlias = tuple[str, str, Mapping[Quantity, Figure]]  # the device, the name of the sentence, its figures

_Q: Final = Quantity
_SIZE: Final = r"(?P<size>[0-9]{1,12}\.[0-9]{2} [KMG]iB)"
_DEVICE: Final = r"(?P<device>[A-Za-z_]{2,20}[0-9]{0,3})"
_SENTENCES: Final = tuple(
    (name, quantity, re.compile(words))
    for name, quantity, words in (
        ("weights", _Q.WEIGHTS, rf"load_tensors: +{_DEVICE}(?: model)? buffer size = +{_SIZE}"),
        ("pool", _Q.POOL, rf"{_DEVICE} KV buffer size = +{_SIZE}"),
        ("states", _Q.POOL, rf"{_DEVICE} RS buffer size = +{_SIZE}"),
        ("pool whole", _Q.POOL, rf"(?:KV self size +|llama_kv_cache\w{{0,20}}: +size) = +{_SIZE}"),
        ("compute", _Q.ACTIVATIONS, rf"{_DEVICE} compute buffer size (?:=|of) +{_SIZE}"),
        ("tried", _Q.TRIED, rf"allocating {_SIZE} on device (?P<number>[0-9]{{1,3}}): \w{{3,30}} failed"),
        ("tried", _Q.TRIED, rf"failed to allocate (?:{_DEVICE} )?buffer of size (?P<bytes>[0-9]{{1,15}})"),
        ("tried", _Q.TRIED, r"Device memory allocation of size (?P<bytes>[0-9]{1,15}) failed"),
        ("free", _Q.DEVICE_FREE, rf"using device {_DEVICE} \(.{{1,80}}\) - (?P<whole>[0-9]{{1,9}}) MiB free"),
        ("context", _Q.LENGTH, r"\bn_ctx +=? *(?P<count>[0-9]{1,10})\b"),
        ("step", _Q.STEP_TOKENS, r"\bn_ubatch +=? *(?P<count>[0-9]{1,10})\b"),
    )
)
_NAMED: Final = re.compile(
    r"\bDevice 0: (?P<name>[\w ()./-]{3,80}?), compute capability|using device \w{2,12} \((?P<used>[^()]{3,80})\)"
)
_HINTS: Final = ("buffer", "KV self", "kv_cache", "n_ctx", "n_ubatch", "on device", "MiB free", "memory allocation of")
_LONGEST: Final = 1_000  # characters of a line that are looked at


def heard(text: str) -> Iterator[Heard]:
    """What a line says."""
    text = text[:_LONGEST]
    if not any(hint in text for hint in _HINTS):
        return
    for name, quantity, pattern in _SENTENCES:
        if (found := pattern.search(text)) is not None:
            groups = found.groupdict()
            number = groups.get("number")
            device = groups.get("device") or ("" if number is None else f"CUDA{number}")
            yield device, name, {quantity: _figure(groups)}


def device_in(text: str) -> str | None:
    """The name of the first device, where a line tells it."""
    found = _NAMED.search(text[:_LONGEST]) if "evice" in text else None
    return None if found is None else found["name"] or found["used"]


def _figure(groups: Mapping[str, str | None]) -> Figure:
    if (size := groups.get("size")) is not None:
        return printed(size)
    if (whole := groups.get("bytes")) is not None:
        return Bounds(int(whole))
    if (mebibytes := groups.get("whole")) is not None:
        return Bounds(int(mebibytes) * MIB, (int(mebibytes) + 1) * MIB - 1)  # cut off, not rounded
    return int(groups["count"] or 0)
