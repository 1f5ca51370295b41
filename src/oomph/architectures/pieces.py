"""The pieces that most layers are made of, by the names that vLLM gives them.

Knows attention, feed-forward and experts as everybody builds them. Does not read configs.
"""

from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention
from oomph.ledger.weights import Divide, Experts, Matrix, Part, Piece, Table, Vector, matrix


def norm(name: str, size: int, *, bias: bool = False) -> tuple[Vector, ...]:
    """A norm's weight, and its bias where it is a layer norm."""
    weight = Vector(name=f"{name}.weight", size=size)
    return (weight, Vector(name=f"{name}.bias", size=size)) if bias else (weight,)


def attention(
    mixer: Attention,
    hidden: int,
    *,
    name: str = "self_attn",
    bias: bool = False,
    output_bias: bool | None = None,
    gate: bool = False,
    fused: str = "qkv_proj",
    output: str = "o_proj",
) -> tuple[Matrix, Matrix]:
    """Queries, keys and values in one map, and the map back; with `gate`, each query brings a gate of its width."""
    queries = mixer.heads * mixer.head_dim * (2 if gate else 1)
    values = mixer.value_dim or mixer.head_dim
    into = Matrix(
        name=f"{name}.{fused}",
        inputs=hidden,
        parts=(
            Part(outputs=queries),
            Part(outputs=mixer.kv_heads * mixer.head_dim, heads=mixer.kv_heads),
            Part(outputs=mixer.kv_heads * values, heads=mixer.kv_heads),
        ),
        divide=Divide.OUTPUTS,
        bias=bias,
        sources=tuple(f"{name}.{part}_proj" for part in "qkv"),
    )
    back = matrix(
        f"{name}.{output}",
        mixer.heads * values,
        hidden,
        divide=Divide.INPUTS,
        bias=bias if output_bias is None else output_bias,
    )
    return into, back


def head_norms(mixer: Attention, *, name: str = "self_attn") -> tuple[Vector, ...]:
    """Norms of queries and keys, one width of a head each."""
    return (*norm(f"{name}.q_norm", mixer.head_dim), *norm(f"{name}.k_norm", mixer.head_dim))


def gated(
    hidden: int,
    inner: int,
    *,
    name: str = "mlp",
    bias: bool = False,
    parts: tuple[str, ...] = ("gate_proj", "up_proj"),
    down: str = "down_proj",
) -> tuple[Piece, ...]:
    """Gate and up in one map, and the map down."""
    return (
        matrix(
            f"{name}.gate_up_proj",
            hidden,
            inner,
            inner,
            divide=Divide.OUTPUTS,
            bias=bias,
            sources=tuple(f"{name}.{part}" for part in parts),
        ),
        matrix(f"{name}.{down}", inner, hidden, divide=Divide.INPUTS, bias=bias),
    )


def plain(hidden: int, inner: int, *, up: str, down: str, bias: bool) -> tuple[Piece, ...]:
    """A map up and a map down, without a gate."""
    return (
        matrix(up, hidden, inner, divide=Divide.OUTPUTS, bias=bias),
        matrix(down, inner, hidden, divide=Divide.INPUTS, bias=bias),
    )


def routed(
    hidden: int,
    inner: int,
    count: int,
    *,
    name: str = "mlp",
    gate: str = "gate",
    bias: bool = False,
    gate_dtype: Dtype | None = None,
    correction: str | None = None,
) -> tuple[Piece, ...]:
    """A router, kept whole on every rank, the numbers by which it corrects its scores, and its experts."""
    router = matrix(f"{name}.{gate}", hidden, count, divide=Divide.NOT, bias=bias, plain=True, dtype=gate_dtype)
    corrects = () if correction is None else (Vector(name=f"{name}.{correction}", size=count, dtype=Dtype.F32),)
    return router, *corrects, Experts(name=f"{name}.experts", count=count, hidden=hidden, inner=inner, bias=bias)


def three_windows(name: str, width: int, kernel: int) -> Matrix:
    """The short convolutions of queries, keys and values in one, kept in 32 bits and never quantized."""
    return Matrix(
        name=f"{name}.conv1d",
        inputs=kernel,
        parts=(Part(outputs=width),) * 3,
        divide=Divide.OUTPUTS,
        plain=True,
        sources=tuple(f"{name}.{part}_conv1d" for part in "qkv"),
        dtype=Dtype.F32,
    )


def words(vocabulary: int, hidden: int, *, name: str = "model.embed_tokens") -> tuple[Piece, ...]:
    """The table of words."""
    return (Table(name=name, rows=vocabulary, width=hidden),)


def closing(
    vocabulary: int, hidden: int, *, tied: bool, norm_bias: bool = False, norm_name: str = "model.norm"
) -> tuple[Piece, ...]:
    """The last norm, and the head where it is not the table of words again."""
    head = () if tied else (Table(name="lm_head", rows=vocabulary, width=hidden),)
    return (*norm(norm_name, hidden, bias=norm_bias), *head)
