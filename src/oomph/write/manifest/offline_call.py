"""A command as Python: `LLM(…)`, for batches without a server.

Knows which arguments the class takes, and with what types. Flags that only a server has are left out, and said to be.
Where the class has other defaults than the server (larger steps), the server's are written: the forecast was made for
those. Does not know how prompts are given to it.
"""

import json
from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.server import SERVER
from oomph.engines.vllm.flags.takes import several
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.resolve import resolve
from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.ledger.settings import Value
from oomph.write.manifest.container import title
from oomph.write.manifest.words import environment, given, release_of, separate

_BATCH: Final = ("max_num_seqs", "max_num_batched_tokens")
# No arguments of the class: of the server, and those of the engine behind it (AsyncEngineArgs in engine/arg_utils.py).
SERVER_ONLY: Final = frozenset(flag.key for flag in SERVER) | {
    "data_parallel_start_rank",
    "disable_log_requests",
    "enable_log_requests",
    "engine_use_ray",
    "log_config_file",
}


def offline_call(command: Command) -> str:
    """A file of Python that makes the engine."""
    if command.flags.count("data_parallel_size") > 1:
        message = "LLM(…) runs one replica (entrypoints/llm.py): replicas are started by `vllm serve`, the form vllm"
        raise UsageError(message)
    left = [flag.name for flag, _ in given(command) if flag.key in SERVER_ONLY]
    lines = [f"# {title(command)}.", *(f"# Left out, for a server only: {name}" for name in left)]
    if variables := environment(command):
        lines += ["import os", "", "# Before vLLM is imported, which reads them."]
        lines += [f"os.environ[{_literal(name)}] = {_literal(value)}" for name, value in variables.items()]
        lines += ["", "from vllm import LLM"]
    else:
        lines += ["from vllm import LLM"]
    lines += ["", 'if __name__ == "__main__":  # workers may import this file again', "    llm = LLM("]
    lines += [f"        {name}={_literal(value)}," for name, value in _arguments(command)]
    lines += [
        f"        {name}={value},  # as a server has it; else {other}" for name, value, other in _as_served(command)
    ]
    return "\n".join((*lines, "    )", ""))


def _arguments(command: Command) -> Iterator[tuple[str, object]]:
    release = release_of(command)
    yield "model", command.model
    for flag, value in given(command):
        if flag.key not in SERVER_ONLY:
            yield flag.key, _typed(flag, value, release)


def _as_served(command: Command) -> Iterator[tuple[str, Value, Value]]:
    """Limits of a step that nobody gave, where the class has others than the server."""
    server, offline = (
        resolve(command.flags, device=command.devices[0], release=release_of(command), usage=usage)
        for usage in (Usage.SERVER, Usage.OFFLINE)
    )
    for name in _BATCH:
        if server[name].value != offline[name].value:
            yield name, server[name].value, offline[name].value


def _typed(flag: Flag, value: Value, release: Release) -> object:
    """JSON as what it holds, several words as a list, sizes as a list of numbers, fractions with their point."""
    if isinstance(value, tuple):
        return list(value)
    if flag.kind is Kind.JSON and isinstance(value, str):
        return _held(value)
    if flag.kind is Kind.FRACTION and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return list(separate(flag, value, release)) if isinstance(value, str) and several(flag, release) else value


def _held(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _literal(value: object) -> str:
    """As Python writes it, with double quotes, as people do."""
    match value:
        case str():
            return json.dumps(value)
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return f"{{{', '.join(f'{_literal(key)}: {_literal(each)}' for key, each in value.items())}}}"
        case _:
            return repr(value)
