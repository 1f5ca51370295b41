"""The name of a container image → the release of vLLM in it, where its tag tells.

Knows how tags of vLLM's images, and of those built on them, are written. Asks no registry.
"""

import re
from typing import Final

from oomph.engines.history import Release, release
from oomph.errors import UnknownRelease

_NUMBERS: Final = r"(?P<release>[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:\.post[0-9]+|rc[0-9]+)?)"
_TAG: Final = re.compile(rf"v?{_NUMBERS}(?:[-_+].*)?")
_INSIDE: Final = re.compile(rf"(?:^|[-_.])vllm[-_]?v?{_NUMBERS}(?![0-9])")


def tag(image: str) -> str | None:
    """What stands behind the colon: `vllm/vllm-openai:v0.19.1@sha256:…` has v0.19.1."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2] or None


def release_in(image: str) -> Release | None:
    """The release that the tag names; None for latest, nightly, digests and tags with other numbers."""
    written = tag(image) or ""
    found = (_TAG.fullmatch(written) if "vllm" in image else None) or _INSIDE.search(written)
    try:
        return release(found["release"]) if found else None
    except UnknownRelease:
        return None
