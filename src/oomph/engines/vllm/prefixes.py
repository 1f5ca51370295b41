"""Whether beginnings that requests share are kept once: as asked, else as the release has it for such a model."""

from oomph.engines.history import Release
from oomph.engines.vllm import facts, kv
from oomph.ledger.geometry import Geometry
from oomph.ledger.settings import Flags


def shares_beginnings(geometry: Geometry, flags: Flags, release: Release) -> bool:
    """Whether prefixes are cached."""
    usual = facts.prefix_caching_of_hybrids if kv.kind(geometry).recurrent else facts.prefix_caching
    return flags.switch("enable_prefix_caching", default=usual.at(release))
