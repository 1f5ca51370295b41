"""Windows in most layers and the whole context in some: Gemma 2 and 3.

Knows their text models; `decoder` builds them. Gemma 4, whose layers differ in more than the window, has its own file.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from oomph.architectures import reach
from oomph.architectures.config import Config
from oomph.architectures.decoder import Build, both, head_norms, read, text
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry

SANDWICH: Final = (
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
)


def _gemma3_reach(config: Config, depth: int) -> list[int | None]:
    """Five in six through the window; where tokens see both ways, half of it lies ahead."""
    found = reach.every(6, field="sliding_window_pattern")(config, depth)
    if not config.flag("use_bidirectional_attention", default=False):
        return found
    return [None if window is None else window // 2 + 1 for window in found]


GEMMA2: Final = Build(
    kind="gemma2",
    biases=both("attention_bias"),
    norms=lambda _config: SANDWICH,
    reach=reach.every(2),
    tied=True,
    uncut=True,
)
GEMMA3: Final = Build(
    kind="gemma3_text",
    biases=both("attention_bias"),
    besides=head_norms,
    norms=lambda _config: SANDWICH,
    reach=_gemma3_reach,
    uncut=True,
)


def gemma3(config: Config, *, architecture: str, dtype: Dtype, model: str = "model") -> Geometry:
    """The text model of Gemma 3; `model` is what its names begin with."""
    return text(config, GEMMA3, architecture=architecture, dtype=dtype, model=model)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "Gemma2ForCausalLM": partial(read, build=GEMMA2),
    "Gemma3ForCausalLM": partial(read, build=GEMMA3),
}
