"""What is heard of one start-up besides the figures in its sentences: its failures, its engine, its platform.

Knows by which words an engine is known, and that it has served. Does not know phases nor causes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from oomph.diagnose.case import Platform, Tenant
from oomph.diagnose.finding import Said
from oomph.diagnose.hearing.first_errors import FirstErrors
from oomph.diagnose.hearing.kept import Kept
from oomph.diagnose.hearing.platforms import platforms_in
from oomph.engines import pytorch
from oomph.engines.others import Others
from oomph.units import Bounds

_LONGEST: Final = 4_000  # characters of a line that are looked at
_TENANTS: Final = 64
_PLACES: Final = 64
_ENGINES: Final = {
    "llama.cpp": re.compile(
        r"\bggml_(?:backend|cuda|gallocr|metal|vulkan|vk|init|hip|sycl|new|aligned)|\bGGML_(?:ASSERT|ABORT)"
        r"|\bllama_(?:kv|new|init|model|context|params|decode)\w*:|/llama\.cpp/|\bload_tensors:"
    ),
    "SGLang": re.compile(r"\bsglang\b|mem[-_]fraction[-_]static|Load weight end\. |(?:Prefill|Decode) out of memory"),
    "vLLM": re.compile(r"[Vv](?:LLM|llm)|gpu[-_]memory[-_]utilization|for the cache blocks|EngineCore"),
}
# collect_env.py, an image, a requirement, the folder of a wheel.
_RELEASE: Final = re.compile(
    r"(?:vLLM [Vv]ersion *: *|vllm/vllm-openai:|\bvllm==|\bvllm-)v?"
    r"(?P<release>0\.[0-9]{1,2}\.[0-9]{1,2}(?:\.post[0-9]|rc[0-9]{1,2})?)\b"
)
_SERVED: Final = (
    *(
        "Application startup complete",
        "Uvicorn running on",
        "Avg prompt throughput",
        "Starting vLLM API server",
    ),  # vLLM
    *("Received request ", "Added request ", '"POST /', "Processed prompts:"),
    *("fired up and ready to roll", "Prefill batch", "Decode batch"),  # SGLang
    *("server is listening", "all slots are idle", "slot launch_slot_", "slot update_slots"),  # llama.cpp
)
# Files that log only once it is up.
_SERVING: Final = ("serving", "loggers.py:", "metrics.py:")

# How far a start-up is when it says these; a refusal, and then something from before it: that is another attempt.
_STEPS: Final = {
    "too little free": 1,
    "weights": 2,
    "load overflowed": 2,
    "encoder budget": 3,
    "budget": 4,
    "profile": 4,
    "memory came back": 5,
    "graphs profiled": 5,
    "pool": 6,
    "no pool": 7,
    "pool below length": 8,
    "pool below request": 8,
    "no length fits": 8,
    "sampler overflowed": 9,
}
_REFUSALS: Final = frozenset(
    {"too little free", "load overflowed", "memory came back", "no pool", "pool below length", "pool below request"}
    | {"no length fits", "sampler overflowed"}
)


@dataclass(slots=True)
class Heard:
    """Hears a start-up line by line."""

    errors: FirstErrors = field(default_factory=FirstErrors)
    kept: Kept = field(default_factory=Kept)
    others: Others = field(default_factory=Others)
    engines: set[str] = field(default_factory=set)
    served: bool = False
    release: str | None = None  # of vLLM, where something other than its own sentence names it
    places: set[str] = field(default_factory=set)  # of its source that log errors: core.py:1142
    platform: set[Platform] = field(default_factory=set)
    _tenants: dict[int | None, Tenant] = field(default_factory=dict)
    _own: bool = False  # the message that names processes names the failing one too
    _refused: dict[str, int] = field(default_factory=dict)  # by rank: how far it was when it was refused

    def hear(self, said: Said, *, calm: bool, names: Sequence[str], known: bool) -> None:
        """Take a line; `names` are the engine's sentences in it, `known` says that many of its kind were heard."""
        self._attempt(said.rank, names)
        weight = self.errors.weight
        self.errors.hear(said, calm=calm)
        self.kept.take(said)
        if said.file.startswith(_SERVING):
            self.served = True
        elif not calm and said.file and len(self.places) < _PLACES:
            self.places.add(said.file)
        if self.errors.weight > weight:
            self.kept.failing()
        if not known:
            self._look(said, failed=weight > 0)

    def _look(self, said: Said, *, failed: bool) -> None:
        text = f"{said.rank} {said.text[:_LONGEST]}"
        self.engines |= {name for name, words in _ENGINES.items() if name not in self.engines and words.search(text)}
        self.platform |= platforms_in(text)
        if not self.served and not failed:
            self.served = any(words in text for words in _SERVED)
        if self.release is None and "llm" in text and (found := _RELEASE.search(text)) is not None:
            self.release = found["release"]
        if " memory in use" in text and not self._tenants:
            self._name_tenants(text)

    def _attempt(self, rank: str, names: Sequence[str]) -> None:
        for name in names:
            step = _STEPS.get(name)
            if step is not None and step < self._refused.get(rank, 0):
                self.errors.again()
                self._refused.clear()
            if step is not None and name in _REFUSALS:
                self._refused[rank] = step

    def _name_tenants(self, text: str) -> None:
        """Others that hold memory. A process of 0 bytes is one of another container: it holds an unknown size."""
        for name, figures in pytorch.pieces(text):
            holds, pid = figures.get("in_use"), figures.get("pid")
            self._own = self._own or name == "this process"
            if name == "a process" and isinstance(holds, Bounds) and holds.high > 0 and len(self._tenants) < _TENANTS:
                number = pid if isinstance(pid, int) else None
                self._tenants[number] = Tenant(pid=number, holds=holds)

    @property
    def tenants(self) -> tuple[Tenant, ...]:
        """Without the failing process itself, which in a container is the only one that is named."""
        return tuple(self._tenants.values()) if self._own or len(self._tenants) > 1 else ()

    @property
    def engine(self) -> str | None:
        """By the words that only one engine uses."""
        return next((name for name in ("llama.cpp", "SGLang", "vLLM") if name in self.engines), None)
