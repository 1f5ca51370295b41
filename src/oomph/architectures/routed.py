"""How a model with routed experts is put together from its config, whatever its name.

Knows what all such models share: layers that route or do not, around them words, a last norm and a head, layers that
guess ahead, and the text model inside one for pictures or sound. Does not know any architecture (`experts.py`,
`experts_mixed.py`, `minimax.py`), nor how experts are divided between ranks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, TypeVar

from oomph.architectures import pieces
from oomph.architectures.config import Config
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Divide, Matrix, Piece, Table, matrix

Reader: TypeAlias = Callable[[Config], Geometry]
T = TypeVar("T")

_DEEPEST: Final = 4096  # layers


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What tells one architecture with experts from another."""

    means: Mapping[str, object]  # what a missing field means to the config's class
    count: tuple[str, ...]  # where the number of experts is written
    many: int  # how many there are where it is written nowhere
    inner: str = "moe_intermediate_size"
    name: str = "mlp"  # of what stands in place of the feed-forward
    gate_dtype: Dtype | None = None
    gate_plain: bool = True
    correction: str | None = None
    shared: Callable[[Config], tuple[Piece, ...]] = field(default=lambda _config: ())
    sparse: Callable[[Config, int], list[bool]] = field(default=lambda _config, count: [True] * count)  # by layer
    window: Callable[[Config], int | None] | None = None  # None: the common one
    bias: bool | str = False  # of queries, keys and values; or the field that says so
    output_bias: bool = False  # of the map back
    head_norms: Callable[[Config, Attention], tuple[Piece, ...]] = field(default=lambda _config, _mixer: ())
    own_head_dim: bool = True  # False: a config's head_dim is not read
    norm_bias: bool = False
    head_bias: bool = False
    ties: bool = True  # False: the head is its own, whatever the config says
    uncut: bool = True  # every stage of a pipeline builds what stands around the layers


def read(config: Config, build: Build) -> Geometry:
    """The geometry of a model whose layers attend alike."""
    config = config.over(build.means)
    pattern = build.sparse(config, depth(config))
    kinds = {sparse: layer(config, build, sparse=sparse) for sparse in set(pattern)}
    return assembled(
        config,
        tuple(kinds[sparse] for sparse in pattern),
        tied=build.ties and config.flag("tie_word_embeddings", default=False),
        norm_bias=build.norm_bias,
        head_bias=build.head_bias,
        uncut=build.uncut,
    )


def assembled(
    config: Config,
    layers: tuple[Layer, ...],
    *,
    tied: bool = False,
    norm_bias: bool = False,
    head_bias: bool = False,
    words: str = "model.embed_tokens",
    uncut: bool = False,
) -> Geometry:
    """Layers between a table of words, a last norm and a head."""
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    head = () if tied else (Table(name="lm_head", rows=vocabulary, width=hidden, bias=head_bias),)
    return Geometry(
        family="experts",
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(),
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings"),
        layers=layers,
        embedding=pieces.words(vocabulary, hidden, name=words),
        closing=(*pieces.norm("model.norm", hidden, bias=norm_bias), *head),
        tied=tied,
        uncut=uncut,
    )


def wrapped(reader: Reader, *path: str, name: str = "language_model") -> Reader:
    """The text model inside a model for pictures or sound, without its towers; the outer config ties the words."""

    def text(config: Config) -> Geometry:
        inner = config
        for step in path:
            inner = inner.sub(step)
        said = {
            "architectures": config.items("architectures", str),
            "tie_word_embeddings": config.flag("tie_word_embeddings", default=False),
        }
        found = reader(Config(said, inner.where).over(inner.fields))
        return replace(
            found,
            dtype=config.dtype(default=found.dtype),
            embedding=tuple(replace(piece, name=f"{name}.{piece.name}") for piece in found.embedding),
            closing=tuple(replace(piece, name=f"{name}.{piece.name}") for piece in found.closing),
            prefix=f"{name}.{found.prefix}",
        )

    return text


def depth(config: Config, name: str = "num_hidden_layers") -> int:
    """How many layers; no model has thousands, and each costs us an entry."""
    layers = config.whole(name)
    if layers > _DEEPEST:
        raise config.refusal(name, f"{layers} is more than {_DEEPEST}")
    return layers


def by_layer(config: Config, name: str, of: type[T], *, default: list[T] | None = None) -> list[T]:
    """A list with an entry for every layer; some have more, for layers that guess ahead."""
    listed, count = config.items(name, of, default=default), depth(config)
    if len(listed) < count:
        raise config.refusal(name, f"{len(listed)} entries for {count} layers")
    return listed[:count]


def mixer(config: Config, *, window: int | None = None, own_head_dim: bool = True) -> Attention:
    """One layer's attention."""
    heads, kv_heads = grouped(config)
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=width(config, heads, own=config.maybe("head_dim") if own_head_dim else None),
        window=window,
    )


def grouped(
    config: Config, heads: str = "num_attention_heads", kv_heads: str = "num_key_value_heads"
) -> tuple[int, int]:
    """How many heads there are, and how many that keep keys and values: as many, where the config has null."""
    asking = config.whole(heads)
    keeping = config.whole(kv_heads, default=asking)
    if keeping > asking:
        raise config.refusal(kv_heads, f"{keeping} KV heads cannot serve {asking} heads")
    return asking, keeping


def width(config: Config, heads: int, *, own: int | None) -> int:
    """Of a head: its own, or its share of the hidden state."""
    name = "hidden_size"
    hidden = config.whole(name)
    if own is None and hidden < heads:
        raise config.refusal(name, f"{hidden} is less than one for each of {heads} heads")
    return own or hidden // heads


def common_window(config: Config) -> int | None:
    """The window of layers that have none of their own: only where all layers slide (engine/arg_utils.py)."""
    kinds = config.items("layer_types", str, default=[])
    return config.maybe("sliding_window") if all(kind == "sliding_attention" for kind in kinds) else None


def drafting(
    geometry: Geometry,
    block: Layer,
    count: int,
    *,
    own_head: bool = True,
    last: str = "shared_head.norm",
    plain: bool = True,
) -> Geometry:
    """The model with layers that guess ahead, as they are built, before they share words or head with the model.

    Each joins a word and a state by a map that may be quantized where it is not `plain`, and ends with a norm; each has
    a head, or all share one.
    """
    if count > _DEEPEST:
        message = f"{count} layers that guess ahead are more than {_DEEPEST}"
        raise UnreadableError(message)
    hidden = geometry.hidden
    head = "shared_head.head" if own_head else "lm_head"
    table = (Table(name=head, rows=geometry.vocabulary, width=hidden),)
    joins = (
        *pieces.norm("enorm", hidden),
        *pieces.norm("hnorm", hidden),
        matrix("eh_proj", 2 * hidden, hidden, divide=Divide.NOT, plain=plain),
        *pieces.norm(last, hidden),
        *(table if own_head else ()),
    )
    extra = (*geometry.embedding, *(() if own_head else table))
    guess = replace(block, weights=(*block.weights, *joins))
    return replace(geometry, draft=(guess,) * count, draft_extra=extra if count else ())


def norms(hidden: int, *, bias: bool = False) -> tuple[Piece, ...]:
    """The norm before attention, and the one after."""
    names = ("input_layernorm", "post_attention_layernorm")
    return tuple(piece for name in names for piece in pieces.norm(name, hidden, bias=bias))


def layer(config: Config, build: Build, *, sparse: bool) -> Layer:
    """One layer, with or without experts."""
    hidden = config.whole("hidden_size")
    attends = mixer(config, window=(build.window or common_window)(config), own_head_dim=build.own_head_dim)
    feed = _routed(config, build) if sparse else _dense(config)
    bias = config.flag(build.bias, default=False) if isinstance(build.bias, str) else build.bias
    attention = pieces.attention(attends, hidden, bias=bias, output_bias=build.output_bias)
    around = (*build.head_norms(config, attends), *norms(hidden, bias=build.norm_bias))
    return Layer(mixers=(attends,), weights=(*attention, *feed, *around))


def _dense(config: Config) -> tuple[Piece, ...]:
    """The feed-forward of a layer that does not route; only Ernie's may have a bias."""
    bias = config.flag("use_bias", default=False)
    return pieces.gated(config.whole("hidden_size"), config.whole("intermediate_size"), bias=bias)


def _routed(config: Config, build: Build) -> tuple[Piece, ...]:
    router, *rest = pieces.routed(
        config.whole("hidden_size"),
        config.whole(build.inner),
        config.whole(*build.count, default=build.many),
        name=build.name,
        gate_dtype=build.gate_dtype,
        correction=build.correction,
    )
    if isinstance(router, Matrix):
        router = replace(router, plain=build.gate_plain)
    return (router, *rest, *build.shared(config))
