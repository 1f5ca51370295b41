"""Devices that share their memory with the host, by the number by which vLLM tells them (utils/mem_utils.py)."""

from typing import Final

from oomph.ledger.device import Capability

_ORIN: Final = Capability(major=8, minor=7)
_THOR: Final = Capability(major=11, minor=0)
GB10: Final = Capability(major=12, minor=1)
_SHARING: Final = frozenset({_ORIN, _THOR, GB10})


def shares_memory(capability: Capability | None) -> bool:
    """Whether it is one of them; one whose number nobody knows is not."""
    return capability in _SHARING
