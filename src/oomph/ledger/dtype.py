"""Number formats and the bits that one element takes.

Knows widths. Does not know which kernel reads a format, nor what an engine calls it on its command line.
"""

from enum import StrEnum
from typing import Final

from oomph.units import Bytes


class Dtype(StrEnum):
    """A format, named as safetensors headers name it."""

    F64 = "F64"
    F32 = "F32"
    F16 = "F16"
    BF16 = "BF16"
    F8_E4M3 = "F8_E4M3"
    F8_E5M2 = "F8_E5M2"
    F8_E8M0 = "F8_E8M0"
    F4 = "F4"
    I64 = "I64"
    I32 = "I32"
    I16 = "I16"
    I8 = "I8"
    U8 = "U8"
    BOOL = "BOOL"

    @property
    def bits(self) -> int:
        """Of one element."""
        return _BITS[self]

    def size(self, count: int) -> Bytes:
        """Of so many elements, packed; the last byte is a whole one."""
        return Bytes(-(-count * self.bits // 8))


_BITS: Final = {
    Dtype.F64: 64,
    Dtype.F32: 32,
    Dtype.F16: 16,
    Dtype.BF16: 16,
    Dtype.F8_E4M3: 8,
    Dtype.F8_E5M2: 8,
    Dtype.F8_E8M0: 8,
    Dtype.F4: 4,
    Dtype.I64: 64,
    Dtype.I32: 32,
    Dtype.I16: 16,
    Dtype.I8: 8,
    Dtype.U8: 8,
    Dtype.BOOL: 8,
}
