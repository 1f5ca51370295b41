"""Mixes of layers to plan a pool for: in the judge's words, and the same in ours.

Knows the families of models that vLLM plans for, and mixes that no model has. Does not know any answer.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeAlias, cast

from oomph.engines.history import Release, span
from oomph.engines.vllm.pool import facts, formats, layers
from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, State, StateCache
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.limits import Layout, Limits, StateMode
from oomph.engines.vllm.pool.pool import Worker
from oomph.ledger.dtype import Dtype

Spec: TypeAlias = dict[str, object]
Case: TypeAlias = Mapping[str, object]

DTYPES = {"bfloat16": Dtype.BF16, "float16": Dtype.F16, "float32": Dtype.F32}
LATENT = {"mla", "sliding_mla", "hidden"}
KEEPS = {
    "sliding": Keeps.WINDOW,
    "sliding_mla": Keeps.WINDOW,
    "chunked": Keeps.CHUNK,
    "cross": Keeps.ENCODER,
    "ring": Keeps.RING,
}

# What a release can be told, so that no question is asked which its classes do not know.
STRIDED = span("0.24.0", "0.29.0")
COMPRESSED = span("0.20.0")
HIDDEN = span("0.22.0")
LAYOUTS = span("0.29.0")
CONTENT = span("0.28.0")
STRIDES = span("0.31.0")
KERNEL_BLOCKS = span("0.32.0")
SINKS = span("0.14.0")
REFERENCES = span("0.25.0")
VALUES = span("0.14.0")
COUNTED_TWICE = span("0.20.0", "0.23.0")  # packed groups weigh less for the check than for the override

# --- the same layer in our words


def number(spec: Case, name: str, default: int = 0) -> int:
    value = spec.get(name)
    return default if value is None else cast("int", value)


def maybe(spec: Case, name: str) -> int | None:
    return cast("int | None", spec.get(name))


def cache_of(spec: Case, asked: Release) -> Cache:
    if spec["kind"] == "mamba":
        return _states(spec)
    kind, dim = str(spec["kind"]), number(spec, "head_dim")
    latent = kind in LATENT
    kept = KvFormat(str(spec.get("quantization") or spec["dtype"]))
    keeps = KEEPS.get(kind, Keeps.ALL)
    value_dim = 0 if latent else number(spec, "value_dim", dim)
    return AttentionCache(
        block_tokens=number(spec, "block_tokens"),
        kv_heads=number(spec, "kv_heads", 1),
        head_dim=dim,
        value_dim=value_dim,
        format=kept,
        state=number(spec, "state") or _state(spec, kept, asked, keeps=keeps, dims=(dim, value_dim)),
        keeps=keeps,
        latent=latent,
        window=maybe(spec, "window"),
        chunk=maybe(spec, "chunk"),
        padded=maybe(spec, "padded"),
        cache_dtype=cast("str | None", spec.get("cache_dtype")),
        tokens_per_state=number(spec, "tokens_per_state", 1),
        alignment=maybe(spec, "alignment"),
        strided=bool(spec.get("strided")),
        sharded=bool(spec.get("sharded", True)),
        stride=maybe(spec, "stride"),
        kernel_tokens=maybe(spec, "kernel_tokens"),
        sink=maybe(spec, "sink"),
        reference_window=maybe(spec, "reference_window"),
        hidden=kind == "hidden",
    )


def _state(spec: Case, kept: KvFormat, asked: Release, *, keeps: Keeps, dims: tuple[int, int]) -> int:
    if spec["kind"] not in LATENT:
        return layers.state_size(kept, asked, key_dim=dims[0], value_dim=dims[1], keeps=keeps)
    kept = KvFormat.FP8_DS_MLA if spec.get("cache_dtype") == "fp8_ds_mla" else kept
    if spec.get("model_version") is not None and kept is KvFormat.FP8_DS_MLA:
        return formats.COMPRESSED_LATENT
    return facts.latent_state.at(asked)(kept, key_dim=dims[0], value_dim=0)


def _states(spec: Case) -> StateCache:
    shapes, dtypes = cast("Sequence[Sequence[int]]", spec["shapes"]), cast("Sequence[str]", spec["dtypes"])
    return StateCache(
        block_tokens=number(spec, "block_tokens"),
        states=tuple(State(shape=tuple(s), dtype=DTYPES[d]) for s, d in zip(shapes, dtypes, strict=True)),
        padded=maybe(spec, "padded"),
        speculative_blocks=number(spec, "speculative_blocks"),
        checkpoint_blocks=number(spec, "checkpoint_blocks"),
    )


def limits_of(told: Case) -> Limits:
    return Limits(
        context_tokens=number(told, "max_model_len"),
        step_tokens=number(told, "max_num_batched_tokens"),
        batches_in_flight=number(told, "in_flight_batches"),
        encoder_tokens=maybe(told, "encoder_tokens"),
        decode_ranks=number(told, "decode_context_parallel", 1),
        prefill_ranks=number(told, "prefill_context_parallel", 1),
        lookahead_tokens=number(told, "lookahead_tokens"),
        state_mode=StateMode(str(told["mamba_mode"])),
        layout=Layout(str(told["layout"])),
        override_blocks=maybe(told, "override"),
        hybrid=not told["disable_hybrid"],
        auto_length=told.get("original_max_model_len") == -1,
    )


def workers_of(case: Case, asked: Release) -> list[Worker]:
    known: dict[str, Cache] = {}
    parts = cast("list[dict[str, Spec]]", case["layers"])
    return [
        Worker(
            layers={name: known.setdefault(repr(spec), cache_of(spec, asked)) for name, spec in part.items()},
            available=available,
        )
        for part, available in zip(parts, cast("list[int]", case["available"]), strict=True)
    ]


# --- families of models

BLOCKS = (16, 16, 16, 32, 64, 128)
HEADS = (1, 2, 4, 8)
DIMS = (64, 96, 128, 256, 512)
ELEMENTS = ("bfloat16", "bfloat16", "fp8")
WINDOWS = (128, 129, 130, 1024, 4096)


def attention(pick: Random, kind: str = "full", **fixed: object) -> Spec:
    spec: Spec = {
        "kind": kind,
        "block_tokens": pick.choice(BLOCKS),
        "kv_heads": pick.choice(HEADS),
        "head_dim": pick.choice(DIMS),
        "dtype": pick.choice(ELEMENTS),
    }
    return spec | fixed


def few(pick: Random) -> int:
    return pick.randint(1, 6)


def some(pick: Random) -> int:
    return pick.randint(1, 24)


def one_in(count: int, pick: Random) -> bool:
    return pick.randrange(count) == 0


def spread(*kinds: tuple[Spec, int]) -> list[Spec]:
    """Layers of several kinds, each evenly over the depth of the model."""
    placed = [
        ((index + 0.5) / count, order, spec) for order, (spec, count) in enumerate(kinds) for index in range(count)
    ]
    return [spec for _, _, spec in sorted(placed, key=lambda each: each[:2])]


def dense(pick: Random, asked: Release) -> list[Spec]:
    spec = attention(pick)
    if asked in VALUES and one_in(2, pick):
        spec["value_dim"] = pick.choice(DIMS)
    return [spec] * some(pick)


def windowed(pick: Random, asked: Release) -> list[Spec]:
    """Gemma, gpt-oss and their like; sometimes with wider heads, another format or another block in one kind."""
    del asked
    full = attention(pick)
    local = {**full, "kind": "sliding", "window": pick.choice(WINDOWS)}
    if one_in(4, pick):
        local |= {"head_dim": pick.choice(DIMS), "kv_heads": pick.choice(HEADS)}
    if one_in(6, pick):
        local |= {"block_tokens": pick.choice(BLOCKS), "dtype": pick.choice(ELEMENTS)}
    kinds = [(full, some(pick)), (local, some(pick))]
    if one_in(5, pick):
        kinds.append(({**local, "window": pick.choice(WINDOWS)}, few(pick)))
    if one_in(5, pick):
        kinds.append(({**full, "window": pick.choice(WINDOWS)}, few(pick)))
    return spread(*kinds)


def chunked(pick: Random, asked: Release) -> list[Spec]:
    del asked
    full = attention(pick)
    local = {**full, "kind": "chunked", "chunk": pick.choice((2048, 2049, 8192))}
    return spread((local, some(pick)), (full, some(pick)))


def latents(pick: Random, asked: Release) -> list[Spec]:
    """DeepSeek and its like, dense or sparse; sometimes with a draft that attends to a window."""
    block = pick.choice((16, 64, 128))
    main: Spec = {"kind": "mla", "block_tokens": block, "head_dim": pick.choice((576, 512, 320)), "dtype": "bfloat16"}
    main["cache_dtype"] = "auto"
    if one_in(2, pick):
        main |= {"cache_dtype": "fp8_ds_mla", "dtype": "fp8", **({"state": 656} if asked in CONTENT else {})}
    index: Spec = {"kind": "mla", "block_tokens": block, "head_dim": 132, "dtype": "fp8"}
    if asked in STRIDES and one_in(3, pick):
        main["stride"] = pick.choice((656, 1152, 4096))
    if asked in KERNEL_BLOCKS and one_in(3, pick):
        index["kernel_tokens"] = pick.choice((16, 64))
    count = some(pick)
    kinds = [(main, count)]
    if one_in(2, pick):
        kinds.append((index, pick.choice((count, 1, 3))))
    if one_in(4, pick):
        kinds.append((attention(pick, "sliding", window=2048), few(pick)))
    if one_in(6, pick):
        kinds.append((attention(pick), few(pick)))
    return spread(*kinds)


def recurrent(pick: Random, asked: Release) -> list[Spec]:
    """Attention beside states, mostly with pages made equal beforehand; with drafts, or with windows besides."""
    full = attention(pick)
    state: Spec = {
        "kind": "mamba",
        "block_tokens": pick.choice((16, 1024, 40960)),
        "shapes": [[pick.choice((3, 5)), 1024], [pick.randint(1, 16), 64, 128]],
        "dtypes": ["bfloat16", pick.choice(("float32", "bfloat16"))],
        "speculative_blocks": pick.choice((0, 0, 2)),
    }
    token = cache_of({**full, "block_tokens": 1}, asked).page
    size = cache_of(state, asked).page
    if not one_in(5, pick):
        full["block_tokens"] = 16 * -(-size // (16 * token))
        if number(full, "block_tokens") * token != size:
            state["padded"] = number(full, "block_tokens") * token
    kinds = [(full, some(pick)), (state, some(pick))]
    if one_in(5, pick):
        kinds.append(({**full, "kind": "sliding", "window": 1024}, few(pick)))
    if one_in(7, pick):
        kinds.append((attention(pick), few(pick)))
    return [state] * some(pick) if one_in(6, pick) else spread(*kinds)


def crossed(pick: Random, asked: Release) -> list[Spec]:
    del asked
    own, count = attention(pick), some(pick)
    return spread((own, count), ({**own, "kind": "cross"}, count))


def compressed(pick: Random, asked: Release) -> list[Spec]:
    """DeepSeek V4: two rates of compression, an indexer, and windows of latents."""
    alignment = pick.choice((576, 512))
    base: Spec = {"head_dim": 512, "dtype": "fp8", "cache_dtype": "fp8_ds_mla", "model_version": "deepseek_v4"}
    base |= {"alignment": alignment, **({"state": 584} if asked in CONTENT else {})}
    fine: Spec = {**base, "kind": "mla", "block_tokens": 256, "tokens_per_state": 4}
    index: Spec = {"kind": "mla", "block_tokens": 256, "head_dim": 132, "dtype": "fp8", "tokens_per_state": 4}
    local: Spec = {**base, "kind": "sliding_mla", "block_tokens": pick.choice((64, 128)), "window": 128}
    count = few(pick)
    kinds = [
        (fine, count),
        ({**index, "alignment": alignment}, few(pick) if one_in(4, pick) else count),
        ({**fine, "tokens_per_state": 128}, count + pick.randrange(2)),
        (local, 2 * count + pick.randrange(3)),
    ]
    if one_in(2, pick):
        kinds.append(({**local, "block_tokens": pick.choice((4, 8, 64)), "window": pick.choice((8, 128))}, few(pick)))
    return spread(*kinds)


def soup(pick: Random, asked: Release) -> list[Spec]:
    """Layers that no model mixes."""
    palette: list[Spec] = [
        attention(pick),
        attention(pick),
        attention(pick, "sliding", window=pick.choice(WINDOWS)),
        attention(pick, "chunked", chunk=2048),
        {"kind": "mla", "block_tokens": pick.choice(BLOCKS), "head_dim": 576, "dtype": "bfloat16"},
    ]
    if asked in SINKS:
        palette.append({**palette[0], "kind": "sink", "sink": 128})
    if asked in REFERENCES:
        palette.append({**palette[0], "kind": "rswa", "reference_window": 1024})
    if asked in STRIDED:
        palette[2]["strided"] = True
        palette[0]["strided"] = one_in(2, pick)
    if asked in LAYOUTS:
        palette.append(attention(pick, "ring"))
    if asked in HIDDEN and one_in(3, pick):
        palette.append({"kind": "hidden", "block_tokens": 16, "kv_heads": 2, "head_dim": 2048, "dtype": "bfloat16"})
    chosen = pick.choices(palette, k=pick.randint(1, 3))
    return spread(*((spec, 1 if spec["kind"] == "hidden" else few(pick)) for spec in chosen))


# --- whole questions


def case(seed: int, asked: Release) -> Case:
    """A question by its number; the same number asks every release for the same, as far as it understands."""
    pick = Random(seed)  # noqa: S311 - no secret
    families = [dense, windowed, windowed, chunked, latents, recurrent, recurrent, crossed, soup, compressed]
    family = pick.choice(families)
    found = windowed(pick, asked) if family is compressed and asked not in COMPRESSED else family(pick, asked)
    told, parts = settings_for(pick, asked), stages(pick, found)
    if asked in COUNTED_TWICE and len(parts) > 1:
        told.pop("override", None)
    rough = sum(_rough(spec, number(told, "max_model_len"), asked) for spec in found) // len(parts)
    factors = (0.01, 0.5, 0.9, 1, 1.1, 2, 4, 8, 30)
    available = [max(0, int(rough * pick.choice(factors)) + pick.randint(-2, 2)) for _ in parts]
    return {"layers": parts, "available": available, "settings": told}


def _rough(spec: Spec, length: int, asked: Release) -> int:
    pages = 3 if spec["kind"] == "mamba" else -(-length // number(spec, "block_tokens"))
    return cache_of(spec, asked).page * pages


def stages(pick: Random, found: Sequence[Spec]) -> list[dict[str, Spec]]:
    """All layers on one worker, on two that are equal, or cut into stages of a pipeline."""
    named = {f"layers.{index}": spec for index, spec in enumerate(found)}
    names, way = list(named), pick.randrange(6)
    if way == 0:
        return [named, named]
    if way > 1 or len(names) == 1:
        return [named]
    cut = pick.randint(1, len(names) - 1)
    return [{name: named[name] for name in part} for part in (names[:cut], names[cut:])]


def settings_for(pick: Random, asked: Release) -> Spec:
    told: Spec = {
        "max_model_len": pick.choice((1, 100, 2048, 4097, 32768, 131072)),
        "max_num_batched_tokens": pick.choice((1, 512, 2048, 8192)),
        "max_num_seqs": pick.choice((1, 16, 256)),
        "in_flight_batches": pick.choice((1, 2, 3)),
        "mamba_mode": pick.choice(("none", "align", "all")),
        "layout": "LBHNC",
        "disable_hybrid": one_in(5, pick),
    }
    if one_in(4, pick):
        told["override"] = pick.choice((1, 7, 100, 5000))
    if one_in(4, pick):
        told["original_max_model_len"] = -1
    if one_in(6, pick):
        told["decode_context_parallel"] = pick.choice((2, 4))
        told["prefill_context_parallel"] = pick.choice((1, 2))
    if one_in(6, pick):
        told["encoder_tokens"] = pick.choice((1, 1500, 1501))
    if asked in LAYOUTS:
        told["layout"] = pick.choice(list(Layout))
    if asked in STRIDES and one_in(6, pick):
        told["lookahead_tokens"] = 4
    return told
