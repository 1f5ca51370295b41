"""What a server says of itself before it is loaded: its model, its longest request, its release, its pool.

Knows which pages of a vLLM server say it. Does not load it.
"""

import time

from oomph.diagnose.proof.accounts import as_one
from oomph.engines.vllm.scraped import scrapes
from oomph.errors import UnreadableError, UsageError
from oomph.ledger.proof import Promise
from oomph.ledger.scrape import Scrape
from oomph.live.load.wire import Wire


async def read_promise(wire: Wire, model: str | None) -> Promise:
    """Of the model that is named, or of the only one; refused where it is no vLLM server."""
    name, length = _served(await wire.json("/v1/models"), model, wire.url)
    engines = scrapes(await wire.text("/metrics"), at=time.time(), histograms=False)
    engines = tuple(engine for engine in engines if engine.model in {name, ""}) or engines
    if not engines:
        message = (
            f"asking {wire.url}/metrics: nothing of vLLM there (prove drives vLLM servers; if one stands behind a "
            "gateway, or was started with --disable-log-stats, give its own address, with its statistics on)"
        )
        raise UnreadableError(message)
    first = engines[0]
    return Promise(
        url=wire.url,
        model=name,
        release=await _release(wire),
        length=length,
        engines=len(engines),
        blocks=first.blocks,
        block_tokens=first.block_tokens,
        pool_tokens=first.tokens,
        prefix_caching=first.prefix_caching,
    )


async def look(wire: Wire, *, at: float, patience: float, histograms: bool = False) -> Scrape | None:
    """All engines as one, now; None where the server does not say."""
    try:
        return as_one(scrapes(await wire.text("/metrics", patience=patience), at=at, histograms=histograms))
    except UnreadableError:
        return None


def _served(said: object, wanted: str | None, url: str) -> tuple[str, int | None]:
    """The name of a model and its longest request; adapters, which have a parent, come last."""
    listed = said.get("data") if isinstance(said, dict) else None
    models = [each for each in listed if isinstance(each, dict) and each.get("id")] if isinstance(listed, list) else []
    if not models:
        message = f"asking {url}/v1/models: no model is served there (is this a vLLM server?)"
        raise UnreadableError(message)
    named = {str(each["id"]): each for each in sorted(models, key=lambda each: each.get("parent") is not None)}
    if wanted is not None and wanted not in named:
        message = f"{url} does not serve {wanted!r} but {', '.join(named)}"
        raise UsageError(message)
    name = next(iter(named)) if wanted is None else wanted
    length = named[name].get("max_model_len")
    return name, length if isinstance(length, int) else None


async def _release(wire: Wire) -> str | None:
    try:
        said = await wire.json("/version")
    except UnreadableError:
        return None
    version = said.get("version") if isinstance(said, dict) else None
    return version if isinstance(version, str) else None
