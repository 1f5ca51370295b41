"""How long a request may be: what the model's config allows in a release, and what flags change of that.

Knows `_get_and_verify_max_len` of `config/model.py`, and `--hf-overrides` as far as they speak of positions. Does not
know a tokenizer's own limit.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm import facts
from oomph.errors import UsageError
from oomph.ledger.geometry import Geometry
from oomph.ledger.rotary import Rotary, Stretch
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags

# Whether a context that YaRN stretched is its factor times the original one, whatever the config names.
yarn_multiplies: Final = Since(
    {
        "0.6.0": True,  # config.py
        "0.30.0": False,  # config/model.py
    }
)

_ALLOWED: Final = "VLLM_ALLOW_LONG_MAX_MODEL_LEN"
_MULTIPLIED: Final = frozenset({Stretch.LINEAR, Stretch.DYNAMIC, Stretch.NTK})
_POSITIONS: Final = frozenset({"max_position_embeddings", "rope_parameters", "rope_scaling", "rope_theta"})
_TYPES: Final = {"su": Stretch.LONG, "deepseek_yarn": Stretch.YARN, **{str(each): each for each in Stretch}}
_MOST: Final = 1 << 31  # tokens; no context is as long


def context_tokens(geometry: Geometry, release: Release) -> int:
    """The longest request that the model allows."""
    tokens = geometry.context_tokens
    if geometry.architecture.startswith("Gemma3"):  # its config names the longer context
        return tokens
    for rotary in geometry.rotary:
        if rotary.stretch is Stretch.YARN and rotary.original and yarn_multiplies.at(release):
            return int(rotary.original * rotary.factor)
        if rotary.stretch in _MULTIPLIED:
            return int(tokens * rotary.factor)
    return tokens


def usual_tokens(geometry: Geometry, release: Release) -> int:
    """Tokens of the longest request where the user does not say."""
    usual = geometry.usual_tokens if facts.unstretched.at(release) else None
    return context_tokens(geometry, release) if usual is None else usual


def too_long(flags: Flags, geometry: Geometry, release: Release) -> str | None:
    """Why vLLM refuses the given length; None where it does not."""
    given, longest = flags.positive("max_model_len"), context_tokens(geometry, release)
    if given is None or given <= longest or str(flags.get(_ALLOWED, "0")).lower() in {"1", "true"}:
        return None
    return (
        f"--max-model-len {given} is more than the {longest:,} tokens of the model's config: vLLM {release} refuses to "
        f"start (--max-model-len {longest}, or {_ALLOWED}=1 at the risk of wrong answers)"
    )


def overridden(geometry: Geometry, flags: Flags) -> Geometry:
    """The model as `--hf-overrides` and `--rope-scaling` change its positions; the same one where they do not."""
    said = {name: text for name in ("hf_overrides", "rope_scaling") if isinstance(text := flags.get(name), str)}
    return _overridden(Same(geometry), said.get("hf_overrides"), said.get("rope_scaling")) if said else geometry


def only_positions(flags: Flags) -> bool:
    """Whether `--hf-overrides` speak of positions alone, so that all they change is known."""
    text = flags.get("hf_overrides")
    return text is None or (isinstance(text, str) and _flat(_object(text, "--hf-overrides")).keys() <= _POSITIONS)


@lru_cache(maxsize=64)
def _overridden(same: Same[Geometry], text: str | None, scaling: str | None) -> Geometry:
    geometry = same.it
    fields = _flat({} if text is None else _object(text, "--hf-overrides"))
    if scaling is not None:
        fields = {**fields, "rope_scaling": _object(scaling, "--rope-scaling")}
    tokens = fields.get("max_position_embeddings", geometry.context_tokens)
    if not isinstance(tokens, int) or isinstance(tokens, bool) or not 0 < tokens <= _MOST:
        message = f"--hf-overrides: max_position_embeddings is {tokens!r:.40}, not a number of tokens"
        raise UsageError(message)
    params = fields.get("rope_parameters", fields.get("rope_scaling"))
    ways = tuple(_changed(each, tokens, params if isinstance(params, Mapping) else None) for each in geometry.rotary)
    return replace(geometry, context_tokens=tokens, rotary=ways)


def _changed(rotary: Rotary, tokens: int, params: Mapping[str, object] | None) -> Rotary:
    if params is None:
        return replace(rotary, tokens=tokens)
    factor, original = params.get("factor", 1.0), params.get("original_max_position_embeddings", rotary.original)
    good = isinstance(factor, int | float) and not isinstance(factor, bool) and 0 < factor < _MOST
    return replace(
        rotary,
        tokens=tokens,
        stretch=_TYPES.get(str(params.get("rope_type", params.get("type"))), Stretch.NOT),
        factor=float(factor) if good and isinstance(factor, int | float) else 1.0,
        original=original if isinstance(original, int) and 0 < original <= _MOST else None,
    )


def _flat(fields: Mapping[str, object]) -> Mapping[str, object]:
    """What is said of the text model stands beside the rest."""
    inner = fields.get("text_config")
    rest = {name: value for name, value in fields.items() if name != "text_config"}
    return {**rest, **inner} if isinstance(inner, Mapping) else fields


def _object(text: str, flag: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        message = f"{flag} {text[:60]!r}: a JSON object was expected"
        raise UsageError(message)
    return found
