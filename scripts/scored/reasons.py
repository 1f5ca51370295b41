"""Why a forecast is far off, where that is known; and what other tools' errors are, with what they were measured on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# By record: the reason, as far as it was found out.
KNOWN: Final[Mapping[str, str]] = {
    "s0119": "it counted -0.60 GiB outside PyTorch: memory that was in use when it began was given back meanwhile",
    "s0123": "it counted -0.70 GiB outside PyTorch: memory that was in use when it began was given back meanwhile",
    "s0147": "the driver does not tell GB10's memory to vLLM's choice of defaults, which then takes 256 sequences, not "
    "1,024; this log prints 2,048 tokens for a step",
    "s0190": "the tower was profiled with the longest video (153,600 tokens), not with pictures",
    "s0208": "FlashInfer was installed: its sampler selects without sorting, which a command does not say",
    "s0209": "FlashInfer was installed, as s0208; a share of 0.25 makes the pool small",
    "s0212": "FlashInfer was installed, as s0208; a share of 0.25 makes the pool small",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Another tool, and how far off it is said or was seen to be."""

    name: str
    error: str
    basis: str


RIVALS: Final = (
    Rival(
        name="vllm-memory-estimator",
        error="47 % on what is neither weights nor KV; weights 2.1 % (means)",
        basis="its own figures over 231 logs",
    ),
    Rival(name="vramscout 0.7.0", error="+9 % (4.90 for 4.50 GiB), verdict right", basis="the one start-up below"),
    Rival(name="llm-d-planner 0.3.3", error="-14 %, verdict right", basis="likewise"),
    Rival(name="aiconfigurator 0.12.0", error="-49 %; its fallback +18 %, verdict wrong", basis="likewise"),
    Rival(name="vllm-wizard 0.2.0", error="+19 %", basis="likewise"),
    Rival(name="kvfit 0.3.0", error="+32 %, verdict wrong", basis="likewise"),
    Rival(name="modelinfo-cli 1.4.4", error="+41 %, verdict wrong", basis="likewise"),
)
POOLS: Final = (0.09, -0.14, -0.49, 0.18, 0.19, 0.32, 0.41)  # errors on that one pool, for the plot
