"""Commands for hypothesis: every flag of a release, with values that are hard to write."""

import json
from collections.abc import Mapping

from hypothesis import strategies as st

from oomph.engines.history import Release, release
from oomph.engines.vllm.flags.find import known
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.takes import bare_or_said, choice, several
from oomph.ledger.catalogue import devices
from oomph.ledger.command import Command
from oomph.ledger.settings import Flags, Value

RELEASES = ("0.6.0", "0.8.5", "0.10.2", "0.11.1", "0.15.0", "0.19.1", "0.26.0", "0.28.0", "0.32.0")
ODD = "$HOME `x` 'a' \"b\" \\ {c} #d ~/e *f $(g) é 漢 %h !i & ; | < > ${j} $$"
# Kept apart from the others, secret, or not read as they are written.
UNTOLD = frozenset({"model", "config", "api_key", "hf_token", "host", "uds"})
SIZES = frozenset({"cudagraph_capture_sizes", "cuda_graph_sizes"})
LEVELS = frozenset({"optimization_level", "max_lora_rank", "lora_extra_vocab_size"})
WORDS = st.text("abcxyz09$'\"\\{}#~*`()!&;|<>%é漢=:,./@", min_size=1, max_size=12).filter(
    lambda text: text not in {"None", "&", ";", "|", "\\", "<", ">"} and text[0] not in "{[<>&|;"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9999) | st.sampled_from([0.5, ODD, "x", "--y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)

KINDS: dict[Kind, st.SearchStrategy[Value]] = {
    Kind.SWITCH: st.booleans(),
    Kind.WHOLE: st.integers(1, 1000),
    Kind.HUMAN: st.integers(1, 1 << 40),
    Kind.FRACTION: st.floats(1e-6, 1),
    Kind.JSON: st.dictionaries(WORDS, JSON, max_size=3).map(json.dumps),
}


def values(flag: Flag, asked: Release) -> st.SearchStrategy[Value]:
    """What one flag may be given: one of its words, sizes, or what its kind takes."""
    if words := choice(flag, asked):
        return st.sampled_from(words).map(lambda word: int(word) if word.isdecimal() else word)
    if flag.key in SIZES:
        return st.sets(st.integers(1, 512), min_size=1, max_size=5).map(lambda sizes: tuple(sorted(sizes)))
    if flag.key in LEVELS:
        return st.integers(0, 3)
    return KINDS.get(
        flag.kind, st.lists(WORDS, min_size=1, max_size=3).map(" ".join) if several(flag, asked) else WORDS
    )


@st.composite
def commands(draw: st.DrawFn, names: tuple[str, ...] = RELEASES) -> Command:
    """A command of some flags of one release."""
    asked = release(draw(st.sampled_from(names)))
    flags = {flag.key: flag for flag in known(asked).values() if flag.key not in UNTOLD}
    chosen = draw(st.lists(st.sampled_from(sorted(flags)), unique=True, max_size=8))
    given: dict[str, Value] = {key: draw(values(flags[key], asked)) for key in chosen}
    if draw(st.booleans()):
        given["VLLM_SOMETHING"] = draw(WORDS)
    return made(given, name=str(asked))


def made(flags: Mapping[str, Value], *, name: str = "0.19.1", model: str = "org/m", gpus: str = "a100-80gb") -> Command:
    """A command by hand."""
    return Command(release=name, model=model, flags=Flags(flags), devices=devices(gpus))


def told(command: Command) -> dict[str, Value]:
    """What the engine hears: a switch that is off and has no negation says nothing."""
    names = known(release(command.release))

    def silent(key: str, value: Value) -> bool:
        written = f"--no-{key.replace('_', '-')}"
        return value is None or (value is False and written not in names and not takes_a_word(key, command.release))

    return {key: value for key, value in command.flags.items() if not silent(key, value)}


def takes_a_word(key: str, name: str) -> bool:
    return bare_or_said(known(release(name))[f"--{key.replace('_', '-')}"], release(name))


def heard(flags: Mapping[str, Value]) -> dict[str, Value]:
    """The same, whatever way JSON is written."""
    return {key: _heard(value) for key, value in flags.items()}


def _heard(value: Value) -> Value:
    return json.dumps(json.loads(value)) if isinstance(value, str) and value[:1] == "{" else value
