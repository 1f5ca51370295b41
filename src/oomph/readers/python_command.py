"""`LLM(…)`, and the arguments that vLLM prints in its log → a command: they are flags by their names in Python.

Knows which of the engine's arguments are no flags. Does not know Python: that is `python_call`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.find import find, known
from oomph.engines.vllm.formulas.batches import Usage
from oomph.errors import UnknownFlag, UsageError
from oomph.ledger.settings import Value
from oomph.readers.command import Command, flags_of
from oomph.readers.environment import visible
from oomph.readers.python_call import Unknown, read_call
from oomph.readers.values import read_plain, weightless

_MODEL: Final = frozenset({"model", "model_tag"})
# Arguments of the engine that no flag gives, and what its parser puts beside them.
_NO_FLAGS: Final = frozenset(
    {"config", "dispatch_function", "enable_mm_processor_stats", "mamba_config", "model_weights", "subparser"}
)


def read_python(text: str, release: Release) -> Command:
    """Read the call, or what was printed."""
    notes: list[str] = []
    call = read_call(text, notes=notes)
    values = dict(_values(call.arguments, release, notes))
    model = values.get("model", values.get("model_tag"))
    return Command(
        model=model if isinstance(model, str) else None,
        flags=flags_of(values, call.environment),
        gpus=visible(call.environment.get("CUDA_VISIBLE_DEVICES")),
        usage=Usage.OFFLINE if call.offline else Usage.SERVER,
        notes=tuple(notes),
    )


def _values(arguments: Mapping[str, object], release: Release, notes: list[str]) -> Iterator[tuple[str, Value]]:
    for name, value in arguments.items():
        if name in _MODEL and isinstance(value, str):
            yield name, value
        elif name in _NO_FLAGS or name.startswith("_"):
            continue
        elif isinstance(value, Unknown):
            _refuse(name, value, notes)
        elif name not in _MODEL:
            yield name, _value(name, value, release)


def _value(name: str, value: object, release: Release) -> Value:
    written = f"--{name.replace('_', '-')}"
    flag = known(release).get(written)
    if flag is None or flag.name != written:
        if value is None or value is False:  # what is printed holds defaults of arguments too
            return None
        try:
            flag = find(written, release)
        except UnknownFlag as unknown:
            message = f"{name}: {unknown}"
            raise UnknownFlag(message) from None
        message = f"{name}: vLLM {release} has no such argument: did you mean {flag.key}?"
        raise UnknownFlag(message)
    return read_plain(flag, value, release)


def _refuse(name: str, value: Unknown, notes: list[str]) -> None:
    """A value that only running the code would give is left out only where it weighs nothing."""
    if weightless(f"--{name.replace('_', '-')}") or "Config(" in value.written:
        notes.append(f"{name}={value.written[:40]} was left out: its value is not in the text")
        return
    message = f"{name}={value.written[:60]}: what that holds is not known here (write the value)"
    raise UsageError(message)
