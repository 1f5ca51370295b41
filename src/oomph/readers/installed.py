"""The release of vLLM that is installed beside us. Does not import it."""

from importlib.metadata import PackageNotFoundError, version

from oomph.engines.history import Release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownRelease


def installed() -> Release | None:
    """None where there is none, or one of which nothing is known."""
    try:
        return HISTORY.release(version("vllm"))
    except (PackageNotFoundError, UnknownRelease):
        return None
