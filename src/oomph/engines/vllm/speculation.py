"""Speculation as the user asks for it: how many tokens are guessed, and by whom.

Knows `--speculative-config` and the flags before and beside it, and how vLLM tells a method by the name of a draft
(`config/speculative.py`). Does not know what a draft model weighs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from oomph.errors import UsageError
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags


class Guesser(StrEnum):
    """Who guesses."""

    NOBODY = "nobody"
    OWN_LAYERS = "own layers"  # of the model itself (MTP)
    HEAD = "a head"  # a layer or so that reads the model's own states (EAGLE and its kin)
    MODEL = "a model"  # a smaller one
    TEXT = "the text"  # what was said before (n-grams, suffixes): nothing is loaded


_BY_TEXT: Final = frozenset({"ngram", "ngram_gpu", "suffix", "[ngram]", "extract_hidden_states"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Tokens guessed per step, and the method that guesses them."""

    tokens: int
    method: str | None = None
    model: str | None = None  # of a draft, by its name

    @property
    def guesser(self) -> Guesser:
        """Who guesses; a method that is not named is told by the draft's name."""
        method = (self.method or _method(self.model)).lower()
        if self.tokens == 0:
            return Guesser.NOBODY
        if method in _BY_TEXT:
            return Guesser.TEXT
        if method.endswith("mtp"):
            return Guesser.OWN_LAYERS
        return Guesser.MODEL if method == "draft_model" else Guesser.HEAD

    @property
    def by_own_layers(self) -> bool:
        """Whether layers of the model itself guess (MTP)."""
        return self.guesser is Guesser.OWN_LAYERS


def _method(model: str | None) -> str:
    """As vLLM names it where the user does not."""
    if model is None:
        return "mtp"
    name = model.lower()
    if name in _BY_TEXT:
        return "ngram"
    return next((each for each in ("eagle", "medusa", "dflash", "dspark", "mtp") if each in name), "draft_model")


_DEPTH: Final = 24  # of the tree of suffixes (config/speculative.py)
_NAMES: Final = ("speculative_config", "num_speculative_tokens", "spec_tokens", "spec_method", "spec_model")


def speculation(flags: Flags) -> Speculation:
    """What the flags ask for; nothing is guessed where they are silent."""
    return _once(Same(flags))


@lru_cache(maxsize=8)
def _once(flags: Same[Flags]) -> Speculation:
    """A plan asks this of the same flags many times."""
    return _read(*(flags.it.get(name) for name in (*_NAMES, "speculative_model")))


@lru_cache(maxsize=256)
def _read(text: object, *beside: object) -> Speculation:
    old, new, named, draft, drafted = beside
    config = _config(text)
    tokens = config.get("num_speculative_tokens", old if old is not None else new)
    method, model = config.get("method", named), config.get("model", draft if draft is not None else drafted)
    tokens = _silent(method) if tokens is None else tokens
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= 1024:  # noqa: PLR2004 - absurd above
        message = f"--speculative-config: num_speculative_tokens is {tokens!r:.40}, not a number of tokens"
        raise UsageError(message)
    return Speculation(
        tokens=tokens,
        method=method if isinstance(method, str) else None,
        model=model if isinstance(model, str) else None,
    )


def _silent(method: object) -> int:
    """Tokens where a method is named without their number: as many as an own layer guesses, or the suffix's depth."""
    named = str(method).lower()
    return _DEPTH if named == "suffix" else int(named.endswith("mtp"))


def _config(text: object) -> Mapping[str, object]:
    if not isinstance(text, str):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        example = '{"method": "mtp", "num_speculative_tokens": 2}'
        message = f"--speculative-config {text[:60]!r}: a JSON object was expected, such as {example}"
        raise UsageError(message)
    return found
