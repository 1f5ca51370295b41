"""What changed when in recurrent states, and what a release keeps of one sequence in one layer.

Each line names the release and the file, below `vllm/`, in which it can be seen. A kind of layer begins with the
release that keeps it in pages; before that vLLM kept it outside the pool, or had none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from oomph.engines.history import Release, Since
from oomph.engines.vllm.formulas import states
from oomph.engines.vllm.formulas.states import Formats, Resolves, Wish
from oomph.engines.vllm.pool.caches import State
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Lightning, Mamba1, Mamba2, Recurrent, ShortConvolution
from oomph.units import Bytes

L_contra = TypeVar("L_contra", contravariant=True)


class Tensors(Protocol[L_contra]):
    """The tensors that one of several tensor-parallel ranks keeps of one sequence."""

    def __call__(self, layer: L_contra, formats: Formats, /, *, ranks: int, guessed: int) -> tuple[State, ...]:
        """In the order in which they lie in a page."""


# A layer of Mamba.
mamba1: Final[Since[Tensors[Mamba1]]] = Since(
    {
        "0.10.1": states.mamba1,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# A layer of Mamba 2.
mamba2: Final[Since[Tensors[Mamba2]]] = Since(
    {
        "0.9.2": states.mamba2,  # model_executor/layers/mamba/mamba_mixer2.py
        "0.17.0": states.mamba2_with_guesses,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# A gated delta net.
delta: Final[Since[Tensors[Delta]]] = Since(
    {
        "0.10.2": states.delta,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# One that decays each channel by a gate of its own.
channelwise: Final[Since[Tensors[Delta]]] = Since(
    {
        "0.11.1": states.channelwise_apart,  # model_executor/layers/mamba/mamba_utils.py
        "0.23.0": states.channelwise,  # model_executor/layers/mamba/mamba_utils.py
        "0.27.0": states.delta,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# A short convolution.
convolution: Final[Since[Tensors[ShortConvolution]]] = Since(
    {
        "0.10.2": states.convolution,  # model_executor/layers/mamba/mamba_utils.py
        "0.29.0": states.convolution_with_guesses,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# Linear attention.
lightning: Final[Since[Tensors[Lightning]]] = Since(
    {
        "0.10.1": states.lightning,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# The formats of Mamba, Mamba 2, short convolutions and linear attention.
plain_formats: Final[Since[Resolves]] = Since(
    {
        "0.9.2": states.all_alike,  # v1/worker/gpu_model_runner.py
        "0.10.1": states.state_apart,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# Those of a gated delta net.
delta_formats: Final[Since[Resolves]] = Since(
    {
        "0.10.2": states.all_alike,  # model_executor/layers/mamba/mamba_utils.py
        "0.17.0": states.state_apart,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# Those of one that decays each channel by a gate of its own.
channelwise_formats: Final[Since[Resolves]] = Since(
    {
        "0.11.1": states.state_in_float32,  # model_executor/layers/mamba/mamba_utils.py
        "0.30.0": states.state_in_float32_unless_asked,  # model_executor/layers/mamba/mamba_utils.py
    }
)

# The architectures whose config may ask for a format of the state, and what it asks for when it is silent. A config
# class that has a default of its own is never silent: NemotronHConfig of transformers 5 says 32 bits in every release.
asking: Final[Since[Mapping[str, Dtype | None]]] = Since(
    {
        "0.9.2": {},  # model_executor/models/config.py
        "0.13.0": {"NemotronHForCausalLM": Dtype.F16},  # model_executor/models/config.py
        "0.17.0": {
            "NemotronHForCausalLM": Dtype.F16,
            "Qwen3_5ForConditionalGeneration": None,
            "Qwen3_5MoeForConditionalGeneration": None,
        },  # model_executor/models/config.py
        "0.20.0": {
            "NemotronHForCausalLM": Dtype.F32,
            "Qwen3_5ForConditionalGeneration": None,
            "Qwen3_5MoeForConditionalGeneration": None,
        },  # model_executor/models/config.py
        "0.27.0": {
            "NemotronHForCausalLM": Dtype.F32,
            "Qwen3_5ForCausalLM": None,
            "Qwen3_5MoeForCausalLM": None,
            "Qwen3_5ForConditionalGeneration": None,
            "Qwen3_5MoeForConditionalGeneration": None,
        },  # model_executor/models/config.py
    }
)


# Blocks for the state at a checkpoint within a prompt, of a layer of Mamba 2 and of Kimi K3's delta layers.
mamba2_checkpoints: Final[Since[int]] = Since(
    {
        "0.9.2": 0,  # model_executor/layers/mamba/mamba_mixer2.py
        "0.32.0": 1,  # model_executor/layers/mamba/mamba_mixer2.py
    }
)
kimi_k3_checkpoints: Final[Since[int]] = Since(
    {
        "0.11.1": 0,  # model_executor/layers/mamba/abstract.py
        "0.29.0": 1,  # models/kimi_k3/nvidia/kda.py
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whose states are asked for, and what was said of their formats."""

    architecture: str
    dtype: Dtype  # the model's, in which it runs
    window: Dtype | None = None  # --mamba-cache-dtype; None: auto
    state: Dtype | None = None  # --mamba-ssm-cache-dtype; None: auto


def kept(layer: Recurrent, asked: Asked, release: Release, *, ranks: int = 1, guessed: int = 0) -> tuple[State, ...]:
    """The tensors that one rank keeps of one sequence; `guessed` is the number of speculative tokens."""
    wish = _wish(layer, asked, release)
    plain = plain_formats.at(release)(wish)
    match layer:
        case Mamba1():
            return mamba1.at(release)(layer, plain, ranks=ranks, guessed=guessed)
        case Mamba2():
            return mamba2.at(release)(layer, plain, ranks=ranks, guessed=guessed)
        case Delta(channelwise=True):
            formats = channelwise_formats.at(release)(wish)
            return channelwise.at(release)(layer, formats, ranks=ranks, guessed=guessed)
        case Delta():
            formats = delta_formats.at(release)(wish)
            return delta.at(release)(layer, formats, ranks=ranks, guessed=guessed)
        case ShortConvolution():
            return convolution.at(release)(layer, plain, ranks=ranks, guessed=guessed)
        case Lightning():
            return lightning.at(release)(layer, plain, ranks=ranks, guessed=guessed)


def checkpoints(layer: Recurrent, architecture: str, release: Release) -> int:
    """Blocks that a layer takes for checkpoints within a prompt, where prefixes are cached."""
    if isinstance(layer, Mamba2):
        return mamba2_checkpoints.at(release)
    kimi = architecture == "KimiK3ForConditionalGeneration"
    return kimi_k3_checkpoints.at(release) if kimi and isinstance(layer, Delta) else 0


def page(layer: Recurrent, asked: Asked, release: Release, *, ranks: int = 1, guessed: int = 0) -> Bytes:
    """All of them, before any padding."""
    return Bytes(sum(state.size for state in kept(layer, asked, release, ranks=ranks, guessed=guessed)))


def _wish(layer: Recurrent, asked: Asked, release: Release) -> Wish:
    """A config's own wish counts only for the architectures that this release asks for it."""
    silent = asking.at(release)
    own = layer.state_dtype if isinstance(layer, Mamba2 | Delta) else None
    wanted = own or silent[asked.architecture] if asked.architecture in silent else None
    return Wish(model=asked.dtype, asked=wanted, window=asked.window, state=asked.state)
