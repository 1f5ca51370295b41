"""How long requests are on the average, by what an engine has counted since it began.

Knows counters only. Does not know how lengths are spread (`ledger.lengths` does).
"""

from oomph.ledger.scrape import Scrape


def average_length(scrape: Scrape) -> int | None:
    """Tokens of prompt and answer of a finished request, rounded up; None before one was finished."""
    requests = scrape.requests
    if not requests or scrape.prompt_tokens is None or scrape.generation_tokens is None:
        return None
    return -(-(scrape.prompt_tokens + scrape.generation_tokens) // requests) or None
