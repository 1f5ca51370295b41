"""Which computation asks for just the size that could not be had: what turns a guess into a proof.

Knows formulas of single allocations, how PyTorch rounds and prints them, and how many of those that are tried would fit
by chance: a fit that is not rare proves nothing. Does not know any log, nor what the numbers of a start-up are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from oomph.units import MIB, Bounds, Bytes

RARE: Final = 0.35  # fits that chance would bring; above it one fit is no evidence
COMMON: Final = 0.3  # for a round size: other things than those that are tried have it too
_RIVALS: Final = 2  # explanations that may fit at once; with more of them none is one

# c10/cuda/CUDACachingAllocator.cpp: what is asked of the driver, and told when it refuses, is a segment.
_SMALL: Final = MIB  # up to here tensors share segments of 2 MiB
_LARGE: Final = 10 * MIB  # up to here those of 20 MiB; from here on a tensor has a segment of its own
_GRAIN: Final = 2 * MIB  # of which it is a multiple
_SHARED: Final = 20 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One allocation that somebody could have asked for."""

    size: int
    formula: str  # with its numbers: 1024 × 152064 × 12 B
    reason: str  # what it is: the sampler's sort for 1,024 sequences
    rows: int | None = None  # sequences or tokens that are in it
    words: int | None = None  # of the vocabulary that is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A term that fits, and how far that may be chance."""

    tried: Bounds
    term: Term
    chance: float  # how many of the terms that were tried are expected to fit by accident
    rivals: int = 0  # other explanations that fit as well

    def __str__(self) -> str:
        rounded = "" if self.term.size in self.tried else ", rounded up to 2 MiB"
        return f"{self.tried.likely} = {self.term.formula}{rounded}: {self.term.reason}"


def asked(size: int) -> Bytes:
    """What the allocator asks the driver for, when a tensor of this size finds no room."""
    if size <= _SMALL:
        return Bytes(_GRAIN)
    return Bytes(_SHARED if size < _LARGE else -(-size // _GRAIN) * _GRAIN)


def explained(tried: Bounds, terms: Iterable[Term]) -> Match | None:
    """The first term that fits what was asked for, unless that many fit, or would by chance, that it says nothing."""
    terms = tuple(terms)
    fitting = [term for term in terms if _fits(tried, term.size)]
    reasons = {term.reason for term in fitting}
    chance = max(_chance(tried, terms), COMMON if _common(tried) else 0)
    if not fitting or len(reasons) > _RIVALS or chance > RARE:
        return None
    return Match(tried=tried, term=fitting[0], chance=chance, rivals=len(reasons) - 1)


def _fits(tried: Bounds, size: int) -> bool:
    """As the allocator rounds it. What shares a segment says nothing of its size."""
    return size >= _LARGE and int(asked(size)) in tried


def _common(tried: Bounds) -> bool:
    """Whether it is a small odd number times a power of two, as sizes of all kinds are."""
    return any(
        odd << shift in tried
        for odd in (1, 3, 5, 7)
        for shift in range(max(int(tried.high).bit_length() - 4, 0), int(tried.high).bit_length() + 1)
    )


def _chance(tried: Bounds, terms: Iterable[Term]) -> float:
    """Different sizes from half of it to twice, each a dart thrown at that stretch, with the window it would hit."""
    middle = int(tried.likely)
    near = {int(asked(term.size)) for term in terms if middle <= 2 * term.size <= 4 * middle}
    window = max(int(tried.doubt), _GRAIN)
    return len(near) * window / (2 * middle - middle // 2) if middle else 0.0


def sampler(sequences: Iterable[int], vocabularies: Iterable[int]) -> Iterator[Term]:
    """Choosing the next token of every sequence: logits in 32 bits, then a sort with its order and its scratch."""
    words = tuple(vocabularies)
    for rows in sequences:
        for width, what in ((12, "sort"), (8, "sorted order"), (4, "logits in 32 bits")):
            for vocabulary in words:
                yield Term(
                    size=rows * vocabulary * width,
                    formula=f"{rows} × {vocabulary} × {width} B",
                    reason=f"the sampler's {what} for {rows:,} sequences",
                    rows=rows,
                    words=vocabulary,
                )


def prompt_logprobs(tokens: Iterable[int], vocabularies: Iterable[int]) -> Iterator[Term]:
    """The probabilities of a prompt's own tokens: logits of every one of them, as computed and again in 32 bits."""
    words = tuple(vocabularies)
    for rows in tokens:
        for width, what in ((6, "logits and their copy in 32 bits"), (4, "logits in 32 bits"), (2, "logits")):
            for vocabulary in words:
                yield Term(
                    size=rows * vocabulary * width,
                    formula=f"{rows} × {vocabulary} × {width} B",
                    reason=f"{what} of all {rows:,} tokens of a step, for the probabilities of a prompt",
                    rows=rows,
                    words=vocabulary,
                )


def embedding(vocabularies: Iterable[int], hidden: Iterable[int], *, ranks: int = 1) -> Iterator[Term]:
    """The table of words, or the head, which has the same shape: whole or one rank's rows."""
    widths = tuple(hidden)
    for vocabulary in vocabularies:
        rows = -(-vocabulary // ranks)
        for width in widths:
            for itemsize in (2, 4, 1):
                yield Term(
                    size=rows * width * itemsize,
                    formula=f"{rows} × {width} × {itemsize} B",
                    reason=f"the embedding or the head of {rows:,} words"
                    + ("" if ranks == 1 else f" on each of {ranks} ranks"),
                    words=vocabulary,
                )


def expert_workspace(tokens: int, *, chosen: int, inner: int, hidden: int, itemsize: int = 2) -> Iterator[Term]:
    """What fused experts keep of a step: each token once for every expert it goes through."""
    rows = tokens * chosen
    widths = {hidden: "outputs", inner: "activations", 2 * inner: "gates"}
    for width, what in widths.items():
        yield Term(
            size=rows * width * itemsize,
            formula=f"{tokens} × {chosen} × {width} × {itemsize} B",
            reason=f"the {what} of {chosen} experts for each of {tokens:,} tokens",
        )


def pool_tensor(blocks: int, page: int, *, tensors: int | None = None) -> Term:
    """One tensor of a pool."""
    many = "one tensor" if tensors is None else f"one of {tensors} tensors"
    return Term(size=blocks * page, formula=f"{blocks} blocks × {page:,} B", reason=f"{many} of the pool")
