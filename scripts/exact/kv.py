"""The KV pool of a model: vLLM's layers planned by vLLM, and ours from a config and flags alone."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from engine.mixes import cache_of, limits_of
from engine.pipe import Answer
from exact import layers, pools
from exact.engine import Asked
from exact.figures import Comparison, Figures
from exact.subjects import DEVICE, POOLS, RELEASE, Setting
from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.history import release
from oomph.engines.vllm import kv
from oomph.engines.vllm.pool.plan import plan
from oomph.engines.vllm.pool.pool import Worker
from oomph.engines.vllm.resolve import longest, resolve
from oomph.errors import OomphError
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bytes

_REFUSED: Final = "the start is refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model in a setting, and what the engine built of it."""

    model: str
    config: Mapping[str, object]
    setting: Setting
    answer: Answer

    @property
    def built(self) -> Mapping[str, object]:
        """What the engine answered; only where it did not refuse."""
        return cast("Mapping[str, object]", self.answer.value)


def flags(setting: Setting) -> Flags:
    """As the command line has them."""
    given: dict[str, Value] = {
        "tensor_parallel_size": setting.ranks,
        "pipeline_parallel_size": setting.stages,
    }
    for name, value in setting.flags.items():
        given[name] = json.dumps(value) if isinstance(value, dict) else cast("Value", value)
    return Flags(given)


def own(config: Mapping[str, object], setting: Setting) -> kv.Kept:
    """What we take the model to keep in this setting."""
    asked, given, device = release(RELEASE), flags(setting), CATALOGUE[DEVICE]
    found = geometry(config)
    settings = resolve(given, device=device, release=asked, context_tokens=longest(found, asked))
    formats = quantization(config)
    narrow = formats is not None and formats.cache_scales
    return kv.kept(found, given, settings, device=device, release=asked, narrow=narrow)


def impossible(case: Case) -> bool:
    """Whether the engine has no kernel for the block size that this setting asks for, or builds pages of nothing."""
    refused = case.answer.refusal
    if "block_size" not in case.setting.flags:
        return False
    if refused is not None:
        return "No valid attention backend" in str(refused)
    return any(spec["page"] == 0 for spec in cast("dict[str, layers.Spec]", case.built["specs"]).values())


def end_to_end(case: Case, judge: Asked) -> Iterator[Comparison]:
    """From config and flags to every figure, for every pool."""
    asked = release(RELEASE)
    try:
        kept, why = own(case.config, case.setting), None
    except OomphError as error:
        kept, why = None, str(error)
    if case.answer.refusal is not None or kept is None:
        refusal = None if case.answer.refusal is None else {"start": _REFUSED}
        yield _compared(case, "any pool", refusal or {"start": "built"}, {"start": _REFUSED if why else "built"})
        return
    specs = cast("dict[str, layers.Spec]", case.built["specs"])
    pages = {
        "page": _counted((cast("int", each["page"]), cast("int", each["block_tokens"])) for each in specs.values())
    }
    own_pages = {"page": _counted((int(cache.page), cache.block_tokens) for cache in kept.layers.values())}
    for available, answer in zip(POOLS, _asked(case, judge), strict=True):
        planned = plan((Worker(layers=kept.layers, available=available),), kept.limits, asked)
        told = kv.pool(kept, asked, available=Bytes(available))
        yield _compared(
            case,
            _gib(available),
            {**pages, **pools.theirs(answer, asked)},
            {**own_pages, **pools.ours(planned, asked, told)},
        )


def planning(case: Case, judge: Asked) -> Iterator[Comparison]:
    """The same layers, planned by another release and by our rules for it."""
    asked = release(judge.release)
    try:
        found = _question(case, judge)
    except layers.UntoldError:
        return
    specs, settings = found
    caches = {name: cache_of(spec, asked) for name, spec in specs.items()}
    for available, answer in zip(POOLS, _asked(case, judge), strict=True):
        planned = plan((Worker(layers=caches, available=available),), limits_of(settings), asked)
        yield _compared(
            case, _gib(available), pools.theirs(answer, asked), pools.ours(planned, asked), release=judge.release
        )


def _question(case: Case, judge: Asked) -> tuple[dict[str, layers.Spec], layers.Spec]:
    asked, built = release(judge.release), cast("dict[str, layers.Spec]", case.built["specs"])
    defaults = cast("Mapping[str, object]", case.built["defaults"])
    return layers.told(built, asked), layers.settings(defaults, built, asked, ranks=case.setting.ranks)


def _asked(case: Case, judge: Asked) -> Sequence[Answer]:
    specs, settings = _question(case, judge)
    return judge.ask_many(
        "plan", [{"layers": specs, "available": [available], "settings": settings} for available in POOLS]
    )


def _counted(pages: Iterator[tuple[int, int]]) -> list[tuple[tuple[int, int], int]]:
    """How many layers have which page and block."""
    return sorted(Counter(pages).items())


def _gib(available: int) -> str:
    return f"{available / GIB:.2f} GiB"


def _compared(case: Case, pool: str, theirs: Figures, ours: Figures, release: str = RELEASE) -> Comparison:
    try:
        family = geometry(case.config).family
    except OomphError:
        family = "not read"
    return Comparison(
        about="KV",
        model=case.model,
        family=family,
        setting=f"{case.setting}, pool {pool}",
        release=release,
        theirs=theirs,
        ours=ours,
    )
