"""How far back each layer looks: at all tokens, or through a window.

Knows how configs say it: one window for all layers, a list of kinds, or a pattern. Does not know what
layers are made of.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from oomph.architectures import hybrid
from oomph.architectures.config import Config

Reach: TypeAlias = Callable[[Config, int], list[int | None]]

_WORDS: Final = {"sliding_attention": "sliding", "full_attention": "full"}


def listed(config: Config, depth: int) -> list[int | None]:
    """By the list of kinds; without one, all layers share the window that the config has."""
    if "layer_types" in config:
        return _by_kind(config, hybrid.listed(config, "layer_types", depth, _WORDS))
    return alike(config, depth)


def alike(config: Config, depth: int) -> list[int | None]:
    """One window for all layers, or none."""
    return [config.maybe("sliding_window")] * depth


def everything(_config: Config, depth: int) -> list[int | None]:
    """No window, whatever the config has."""
    return [None] * depth


def every(step: int, *, field: str | None = None, more: int = 0) -> Reach:
    """By the list of kinds; without one, every so-manieth layer looks at everything, the others through the window.

    `field` may say another step. `more` tokens are seen besides the window.
    """

    def by_step(config: Config, depth: int) -> list[int | None]:
        if "layer_types" in config:
            found = listed(config, depth)
        else:
            # A step of nothing has no such layer: what a class makes of it is its own, and none is known to say it.
            often = step if field is None else config.whole(field, default=step)
            found = _by_kind(config, ["full" if (index + 1) % often == 0 else "sliding" for index in range(depth)])
        return [window + more if window is not None else None for window in found]

    return by_step


def late(config: Config, depth: int) -> list[int | None]:
    """A window that is off unless it is asked for, in the layers after the first so many (Qwen)."""
    if not config.flag("use_sliding_window", default=False) or config.maybe("sliding_window") is None:
        return [None] * depth
    first = config.whole("max_window_layers", default=28, least=0)
    kinds = ["full" if index < first else "sliding" for index in range(depth)]
    if "layer_types" in config:
        kinds = hybrid.listed(config, "layer_types", depth, _WORDS)
    if len(set(kinds)) == 1:
        return _by_kind(config, kinds)
    if first != depth:  # model_executor/models/qwen2.py
        raise config.refusal(
            name="max_window_layers", why=f"a window in some of {depth} layers is refused by vLLM: {first}"
        )
    return [None] * depth


def _by_kind(config: Config, kinds: list[str]) -> list[int | None]:
    window = config.maybe("sliding_window")
    return [window if kind == "sliding" else None for kind in kinds]
