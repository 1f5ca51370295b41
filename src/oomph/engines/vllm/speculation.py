"""Speculation as the user asks for it: how many tokens are guessed, and by whom.

Knows `--speculative-config` and the flags before and beside it. Does not know what a draft model weighs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from oomph.errors import UsageError
from oomph.ledger.settings import Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Tokens guessed per step, and the method that guesses them."""

    tokens: int
    method: str | None = None

    @property
    def by_own_layers(self) -> bool:
        """Whether layers of the model itself guess (MTP)."""
        return self.tokens > 0 and (self.method or "mtp").endswith("mtp")


def speculation(flags: Flags) -> Speculation:
    """What the flags ask for; nothing is guessed where they are silent."""
    config = _config(flags.get("speculative_config"))
    tokens = config.get("num_speculative_tokens", flags.get("num_speculative_tokens", flags.get("spec_tokens", 0)))
    method = config.get("method", flags.get("spec_method"))
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= 1024:  # noqa: PLR2004 - absurd above
        message = f"--speculative-config: num_speculative_tokens is {tokens!r:.40}, not a number of tokens"
        raise UsageError(message)
    return Speculation(tokens=tokens, method=method if isinstance(method, str) else None)


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
