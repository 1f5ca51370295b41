"""The models and the settings that are compared.

Knows where the configs are and which settings each is asked for. Does not know any answer.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Final

ROOT: Final = Path(__file__).parents[2]
MODELS: Final = ROOT.parent / "shared" / "models"
RELEASE: Final = "0.32.0"
PLANNERS: Final = ("0.19.1", "0.22.1", "0.26.0", "0.29.0")  # whose planning is asked for the same layers
DEVICE: Final = "h100-80gb"
GIB: Final = 1 << 30
POOLS: Final = (2 * GIB, int(7.31 * GIB), 40 * GIB)
SHORT: Final = 4096  # tokens of a request


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to start a model: what the engine is asked once, and then for every pool."""

    ranks: int = 1
    stages: int = 1
    stage: int = 0
    flags: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"TP {self.ranks}"]
        if self.stages > 1:
            parts.append(f"stage {self.stage + 1} of {self.stages}")
        guesses = self.flags.get("speculative_config")
        for name, value in self.flags.items():
            if name != "speculative_config":
                parts.append(f"{name}={value}")
        if isinstance(guesses, dict):
            parts.append(f"{guesses['num_speculative_tokens']} guessed")
        return ", ".join(parts)


def names() -> list[str]:
    """Every config that is at hand."""
    return sorted(
        path.name.removesuffix(".json")
        for path in MODELS.glob("*.json")
        if not path.name.endswith(".hf_quant_config.json")  # stands beside another config
    )


def config(name: str) -> dict[str, object]:
    """One of them."""
    found: dict[str, object] = json.loads((MODELS / f"{name}.json").read_text())
    return found


def _guessing(tokens: int) -> dict[str, object]:
    return {"speculative_config": {"method": "mtp", "num_speculative_tokens": tokens}}


_FP8: Final[dict[str, object]] = {"kv_cache_dtype": "fp8"}
_APART: Final[dict[str, object]] = {"enable_prefix_caching": False}
_BRIEF: Final[dict[str, object]] = {"max_model_len": SHORT}

# Every value of every flag beside most values of the others; the first four are what weights are compared in.
ALONE: Final = (
    Setting(ranks=1),
    Setting(ranks=2, flags=_BRIEF),
    Setting(ranks=4, flags=_FP8),
    Setting(ranks=8, flags={**_FP8, **_BRIEF, **_APART}),
    Setting(ranks=1, flags={"block_size": 32, **_APART}),
    Setting(ranks=2, flags={"block_size": 64, **_FP8}),
)
GUESSING: Final = (
    Setting(ranks=1, flags=_guessing(1)),
    Setting(ranks=2, flags={**_FP8, **_APART, **_guessing(3)}),
    Setting(ranks=4, flags={"block_size": 64, **_BRIEF, **_guessing(3)}),
)
STAGES: Final = tuple(
    Setting(ranks=ranks, stages=stages, stage=stage, flags=_BRIEF)
    for ranks, stages in ((1, 2), (2, 3))
    for stage in range(stages)
)


def fitted(settings: Iterable[Setting], context_tokens: int) -> tuple[Setting, ...]:
    """The same for a model of so short a context that vLLM would refuse the usual short request."""
    if context_tokens >= SHORT:
        return tuple(settings)
    length = {"max_model_len": context_tokens // 2}
    return tuple(
        replace(each, flags={**each.flags, **length}) if "max_model_len" in each.flags else each for each in settings
    )


def sample(count: int, seed: int) -> Iterator[str]:
    """So many models, the same for the same seed."""
    random = Random(seed)  # noqa: S311 - no secret
    yield from random.sample(names(), min(count, len(names())))
