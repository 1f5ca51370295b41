"""The variables of this process that change which cards, and how much of each, an engine started here would see.

Knows their names, and two files that act like variables: the list of libraries that are loaded before all others
(HAMi's among them), and the door of a running MPS daemon. Leaves out secrets. Does not know what any of them does.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from oomph.readers.bounded import read_small
from oomph.readers.environment import heard
from oomph.readers.printable import printable
from oomph.readers.processes import without_secrets

PRELOAD: Final = "/etc/ld.so.preload"
_HEARD: Final = ("CUDA_", "VLLM_", "PYTORCH_", "HIP_", "ROCR_")
_NAMES: Final = frozenset(
    {
        "ACTIVE_OOM_KILLER",  # HAMi
        "GPU_CORE_UTILIZATION_POLICY",  # HAMi
        "GPU_DEVICE_ORDINAL",  # ROCm
        "LD_PRELOAD",
        "NVIDIA_MIG_CONFIG_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
    }
)
_LONGEST: Final = 1024  # characters of a value
_MOST: Final = 256  # variables


def read_variables(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """Those that matter, by name, and the two files, by path."""
    names = [name for name in sorted(environment) if name in _NAMES or (name.startswith(_HEARD) and heard(name))]
    found = {printable(name): _value(environment[name]) for name in names[:_MOST]}
    return found | dict(_files(environment, root))


def _value(text: str) -> str:
    return printable(" ".join(without_secrets([text])), _LONGEST)


def _files(environment: Mapping[str, str], root: Path) -> Iterator[tuple[str, str]]:
    if preloaded := printable(read_small(root / PRELOAD.lstrip("/")) or "", _LONGEST):
        yield PRELOAD, preloaded
    folder = environment.get("CUDA_MPS_PIPE_DIRECTORY") or str(Path("/", "tmp", "nvidia-mps"))
    pipe = Path(folder, "control")
    try:
        if root.joinpath(*pipe.parts[1:]).exists():
            yield printable(str(pipe)), "there"
    except (OSError, ValueError):  # a folder that may not be looked into, or a name that is none
        return
