"""What every container of a command has in common: image, ports, folders, variables, GPUs, shared memory.

Knows vLLM's own images, which all hold `vllm` and curl. The engine's own words are given to `vllm serve` by name,
because what an image starts by itself has changed (docker/Dockerfile: api_server with --model up to 0.11.0). Does not
know any container engine.
"""

import math
from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Since
from oomph.engines.vllm.weights.world import gpus
from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.ledger.settings import Flags
from oomph.write.manifest.words import arguments, environment, joined, release_of

_USER: Final = "root"  # as whom the image runs
CACHE: Final = f"/{_USER}/.cache/huggingface"  # where it keeps what it downloads
TOKEN: Final = "HF_TOKEN"  # noqa: S105 - the name of a variable, which holds the secret
VISIBLE: Final = "CUDA_VISIBLE_DEVICES"
ENTRYPOINT: Final = ("vllm", "serve")
_PORT: Final = 8000  # entrypoints/openai/cli_args.py
_FOLDERS: Final = ("/", "./", "../", "~/")
_ALONE: Final = 2  # GiB of shared memory for one rank, and for several: docs/deployment/k8s.md of vLLM
_SEVERAL: Final = 8
_ITEMS: Final = 4  # GiB of the cache of processed items: config/multimodal.py
# Up to there an image for AMD was none of vLLM's own.
_amd: Final[Since[str | None]] = Since({"0.6.0": None, "0.15.0": "vllm/vllm-openai-rocm"})  # docs/…/gpu.rocm.inc.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container that runs the command."""

    image: str
    model: str  # as it is called inside
    flags: tuple[tuple[str, ...], ...]  # each with its words
    variables: dict[str, str]
    port: int
    secure: bool  # whether it speaks TLS
    folder: tuple[str, str] | None  # of a model that lies on a disk: outside and inside
    amd: bool
    gpus: int
    named: tuple[str, ...]  # the GPUs that were chosen, by number or name; empty where any will do
    shared: int  # GiB of /dev/shm

    @property
    def words(self) -> tuple[str, ...]:
        """For a list: behind `vllm serve`, a flag and its only word joined."""
        return (self.model, *(word for flag in self.flags for word in joined(flag)))


def contained(command: Command) -> Container:
    """The same command in a container, which listens on all its addresses, and sees only its GPUs, as 0, 1, …."""
    flags, variables = command.flags, environment(command)
    folder = _folder(command.model)
    amd = command.devices[0].name.startswith("AMD")
    named = [] if amd else variables.pop(VISIBLE, "").split(",")
    return Container(
        image=_image(command, amd=amd),
        model=folder[1] if folder else command.model,
        flags=arguments(command, without=frozenset({"host", "uds"})),
        variables=variables,
        port=flags.positive("port") or _PORT,
        secure=flags.get("ssl_certfile") is not None,
        folder=folder,
        amd=amd,
        gpus=gpus(flags),
        named=tuple(filter(None, named)),
        shared=_shared(flags),
    )


def title(command: Command) -> str:
    """What the file is, in one sentence."""
    names = [device.name for device in command.devices]
    counted = {name: names.count(name) for name in names}
    where = " + ".join(name if count == 1 else f"{count} × {name}" for name, count in counted.items())
    said = f"vLLM {release_of(command)} with {command.model}, planned for {where}"
    return "".join(sign if sign.isprintable() else "?" for sign in said)  # it becomes a comment of one line


def _image(command: Command, *, amd: bool) -> str:
    release = release_of(command)
    name = _amd.at(release) if amd else "vllm/vllm-openai"
    if name is None:
        message = (
            f"vLLM {release} has no image of its own for AMD, as releases from {[*_amd][-1][0]} on have: "
            "take one of those, or the form vllm"
        )
        raise UsageError(message)
    return f"{name}:v{release}"


def _folder(model: str) -> tuple[str, str] | None:
    """A path of the host, and where it lies in the container: the same place, where it is a whole path."""
    if not model.startswith(_FOLDERS):
        return None
    outside = model.rstrip("/") or "/"
    return outside, outside if outside.startswith("/") else f"/model/{outside.rpartition('/')[2].strip('.~') or 'it'}"


def _shared(flags: Flags) -> int:
    """Queues between ranks, and what else lies there: KV blocks kept on the host, and a shared cache of items."""
    kept, items = flags.get("kv_offloading_size"), flags.get("mm_processor_cache_gb", _ITEMS)
    size = _ALONE if gpus(flags) == 1 else _SEVERAL
    if isinstance(kept, int | float):
        size += math.ceil(kept)
    if flags.get("mm_processor_cache_type") == "shm" and isinstance(items, int | float):
        size += math.ceil(items)
    return size
