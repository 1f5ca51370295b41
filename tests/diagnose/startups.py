"""Start-ups for the tests of remedies: the two crashes that oomph was begun for, and others for hypothesis."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from engines.vllm.models import LLAMA, ROUTED
from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.ledger.settings import Flags, Value
from oomph.units import Bounds, Bytes

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "qwen3.6-27b" / "config.json"

DENSE: Final = LLAMA
HUGE: Final = {
    **DENSE,
    "hidden_size": 16_384,
    "intermediate_size": 53_248,
    "num_hidden_layers": 126,
    "num_attention_heads": 128,
}


@cache
def model(kind: str, weights: str | None = None) -> Model:
    configs = {"dense": DENSE, "huge": HUGE, "routed": ROUTED, "hybrid": json.loads(EXAMPLE.read_text())}
    stated = None if weights is None else Bounds(Bytes.parse(weights))
    return Model(
        name=kind,
        geometry=geometry(configs[kind]),
        weights=None
        if stated is None
        else Entry(account=Account.WEIGHTS, size=stated, basis=Basis.OBSERVED, because=f"--weights {weights}"),
    )


def startup(kind: str, *, at: str, device: Device | str, weights: str | None = None, **flags: Value) -> Startup:
    card = CATALOGUE[device] if isinstance(device, str) else device
    ranks = Flags(flags).count("tensor_parallel_size")
    return Startup(flags=Flags(flags), model=model(kind, weights), devices=(card,) * ranks, release=release(at))


def seed_a(at: str = "0.19.1", /, **flags: Value) -> Startup:
    """Qwen3.6-27B in 4 bits with fp8 KV and two guessed tokens on an RTX 5090, as its user started it."""
    given: dict[str, Value] = {
        "gpu_memory_utilization": 0.8,
        "enable_prefix_caching": True,
        "language_model_only": True,
        "max_model_len": 16_384,
        "kv_cache_dtype": "fp8",
        "speculative_config": '{"method": "mtp", "num_speculative_tokens": 2}',
    }
    return startup("hybrid", at=at, device="rtx-5090", weights="18.47GiB", **{**given, **flags})


def seed_b(at: str = "0.19.1", /, **flags: Value) -> Startup:
    """The same model without guesses on an RTX 3090, as its user started it."""
    given: dict[str, Value] = {
        "gpu_memory_utilization": 0.92,
        "max_model_len": 32_768,
        "kv_cache_dtype": "fp8_e5m2",
    }
    return startup("hybrid", at=at, device="rtx-3090", weights="18GiB", **{**given, **flags})


def with_free(device: str, share: float) -> Device:
    card = CATALOGUE[device]
    return replace(card, free=Bounds(round(card.total * share)))


_RELEASES: Final = [str(each) for each in HISTORY.releases if not each < release("0.10.2")]
_GUESSING: Final = '{"method": "mtp", "num_speculative_tokens": 3}'


@st.composite
def startups(draw: st.DrawFn) -> Startup:
    """Of three kinds of model, on devices of many sizes, with some of the flags that move bytes."""
    kind = draw(st.sampled_from(["dense", "routed", "hybrid"]))
    possible: dict[str, st.SearchStrategy[Value]] = {
        "gpu_memory_utilization": st.integers(50, 98).map(lambda percent: percent / 100),
        "max_num_seqs": st.sampled_from([1, 8, 64, 200, 512, 1024]),
        "max_num_batched_tokens": st.sampled_from([1024, 2048, 8192, 32_768]),
        "max_model_len": st.sampled_from([2048, 10_000, 32_768]),
        "kv_cache_memory_bytes": st.sampled_from([1, 4, 12, 40]).map(lambda gib: gib << 30),
        "max_cudagraph_capture_size": st.sampled_from([8, 64, 256]),
        "enforce_eager": st.just(value=True),
        "speculative_config": st.just(_GUESSING),
        "tensor_parallel_size": st.sampled_from([2, 4]),
    }
    wanted = draw(st.sets(st.sampled_from(sorted(possible)), max_size=4))
    if kind != "hybrid":
        wanted.discard("speculative_config")
    flags = {name: draw(possible[name]) for name in sorted(wanted)}
    device = draw(st.sampled_from(["a10", "rtx-3090", "rtx-5090", "a100-40gb", "l40s", "h100-80gb", "b200", "t4"]))
    whole = CATALOGUE[device]
    card = draw(st.sampled_from([whole, whole, whole, whole, with_free(device, 0.93), with_free(device, 0.7)]))
    weights = draw(st.sampled_from([None, "6GiB", "18.47GiB"]))
    return startup(kind, at=draw(st.sampled_from(_RELEASES)), device=card, weights=weights, **flags)
