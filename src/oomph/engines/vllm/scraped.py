"""The text of vLLM's `/metrics` → what each engine behind it said.

Knows the names of every release that was read (`metrics.py` says which release shows which). Looks for the wanted
names only, so that a page costs a fraction of a millisecond; a line that cannot be read is passed over, and no page is
refused: from one that says nothing of vLLM come no scrapes. Does not fetch.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from oomph.engines.vllm.sample import Labels, bare, number, samples, whole
from oomph.ledger.histogram import Histogram
from oomph.ledger.scrape import Scrape
from oomph.units import Bytes

Key: TypeAlias = tuple[str, str]  # engine, model
Fields: TypeAlias = dict[str, object]

LONGEST: Final = 16 << 20  # characters; the page of one engine has some 60,000
_MOST: Final = 1024  # engines behind one endpoint

# The newest name first; an older one is looked for where the newer is not on the page.
SHARES: Final[Mapping[str, tuple[str, ...]]] = {
    "kv_used": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "prefix_hit_rate": ("vllm:gpu_prefix_cache_hit_rate",),
}
COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "running": ("vllm:num_requests_running",),
    "waiting": ("vllm:num_requests_waiting",),
    "swapped": ("vllm:num_requests_swapped",),
    "preemptions": ("vllm:num_preemptions_total",),
    "prefix_queries": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
    "prefix_hits": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    "prompt_tokens": ("vllm:prompt_tokens_total",),
    "generation_tokens": ("vllm:generation_tokens_total",),
    "steps": ("vllm:iteration_tokens_total_count",),
}
SORTED: Final[Mapping[str, tuple[str, str]]] = {  # and the label that sorts them
    "waiting_by": ("vllm:num_requests_waiting_by_reason", "reason"),
    "finished": ("vllm:request_success_total", "finished_reason"),
}
HISTOGRAMS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt_lengths": ("vllm:request_prompt_tokens",),
    "answer_lengths": ("vllm:request_generation_tokens",),
    "first_token": ("vllm:time_to_first_token_seconds",),
    "between_tokens": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    "whole_request": ("vllm:e2e_request_latency_seconds",),
    "queued": ("vllm:request_queue_time_seconds",),
}
CONFIG: Final = "vllm:cache_config_info"
SLEEP: Final = "vllm:engine_sleep_state"
REJECTED: Final = "vllm:admission_rejections_total"
_CONFIG_LABELS: Final = ("num_gpu_blocks", "block_size", "kv_cache_size_tokens", "enable_prefix_caching")


def scrapes(text: str, *, at: float, histograms: bool = True) -> tuple[Scrape, ...]:
    """Each engine behind the endpoint, in the order of their numbers; without histograms it costs half."""
    page = "\n" + text[:LONGEST]
    found: dict[Key, Fields] = {}
    _gather_figures(page, found)
    if histograms:
        _gather_histograms(page, found)
    if not found:
        return ()
    _add_shared(page, found)
    process = _process(page)
    return tuple(
        Scrape(at=at, engine=engine, model=model, **process, **fields)  # type: ignore[arg-type]  # by the tables above
        for (engine, model), fields in sorted(found.items(), key=_order)
    )


def _order(entry: tuple[Key, Fields]) -> tuple[int, str, str]:
    engine, model = entry[0]
    return len(engine), engine, model


def _gather_figures(page: str, found: dict[Key, Fields]) -> None:
    for field, names in SHARES.items():
        for labels, value in _first(page, names):
            if 0.0 <= value <= 1.0:
                _of(found, labels)[field] = value
    for field, names in COUNTS.items():
        for labels, value in _first(page, names):
            if (count := whole(value)) is not None:
                _of(found, labels)[field] = count
    for field, (name, by) in SORTED.items():
        for labels, value in samples(page, name):
            if by in labels and (count := whole(value)) is not None:
                _counts(found, labels, field)[labels[by]] = count


def _first(page: str, names: tuple[str, ...]) -> Iterator[tuple[Labels, float]]:
    """The samples of the first name that has any."""
    for name in names:
        met = False
        for sample in samples(page, name):
            met = True
            yield sample
        if met:
            return


def _key(labels: Labels) -> Key:
    return labels.get("engine", ""), labels.get("model_name", "")


def _of(found: dict[Key, Fields], labels: Labels) -> Fields:
    """What is known of the engine of these labels; past the most engines it is forgotten at once."""
    key = _key(labels)
    return found.setdefault(key, {}) if len(found) < _MOST else found.get(key, {})


def _counts(found: dict[Key, Fields], labels: Labels, field: str) -> dict[str, int]:
    fields = _of(found, labels)
    counts = fields.setdefault(field, {})
    return counts if isinstance(counts, dict) else {}


def _gather_histograms(page: str, found: dict[Key, Fields]) -> None:
    for field, names in HISTOGRAMS.items():
        for name in names:
            made = _histograms(page, name)
            for key, histogram in made.items():
                if key in found or len(found) < _MOST:
                    found.setdefault(key, {})[field] = histogram
            if made:
                break


def _histograms(page: str, name: str) -> dict[Key, Histogram]:
    buckets: dict[Key, dict[float, int]] = {}
    for labels, value in samples(page, f"{name}_bucket"):
        edge, count = number(labels.get("le", "")), whole(value)
        if edge is not None and count is not None:
            buckets.setdefault(_key(labels), {})[edge] = count
    sums = {_key(labels): value for labels, value in samples(page, f"{name}_sum")}
    made = {key: _histogram(pairs, sums.get(key)) for key, pairs in buckets.items()}
    return {key: histogram for key, histogram in made.items() if histogram is not None}


def _histogram(buckets: dict[float, int], total: float | None) -> Histogram | None:
    try:
        return Histogram.of(buckets.items(), total=total)
    except ValueError:
        return None


def _add_shared(page: str, found: dict[Key, Fields]) -> None:
    """What is said without naming both engine and model, to each engine that it may be of."""
    for labels, value in samples(page, SLEEP):
        if labels.get("sleep_state") == "awake" and _key(labels) in found:
            found[_key(labels)]["asleep"] = value == 0
    rejected = [(labels, whole(value)) for labels, value in samples(page, REJECTED)]
    configs = [labels for labels, _ in samples(page, CONFIG)]
    models = [model for _, model in found]
    for key, fields in found.items():
        counts = {
            labels.get("reason", ""): count for labels, count in rejected if count is not None and _is_of(labels, key)
        }
        if counts:
            fields["rejected"] = counts
        said = [labels for labels in configs if _is_of(labels, key)]
        fields.update(_config(said, engines=models.count(key[1])))


def _is_of(labels: Labels, key: Key) -> bool:
    engine, model = key
    return labels.get("engine", engine) == engine and labels.get("model_name", model) == model


def _config(said: list[Labels], *, engines: int) -> Fields:
    """Of one engine's pool; where two engines of one number say it of two, nothing: whose is whose cannot be told.

    Engines that run data-parallel share the label: their blocks are summed, their tokens are those of the first
    (v1/engine/core_client.py of 0.8.5 and of 0.32.0).
    """
    ways = {tuple(labels.get(name) for name in _CONFIG_LABELS) for labels in said}
    if len(ways) != 1:
        return {}
    blocks, block_tokens, tokens, caching = ways.pop()
    return {
        "blocks": None if (summed := _count(blocks)) is None else summed // engines or None,
        "block_tokens": _count(block_tokens),
        "pool_tokens": _count(tokens),
        "prefix_caching": {"True": True, "False": False}.get(caching or ""),
    }


def _count(said: str | None) -> int | None:
    """A label that is a number above none; `None` stands where the process that answers was never told."""
    digits = "" if said is None else said[:16]
    return int(digits) or None if digits.isascii() and digits.isdecimal() else None


def _process(page: str) -> Fields:
    """Of the process that answers: none where several answer as one, for then nobody counts it."""
    resident = whole(bare(page, "process_resident_memory_bytes"))
    return {
        "started": bare(page, "process_start_time_seconds"),
        "resident": None if resident is None else Bytes(resident),
    }
