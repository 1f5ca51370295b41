"""Nemotron-H and Nemotron 3: layers that are only one thing each, by a pattern of letters or words.

Knows states, attention, feed-forwards, experts (in a latent space where the config says so) and the layers that guess
ahead. Does not know the variants whose layers differ in width (Puzzle).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import Around, attends, mamba2, model
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Layer, Mamba2
from oomph.ledger.weights import Divide, Experts, Piece, Vector, matrix

_LETTERS: Final = {"M": "state", "*": "attention", "-": "feed", "E": "experts"}
_WORDS: Final = {
    "mamba": "state",
    "linear_attention": "state",
    "attention": "attention",
    "full_attention": "attention",
    "mlp": "feed",
    "moe": "experts",
}


def read(config: Config) -> Geometry:
    """The geometry of a Nemotron; the pattern alone says how many layers there are."""
    kinds = _pattern(config, "layers_block_type", "hybrid_override_pattern")
    guessing = config.whole("num_nextn_predict_layers", default=0, least=0)
    layers = hybrid.layers(kinds, lambda kind: _layer(config, kind))
    whole = model(config, layers, Around(norm="norm_f", ties=False, uncut=True), context_tokens=4096)
    return replace(whole, draft=_draft(config) if guessing else ())


def _pattern(config: Config, words: str, letters: str, default: str | None = None) -> list[str]:
    """As words or as letters; words win."""
    if words in config:
        return hybrid.listed(config, words, len(config.items(words, str)), _WORDS)
    written = config.text(letters) if default is None else config.text(letters, default=default)
    if not 0 < len(written) <= hybrid.MOST or not set(written) <= _LETTERS.keys():
        raise config.refusal(letters, f"{written!r:.40} is no pattern of at most {hybrid.MOST} of {''.join(_LETTERS)}")
    return [_LETTERS[letter] for letter in written]


def _layer(config: Config, kind: str) -> Layer:
    hidden = config.whole("hidden_size")
    norm = pieces.norm("norm", hidden)
    match kind:
        case "state":
            keeps = _keeps(config)
            return Layer(mixers=(keeps,), weights=(*_mixer(config, keeps, hidden), *norm))
        case "attention":
            head_dim, window = config.whole("head_dim", default=128), config.maybe("sliding_window")
            attention = attends(config, head_dim=head_dim, window=window)
            return Layer(mixers=(attention,), weights=(*pieces.attention(attention, hidden, name="mixer"), *norm))
        case "feed":
            bias = config.flag("mlp_bias", default=False)
            feed = _up_and_down(hidden, config.whole("intermediate_size"), "mixer", bias=bias)
            return Layer(mixers=(), weights=(*feed, *norm))
        case _:
            return Layer(mixers=(), weights=(*_experts(config, hidden), *norm))


def _keeps(config: Config) -> Mamba2:
    heads = config.whole("mamba_num_heads", default=128)
    head_dim = config.whole("mamba_head_dim", default=64)
    return Mamba2(
        inner=heads * head_dim,
        groups=config.whole("mamba_n_groups", "n_groups", default=8),
        state=config.whole("ssm_state_size", default=128),
        heads=heads,
        head_dim=head_dim,
        kernel=config.whole("mamba_d_conv", "conv_kernel", default=4),
        state_dtype=config.format("mamba_ssm_cache_dtype"),
    )


def _mixer(config: Config, keeps: Mamba2, hidden: int) -> tuple[Piece, ...]:
    bias = config.flag("use_bias", default=False)
    conv_bias = config.flag("mamba_conv_bias", "use_conv_bias", default=True)
    return mamba2(keeps, hidden, name="mixer", bias=bias, conv_bias=conv_bias)


def _up_and_down(hidden: int, inner: int, name: str, *, bias: bool = False) -> tuple[Piece, ...]:
    return pieces.plain(hidden, inner, up=f"{name}.up_proj", down=f"{name}.down_proj", bias=bias)


def _experts(config: Config, hidden: int) -> tuple[Piece, ...]:
    """A router, its experts without gates, and one that every token takes; routed tokens may be made narrower first."""
    count = config.whole("n_routed_experts", default=8)
    latent = config.maybe("moe_latent_size")
    inner = config.whole("moe_intermediate_size", default=7688)
    shared = config.whole("n_shared_experts", default=1, least=0)
    width = shared * config.whole("moe_shared_expert_intermediate_size", default=7688)
    return (
        matrix("mixer.gate", hidden, count, divide=Divide.NOT, plain=True),
        Vector(name="mixer.gate.e_score_correction_bias", size=count, dtype=Dtype.F32),
        Experts(name="mixer.experts", count=count, hidden=latent or hidden, inner=inner, gated=False),
        *(_up_and_down(hidden, width, "mixer.shared_experts") if shared else ()),
        *(_narrowing(config, hidden, latent) if latent else ()),
    )


def _narrowing(config: Config, hidden: int, latent: int) -> tuple[Piece, ...]:
    """Kept whole on every rank."""
    bias = config.flag("mlp_bias", default=False)
    return (
        matrix("mixer.fc1_latent_proj", hidden, latent, divide=Divide.NOT, bias=bias),
        matrix("mixer.fc2_latent_proj", latent, hidden, divide=Divide.NOT, bias=bias),
    )


def _draft(config: Config) -> tuple[Layer, ...]:
    """One step of a pattern of its own: the first layer joins word and hidden state, the last has a norm after it."""
    kinds = _pattern(config, "mtp_layers_block_type", "mtp_hybrid_override_pattern", default="*E")
    hidden = config.whole("hidden_size")
    joining: tuple[Piece, ...] = (
        *pieces.norm("enorm", hidden),
        *pieces.norm("hnorm", hidden),
        matrix("eh_proj", 2 * hidden, hidden, divide=Divide.OUTPUTS),
    )
    after: tuple[Piece, ...] = pieces.norm("final_layernorm", hidden)
    last = len(kinds) - 1

    def layer(place: tuple[str, bool, bool]) -> Layer:
        kind, first, final = place
        plain = _layer(config, kind)
        more = (*(joining if first else ()), *(after if final else ()))
        return Layer(mixers=plain.mixers, weights=(*plain.weights, *more))

    return hybrid.layers([(kind, index == 0, index == last) for index, kind in enumerate(kinds)], layer)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"NemotronHForCausalLM": read}
