"""Words, or Python's values, behind a flag → the value that the engine would take, or a refusal.

Knows kinds of flags, and what no engine or machine can have. Does not know what a value does.
"""

import json
import math
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.server import SERVER
from oomph.engines.vllm.flags.takes import bare_or_said, choice, human, length_can_be_auto
from oomph.engines.vllm.given import human as human_number
from oomph.errors import UsageError
from oomph.ledger.settings import Value
from oomph.readers.words import holes, shown

_TRUTH: Final = {"true": True, "false": False}
_SIZES: Final = frozenset({"--cudagraph-capture-sizes", "--cuda-graph-sizes"})
# Of no weight for memory, so that a value which only a running shell knows is none to stop at.
_WEIGHTLESS: Final = frozenset(flag.name for flag in SERVER) | {
    "--code-revision",
    "--download-dir",
    "--hf-token",
    "--master-addr",
    "--master-port",
    "--node-rank",
    "--otlp-traces-endpoint",
    "--revision",
    "--seed",
    "--served-model-name",
    "--tokenizer",
    "--tokenizer-revision",
}
_POSITIVE: Final = frozenset(
    {
        "--block-size",
        "--decode-context-parallel-size",
        "--data-parallel-size",
        "--max-cudagraph-capture-size",
        "--max-model-len",
        "--max-num-batched-tokens",
        "--max-num-seqs",
        "--num-gpu-blocks-override",
        "--pipeline-parallel-size",
        "--prefill-context-parallel-size",
        "--tensor-parallel-size",
    }
)


def read_value(flag: Flag, name: str, words: list[str], release: Release) -> Value:
    """The value of a flag that is written `name`; None is what the engine would take for not given."""
    if flag.kind is Kind.SWITCH:
        return _switch(flag, name, words)
    if not words:
        if bare_or_said(flag, release):
            return None
        message = f"{name} needs a value: {flag.kind}"
        raise UsageError(message)
    if unseen := [hole for word in words for hole in holes(word)]:
        if flag.name in _WEIGHTLESS:
            return None
        message = f"{name} {shown(words[0])}: what {unseen[0]} holds is not known here (write the value)"
        raise UsageError(message)
    if words[0] in {"", "None"}:
        return None
    try:
        return _checked(flag, name, _typed(flag, words, release), release)
    except ValueError:
        message = f"{name} {words[0]}: vLLM takes {_taken(flag, release)} here"
        raise UsageError(message) from None


def weightless(name: str) -> bool:
    """Whether nothing of this flag's value can move bytes on a GPU."""
    return name in _WEIGHTLESS


def read_plain(flag: Flag, value: object, release: Release) -> Value:
    """The value of an argument of the same name in Python."""
    if value is None or (isinstance(value, bool) and flag.kind is Kind.SWITCH):
        return value
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    if isinstance(value, list):
        return read_value(flag, flag.key, [str(each) for each in value], release) if value else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        message = f"{flag.key}={value!r:.40}: vLLM takes {_taken(flag, release)} here"
        raise UsageError(message)
    return read_value(flag, flag.key, [str(value)], release)


def _switch(flag: Flag, name: str, words: list[str]) -> bool:
    said = _TRUTH.get(words[0].lower()) if words else True
    if said is None:
        message = f"{name} {words[0]}: a switch says only true or false"
        raise UsageError(message)
    return said is not (name.startswith("--no-") and not flag.name.startswith("--no-"))


def _typed(flag: Flag, words: list[str], release: Release) -> Value:
    text = words[0]
    if flag.name in _SIZES:
        return tuple(sorted(max(int(word), 1) for word in words))
    match flag.kind:
        case Kind.WHOLE | Kind.HUMAN:
            return _whole(flag, text, release)
        case Kind.FRACTION:
            return float(text)
        case Kind.JSON:
            return _json(flag, text)
        case _:
            return int(text) if flag.name in _LEVELS and text.isdecimal() else " ".join(words)


def _whole(flag: Flag, text: str, release: Release) -> int:
    if flag.name == "--max-model-len" and text.strip().lower() == "auto" and length_can_be_auto.at(release):
        return -1
    return human_number(text) if human(flag, release) else int(text)


_LEVELS: Final = frozenset({"--optimization-level", "--max-lora-rank", "--lora-extra-vocab-size"})


def _json(flag: Flag, text: str) -> str:
    """JSON stays text; braces that hold none were hurt on the way."""
    if text.startswith(("{", "[")):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            lost = " (did a shell take its quotes away? put it in single quotes)" if '"' not in text else ""
            message = f"{flag.name} {text[:60]}: not JSON{lost}"
            raise UsageError(message) from None
    return text


def _checked(flag: Flag, name: str, value: Value, release: Release) -> Value:
    """Refuse what vLLM would refuse, and what no machine can have."""
    if isinstance(value, float) and not math.isfinite(value):
        message = f"{name} {value}: not a number that means anything"
        raise UsageError(message)
    as_long_as_fits = (flag.name, value) == ("--max-model-len", -1)
    if flag.name in _POSITIVE and isinstance(value, int) and value < 1 and not as_long_as_fits:
        message = f"{name} {value}: at least 1 is needed"
        raise UsageError(message)
    if flag.name == "--gpu-memory-utilization" and isinstance(value, float) and not 0 < value <= 1:
        message = f"{name} {value:g}: a share of the device's memory, above 0 and at most 1"
        raise UsageError(message)
    if flag.name == "--optimization-level" and value not in range(4):
        message = f"{name} {value}: a level of optimization is 0, 1, 2 or 3"
        raise UsageError(message)
    words = choice(flag, release)
    if words and str(value) not in words:
        from difflib import get_close_matches  # noqa: PLC0415 - only a slip needs it

        near = get_close_matches(str(value), words, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        message = f"{name} {value}: not one of what vLLM {release} takes: {', '.join(words)}{meant}"
        raise UsageError(message)
    return value


def _taken(flag: Flag, release: Release) -> str:
    return Kind.WHOLE if flag.kind is Kind.HUMAN and not human(flag, release) else flag.kind
