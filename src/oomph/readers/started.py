"""A start of an engine → a command: its release first, then its flags by the table of that release.

Knows what a container's tag, folders and devices mean for the command. Does not know how a start is written.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from oomph.engines.history import Release
from oomph.engines.vllm.flags.spelling import model_by_flag
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.settings import Value
from oomph.readers.arguments import read_arguments
from oomph.readers.command import Command, flags_of
from oomph.readers.environment import kept, unseen, visible
from oomph.readers.start import Start
from oomph.readers.words import holes, shown


def read_started(start: Start, given: Release | None, notes: list[str]) -> Command:
    """Read the words for the engine; `given` is the release that the user names beside the command."""
    named, release = _release(start.image, given, notes)
    words = start.words
    if any(word.startswith("--config") for word in words):
        from oomph.readers.engine_config import with_config  # noqa: PLC0415 - few have such a file

        words = tuple(with_config(words, release, notes=notes))
    found = read_arguments(words, release, notes=notes)
    model = _model(start, found.alone, found.values.get("model"), release)
    notes += [f"what {name} holds is not known here, and was left out" for name in unseen(start.environment)]
    return Command(
        model=None if model is None else _outside(model, start.volumes, notes),
        flags=flags_of(found.values, start.environment),
        release=named,
        gpus=_seen(start),
        notes=tuple(notes),
    )


def _release(image: str | None, given: Release | None, notes: list[str]) -> tuple[Release | None, Release]:
    """What the tag names, and by which release flags are read; the user and the tag may not contradict each other."""
    if image is None:
        return None, given or HISTORY.read_through
    from oomph.readers.image import release_in, tag  # noqa: PLC0415 - most start without a container

    named = release_in(image)
    if named is None:
        asked = given or HISTORY.read_through
        why = "as --release says" if given else "the newest that is known; --release names another"
        notes.append(f"the tag {tag(image) or 'latest'} names no release: vLLM {asked} is taken, {why}")
        return None, asked
    if given is not None and named != given:
        message = f"the image {image} holds vLLM {named}, and --release says {given} (leave one of them out)"
        raise UsageError(message)
    return named, HISTORY.release(str(named))


def _model(start: Start, alone: Sequence[str], by_flag: Value, release: Release) -> str | None:
    """The model that is named: by a word of its own, or by --model."""
    if len(alone) > 1:
        message = f"two models are named: {shown(alone[0])!r} and {shown(alone[1])!r} (did a value lose its flag?)"
        raise UsageError(message)
    if start.served and not alone and "--model" in start.words and not model_by_flag.at(release):
        message = f"`vllm serve` of {release} takes no --model (write: vllm serve {by_flag})"
        raise UsageError(message)
    model = alone[0] if alone else by_flag
    if not isinstance(model, str):
        return None
    if holes(model) or (model.startswith("<") and model.endswith(">")):
        message = f"the model is {shown(model)}, which stands for a name that is not known here (write the name)"
        raise UsageError(message)
    return model


def _seen(start: Start) -> int | None:
    """How many GPUs the engine may see: those of the container, or fewer."""
    counts = [visible(kept(start.environment).get("CUDA_VISIBLE_DEVICES")), start.gpus]
    return min((count for count in counts if count is not None), default=None)


def _outside(model: str, volumes: Mapping[str, str], notes: list[str]) -> str:
    """The model's folder as it is called outside of the container."""
    for inside, outside in sorted(volumes.items(), key=lambda pair: -len(pair[0])):
        if inside and (model.rstrip("/") == inside or model.startswith(f"{inside}/")):
            where = shown(outside.rstrip("/") + model.removeprefix(inside))
            notes.append(f"{model} in the container is {where} outside of it")
            return _home(where)
    return _home(model)


def _home(path: str) -> str:
    try:
        return str(Path(path).expanduser()) if path.startswith("~/") else path
    except RuntimeError:  # nobody's home
        return path
