"""What SGLang says of its memory.

Knows the sentences of `model_executor/model_runner.py`, `mem_cache/memory_pool.py` and `managers/`, and that its GB are
2³⁰ bytes with two decimals. Does not know what follows; what PyTorch says for it, `pytorch` reads.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from oomph.engines.pytorch import printed
from oomph.ledger.observation import Figure, Quantity

ENGINE: Final = "SGLang"
Heard: TypeAlias = tuple[str, Mapping[Quantity, Figure]]  # the name of the sentence, its figures

_Q: Final = Quantity
_GB: Final = r"(-?[0-9]{1,6}\.[0-9]{2}) ?GB"
_SIZES: Final = tuple(
    (name, quantity, re.compile(words))
    for name, quantity, words in (
        ("free", _Q.FREE, rf"Load weight begin\..{{0,80}}avail mem={_GB}"),
        ("weights", _Q.WEIGHTS, rf"Load weight end\..{{0,200}}mem usage={_GB}"),
        ("graphs captured", _Q.GRAPHS, rf"Capture (?:cuda|hip) ?graph end\..{{0,80}}mem usage={_GB}"),
    )
)
_POOL: Final = re.compile(rf"KV Cache is allocated\..{{0,120}}?K size: {_GB}, V size: {_GB}")
_COUNTS: Final = tuple(
    (name, quantity, re.compile(words))
    for name, quantity, words in (
        ("tokens", _Q.TOKENS, r"KV Cache is allocated\..{0,80}#tokens: ([0-9]{1,12})"),
        ("tokens", _Q.TOKENS, r"max_total_num_tokens=([0-9]{1,12})"),
        ("length", _Q.LENGTH, r"\bcontext_len=([0-9]{1,12})"),
        ("step", _Q.STEP_TOKENS, r"\bchunked_prefill_size=([0-9]{1,12})"),
    )
)
_SHARE: Final = re.compile(r"\bmem_fraction_static=(0\.[0-9]{1,18}|1\.0)\b")
_MODEL: Final = re.compile(r"\bServerArgs\(model_path='([^']{1,300})'")
_HINTS: Final = (
    "Load weight",
    "KV Cache is",
    "graph end.",
    "max_total_num_tokens=",
    "ServerArgs(",
    "mem_fraction_static=",
)
_LONGEST: Final = 20_000  # characters of a line that are looked at: all arguments stand on one


def heard(text: str) -> Iterator[Heard]:
    """What a line says."""
    text = text[:_LONGEST]
    if not any(hint in text for hint in _HINTS):
        return
    for name, quantity, pattern in _SIZES:
        if (found := pattern.search(text)) is not None:
            yield name, {quantity: printed(f"{found[1]} GiB")}
    if (found := _POOL.search(text)) is not None:
        yield "pool", {_Q.POOL: printed(f"{found[1]} GiB") + printed(f"{found[2]} GiB")}
    for name, quantity, pattern in _COUNTS:
        if (found := pattern.search(text)) is not None:
            yield name, {quantity: int(found[1])}
    if (found := _SHARE.search(text)) is not None:
        yield "share", {_Q.SHARE: float(found[1])}


def model_in(text: str) -> str | None:
    """The model that it was started with."""
    found = _MODEL.search(text[:_LONGEST]) if "ServerArgs(" in text else None
    return None if found is None else found[1]
