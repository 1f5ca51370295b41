"""Prompts to the token: lists of token ids that the server's own tokenizer gave, so that nothing is merged or added.

Knows how to make as many different prompts as are wanted. Does not know words.
"""

import json
import random
from dataclasses import dataclass, field
from typing import Final

from oomph.errors import UnreadableError
from oomph.ledger.proof import Ask
from oomph.live.load.wire import Wire

_TEXT: Final = "The quick brown fox jumps over the lazy dog while 0123456789 people ask: what, why, how, when and who? "
_FEWEST: Final = 2  # different tokens; with one, all prompts would be the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """All prompts of one run; no two of them begin alike, but for the prefix that they share."""

    model: str
    tokens: tuple[int, ...]
    seed: int = field(default_factory=lambda: random.SystemRandom().getrandbits(64))

    def ids(self, ask: Ask, number: int) -> list[int]:
        """The prompt of one request."""
        shared = min(ask.prefix, ask.prompt)
        return [*self._chosen("prefix", shared), *self._chosen(str(number), ask.prompt - shared)]

    def body(self, ask: Ask, number: int) -> bytes:
        """The whole request; answers are exactly as long as asked, and every piece is sent when it is there."""
        wanted: dict[str, object] = {
            "model": self.model,
            "prompt": self.ids(ask, number),
            "max_tokens": ask.answer,
            "ignore_eos": True,  # which is enough: `min_tokens` would have the engine mask tokens at every step
            "temperature": 0.0 if ask.answers == 1 else 1.0,
            "n": ask.answers,
        }
        if ask.logprobs is not None:
            wanted["logprobs"] = ask.logprobs
        if ask.prompt_logprobs is None:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        else:  # which the server does not stream
            wanted["prompt_logprobs"] = ask.prompt_logprobs
        return json.dumps(wanted, separators=(",", ":")).encode()

    def _chosen(self, name: str, count: int) -> list[int]:
        return random.Random(f"{self.seed}/{name}").choices(self.tokens, k=count)  # noqa: S311 - no secret


async def prompts(wire: Wire, model: str) -> Prompts:
    """By the tokens that the server makes of a text."""
    said = await wire.json("/tokenize", {"model": model, "prompt": _TEXT, "add_special_tokens": False})
    listed = said.get("tokens") if isinstance(said, dict) else None
    tokens = {token for token in listed if isinstance(token, int)} if isinstance(listed, list) else set()
    if not tokens:
        message = f"asking {wire.url}/tokenize: no tokens in the answer (is this a vLLM server that generates text?)"
        raise UnreadableError(message)
    return Prompts(model=model, tokens=await _several(wire, model, tokens))


async def _several(wire: Wire, model: str, tokens: set[int]) -> tuple[int, ...]:
    """A tokenizer that knows none of our words makes one token of all: then its neighbours are asked for."""
    if len(tokens) >= _FEWEST:
        return tuple(sorted(tokens))
    one = next(iter(tokens))
    near = range(one + 1, one + 65)
    known = []
    for token in near:
        try:
            said = await wire.json("/detokenize", {"model": model, "tokens": [token]})
        except UnreadableError:
            break
        if isinstance(said, dict) and said.get("prompt"):
            known.append(token)
    if len(known) < _FEWEST:
        message = f"asking {wire.url}/detokenize: no {_FEWEST} tokens with a text, of which prompts could be made"
        raise UnreadableError(message)
    return tuple(known)
