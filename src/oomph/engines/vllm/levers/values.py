"""How far each lever can be moved from where it stands: the least painful value first.

Knows the steps in which people think: whole requests, sizes of the capture grid, quarters of a GiB. Does not know
which value helps.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Final

from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.speculation import speculation
from oomph.ledger.device import Capability
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Account
from oomph.ledger.settings import Value
from oomph.units import GIB, MIB

STEP_TOKENS: Final = 256  # in which the tokens of a step, and of the longest request, are lowered
POOL_STEP: Final = 256 * MIB
_LEAST_SHARE: Final = 5  # percent
_OFFLOADED: Final = 4  # GiB: a step in which weights are left with the host
_HOST: Final = 512  # GiB: more memory than this few hosts can spare for all ranks together
_MOST_GPUS: Final = 8  # that people have in one machine
_ROUNDS_WEIGHTS: Final = 8  # the first major number whose kernels take weights of eight bits
_EIGHT_BITS: Final = Capability(major=8, minor=9)  # the first whose kernels read keys and values of eight bits


def lower_share(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Every hundredth below the present share."""
    del startup
    return [percent / 100 for percent in range(math.ceil(_percent(now)) - 1, _LEAST_SHARE - 1, -1)]


def higher_share(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Every hundredth above it; the pool of a given size does not look at the share."""
    if _given(startup) is not None:
        return ()
    return [percent / 100 for percent in range(math.floor(_percent(now)) + 1, 100)]


def _percent(now: Forecast) -> float:
    """The present share, without what binary fractions add to it."""
    return round(now.settings.number("gpu_memory_utilization") * 100, 6)


def fewer_sequences(startup: Startup, now: Forecast) -> Sequence[Value]:
    """One request less at a time."""
    del startup
    return range(now.settings.whole("max_num_seqs") - 1, 0, -1)


def fewer_step_tokens(startup: Startup, now: Forecast) -> Sequence[Value]:
    """A step must have room for one token of every sequence, and for a block where states are kept."""
    del startup
    block = 0 if now.kv is None else now.kv.block_tokens
    least = max(STEP_TOKENS, block, now.settings.whole("max_num_seqs"))
    return _multiples(now.settings.whole("max_num_batched_tokens"), least=least)


def shorter_requests(startup: Startup, now: Forecast) -> Sequence[Value]:
    """The longest request, in steps; nobody knows the present one without a model."""
    del startup
    if "max_model_len" not in now.settings:
        return ()
    return _multiples(now.settings.whole("max_model_len"), least=STEP_TOKENS)


def _multiples(now: int, *, least: int) -> Sequence[Value]:
    most, fewest = (now - 1) // STEP_TOKENS, -(-least // STEP_TOKENS)
    return range(most * STEP_TOKENS, fewest * STEP_TOKENS - 1, -STEP_TOKENS)


def smaller_captures(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Sizes of the capture grid below the largest; a list that the user gave is shortened by another lever."""
    if startup.flags.get("cudagraph_capture_sizes") is not None:
        return ()
    return tuple(reversed([size for size in _captured(now)[:-1] if size % 8 == 0 or size in {1, 2, 4}]))


def shorter_captures(startup: Startup, now: Forecast) -> Sequence[Value]:
    """The list that the user gave, without its largest sizes."""
    if startup.flags.get("cudagraph_capture_sizes") is None:
        return ()
    captured = _captured(now)
    return tuple(captured[:count] for count in range(len(captured) - 1, 0, -1))


def _captured(now: Forecast) -> tuple[int, ...]:
    captured = now.settings["cudagraph_capture_sizes"].value
    return captured if isinstance(captured, tuple) else ()


def no_graphs(startup: Startup, now: Forecast) -> Sequence[Value]:
    """All or nothing."""
    del startup
    return (True,) if _captured(now) else ()


def given_pool(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Quarters of a GiB below what the device has, or below what is given."""
    if startup.model is None:
        return ()
    most = min(int(now.device.total), _given(startup) or now.device.total)
    return range((most - 1) // POOL_STEP * POOL_STEP, 0, -POOL_STEP)


def larger_pool(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Quarters of a GiB above a size that is given."""
    given = _given(startup)
    if given is None:
        return ()
    return range((given // POOL_STEP + 1) * POOL_STEP, int(now.device.total), POOL_STEP)


def no_given_pool(startup: Startup, now: Forecast) -> Sequence[Value]:
    """As large as the share permits, instead of the size that is given."""
    del now
    return () if _given(startup) is None else (None,)


def _given(startup: Startup) -> int | None:
    return startup.flags.positive("kv_cache_memory_bytes")


def narrow_keys(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Eight bits, where neither flag, checkpoint nor device is in the way."""
    if startup.model is None or startup.flags.get("kv_cache_dtype", "auto") not in {"auto", None}:
        return ()
    stored, found = startup.model.quantization, now.device.capability
    able = found is None or (found.major, found.minor) >= (_EIGHT_BITS.major, _EIGHT_BITS.minor)
    return ("fp8",) if able and not (stored is not None and stored.cache_scales) else ()


def fewer_guesses(startup: Startup, now: Forecast) -> Sequence[Value]:
    """One guessed token less, down to none at all."""
    del now
    written = startup.flags.get("speculative_config")
    guessed = speculation(startup.flags)
    if not isinstance(written, str) or not guessed.tokens:
        return ()
    config = json.loads(written)
    fewer = (json.dumps({**config, "num_speculative_tokens": count}) for count in range(guessed.tokens - 1, 0, -1))
    return (*fewer, None)


def text_alone(startup: Startup, now: Forecast) -> Sequence[Value]:
    """For a model that sees or hears."""
    del now
    multimodal = startup.model is not None and bool(startup.model.geometry.towers)
    return (True,) if multimodal and startup.flags.get("language_model_only") is not True else ()


def fewer_pictures(startup: Startup, now: Forecast) -> Sequence[Value]:
    """One picture and no video, then neither."""
    if not text_alone(startup, now):
        return ()
    given = startup.flags.get("limit_mm_per_prompt")
    wanted = (json.dumps({"image": count, "video": 0}) for count in (1, 0))
    return tuple(value for value in wanted if value != given)


def more_ranks(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Twice as many, and again; vLLM refuses those that do not divide the heads."""
    del now
    return tuple(_doubled(startup)) if startup.model is not None else ()


def _doubled(startup: Startup) -> Iterator[int]:
    ranks = 2 * startup.flags.count("tensor_parallel_size")
    while ranks * startup.flags.count("pipeline_parallel_size") <= _MOST_GPUS:
        yield ranks
        ranks *= 2


def newer_release(startup: Startup, now: Forecast) -> Sequence[Value]:
    """The newest that was read, where another one is asked about."""
    del now
    newest = HISTORY.read_through
    return (str(newest),) if startup.release in HISTORY.releases and startup.release != newest else ()


def narrow_weights(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Rounded as they are loaded, where neither flag, checkpoint nor device is in the way."""
    model, found = startup.model, now.device.capability
    stored = model is None or model.quantization is not None or model.weights is not None
    able = found is None or found.major >= _ROUNDS_WEIGHTS
    return ("fp8",) if able and not stored and startup.flags.get("quantization") is None else ()


def with_host(startup: Startup, now: Forecast) -> Sequence[Value]:
    """Some GiB more of the weights with the host, up to all of them, or to what a host can have."""
    weights = now.ledger.of(Account.WEIGHTS)
    if startup.model is None or weights is None or startup.flags.get("cpu_offload_gb"):
        return ()
    most = min(int(weights.high // GIB), _HOST // len(startup.devices))
    return range(_OFFLOADED, most + 1, _OFFLOADED)
