"""What a proposal changes, and what each change costs, in the words of the levers."""

from collections.abc import Mapping
from typing import Final

from oomph.engines.vllm.levers.lever import Lever, Trial
from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.engines.vllm.levers.table import LEVERS
from oomph.fit.judge import SHARE, Judged
from oomph.ledger.forecast import Forecast
from oomph.ledger.settings import Value

_MORE: Final = {
    "max_num_seqs": "more requests in a batch than the release's default: graphs and the sampler take more",
    "max_num_batched_tokens": "more tokens in a step than the release's default: the largest step takes more memory",
    "pipeline_parallel_size": "the layers lie on several GPUs one after the other: each request waits for each of them",
    "data_parallel_size": "so many engines, each with a pool of its own; requests are dealt between them",
}

_COUNTED: Final = frozenset({"max_num_seqs", "max_num_batched_tokens"})
_WEIGHING: Final = frozenset({"language_model_only", "quantization"})  # each says what it saves by itself


def changed(before: Startup, after: Startup) -> Change:
    """Flags that were not so before."""
    return {flag: value for flag, value in after.flags.items() if before.flags.get(flag) != value}


def prices(before: Startup, now: Forecast, after: Judged, change: Change) -> Mapping[str, str]:
    """Of each flag, in the order of the change; `now`: the forecast of what was before."""
    return {flag: _price(before, now, after, flag, value) for flag, value in change.items()}


def _price(before: Startup, now: Forecast, after: Judged, flag: str, value: Value) -> str:
    if flag in _COUNTED and isinstance(value, int) and value > now.settings.whole(flag):
        return _MORE[flag]
    if flag == "tensor_parallel_size":
        return f"each layer is divided over {value} GPUs, which exchange results twice in it"
    lever = _lever(now, flag, value)
    if lever is None:
        return _MORE.get(flag, "")
    alone = before.but({flag: value}).forecast() if flag in _WEIGHING else after.forecast
    return lever.price(Trial(value=value, startup=before, before=now, after=alone))


def _lever(now: Forecast, flag: str, value: Value) -> Lever | None:
    """The first of this flag; of those that move the share, the one that moves it this way."""
    found = [lever for lever in LEVERS if lever.flag == flag]
    if flag == SHARE and isinstance(value, float):
        return found[0] if value < now.settings.number(SHARE) else found[1]
    return found[0] if found else None
