"""Which sentences of vLLM's a line holds, and what their figures are of.

Knows which gap of which sentence is which quantity, and by which few words a line is worth reading at all. All
wordings are tried whatever the release, because a log may begin after the line that names it; where several fit, that
of the release counts. Does not know who speaks, nor in what order.
"""

from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.lines import SENTENCES, says
from oomph.ledger.observation import Figure, Quantity

# What to look for before a line is worth reading: every sentence holds one of these. Where a stretch of log has none
# of the first, it has none of the others either, because no start-up goes without them.
FIRST_HINTS: Final = (b"memory", b"GiB", b"allocate", b" took ", b" version ", b"args: ", b" LLM engine (v")
HINTS: Final = (
    *FIRST_HINTS,
    *(b"blocks", b"KV cache s", b"page size", b"block size", b" concurrency ", b"apturing ", b"Mamba cache"),
    *(b"Encoder cache", b"max seq len", b"odel len", b"uto-fit ", b"Hybrid KV cache", b"Model Runner", b"MTP model"),
    *(b"Chunked prefill is", b"Hidden layers", b"Truncating max", b"core initialization", b"device_name=", b"GPU 0: "),
)

# The banner is drawn, with the figures beside the drawing (entrypoints/utils.py of 0.15.0).
_BANNER: Final = (
    says("server", "█  version {release:word}", "0.15.0"),
    says("model", "█  model   {model:rest}", "0.15.0"),
)

_Q: Final = Quantity
_ROOM: Final = {"free": _Q.FREE, "total": _Q.TOTAL, "share": _Q.SHARE, "budget": _Q.BUDGET}
_SPENT: Final = {
    "weights": _Q.WEIGHTS,
    "non_torch": _Q.NON_TORCH,
    "consumed": _Q.CONSUMED,
    "activations": _Q.ACTIVATIONS,
    "graphs": _Q.GRAPHS,
}
MEANS: Final[Mapping[str, Mapping[str, Quantity]]] = {
    "weights": {"size": _Q.WEIGHTS},
    "budget": _ROOM,
    "profile": {**_ROOM, **_SPENT, "pool": _Q.POOL},
    "usage": {**_ROOM, **_SPENT},
    "pool": {**_ROOM, **_SPENT, "size": _Q.POOL},
    "pool given": {**_ROOM, "size": _Q.POOL_GIVEN},
    "graphs estimated": {"size": _Q.GRAPH_ESTIMATE},
    "graphs taken": {"actual": _Q.GRAPHS, "estimated": _Q.GRAPH_ESTIMATE},
    "graphs captured": {"size": _Q.GRAPHS},
    "blocks": {"blocks": _Q.BLOCKS},
    "blocks overridden": {"override": _Q.BLOCKS_OVERRIDDEN},
    "tokens": {"tokens": _Q.TOKENS, "length": _Q.LENGTH, "times": _Q.CONCURRENCY},
    "concurrency": {"length": _Q.LENGTH, "times": _Q.CONCURRENCY},
    "groups padded": {"layers": _Q.PADDING_LAYERS, "percent": _Q.PADDING_PERCENT},
    "block raised": {"block_tokens": _Q.BLOCK_TOKENS},
    "block chosen": {"block_tokens": _Q.BLOCK_TOKENS},
    "state padded": {"percent": _Q.STATE_PADDING_PERCENT},
    "length fitted": {"length": _Q.LENGTH},
    "length kept": {"length": _Q.LENGTH},
    "length": {"length": _Q.LENGTH},
    "step": {"tokens": _Q.STEP_TOKENS},
    "encoder budget": {"tokens": _Q.ENCODER_TOKENS},
    "too little free": _ROOM,
    "weights held elsewhere": {"total": _Q.TOTAL},
    "pool above free": {"total": _Q.TOTAL, "size": _Q.POOL_GIVEN},
    "memory came back": {"free": _Q.FREE},
    "pool below length": {"length": _Q.LENGTH, "tokens": _Q.TOKENS},
    "pool below request": {"length": _Q.LENGTH, "needed": _Q.NEEDED, "size": _Q.POOL},
    "length that fits": {"length": _Q.FITTING_LENGTH},
}
# Decided in steps: of what different sentences say, the last counts. Of all else the first, which is the finest.
REVISED: Final = frozenset({_Q.LENGTH, _Q.BLOCK_TOKENS})

_REACH: Final = 2_000  # characters before its longest piece in which a sentence begins


def heard(text: str, known: Release | None, *, enough: Container[str] = ()) -> Iterator[tuple[str, dict[str, Figure]]]:
    """The sentences in a line, each once, in the wording that fits best: of this release, then the fullest.

    What was heard often enough is not read again.
    """
    best: dict[str, tuple[tuple[bool, int], dict[str, Figure]]] = {}
    for anchor, sentence in _listening():
        if anchor not in text or sentence.name in enough:
            continue
        if (figures := _read(sentence, anchor, text)) is not None:
            fit = (known is not None and known in sentence.span, len(figures))
            if sentence.name not in best or fit > best[sentence.name][0]:
                best[sentence.name] = fit, figures
    return ((name, figures) for name, (_, figures) in best.items())


@cache
def _listening() -> tuple[tuple[str, Sentence], ...]:
    """Each wording with its longest piece, the newest first."""
    return tuple((sentence.longest, sentence) for sentence in reversed((*SENTENCES, *_BANNER)))


def _read(sentence: Sentence, anchor: str, text: str) -> dict[str, Figure] | None:
    """Looks only around the anchor, so that no line takes long, however long it is."""
    begin = max(text.find(anchor) - _REACH, 0)
    return sentence.read(text[begin:] if begin else text)
