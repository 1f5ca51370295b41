"""Formats in which keys and values are kept, and the bytes of one kept state in each.

Knows widths and where scales go. Does not know how many states a page holds, nor which kernel reads a format.

A state is what one KV head keeps of one token; a latent state is what a whole layer keeps of it.
"""

from enum import StrEnum
from typing import Final


class KvFormat(StrEnum):
    """A format by the name `--kv-cache-dtype` gives it; `auto` is the model's own, so it is not one."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FP8 = "fp8"
    FP8_E4M3 = "fp8_e4m3"
    FP8_E5M2 = "fp8_e5m2"
    FP8_INC = "fp8_inc"
    FP8_DS_MLA = "fp8_ds_mla"
    NVFP4_DS_MLA = "nvfp4_ds_mla"
    INT8_PER_TOKEN_HEAD = "int8_per_token_head"  # noqa: S105 - a format, not a password
    FP8_PER_TOKEN_HEAD = "fp8_per_token_head"  # noqa: S105 - a format, not a password
    INT4_PER_TOKEN_HEAD = "int4_per_token_head"  # noqa: S105 - a format, not a password
    NVFP4 = "nvfp4"
    NVFP4_4OVER6 = "nvfp4_4over6"
    TURBOQUANT_K8V4 = "turboquant_k8v4"
    TURBOQUANT_4BIT_NC = "turboquant_4bit_nc"
    TURBOQUANT_K3V4_NC = "turboquant_k3v4_nc"
    TURBOQUANT_3BIT_NC = "turboquant_3bit_nc"
    ULTRAQUANT_4BIT = "ultraquant_4bit"

    @property
    def itemsize(self) -> int:
        """Bytes of the elements that the cache is declared in; packed formats are declared in bytes."""
        return _ITEMSIZE.get(self, 1)


_ITEMSIZE: Final = {KvFormat.FLOAT32: 4, KvFormat.FLOAT16: 2, KvFormat.BFLOAT16: 2}
_HALVED: Final = frozenset({KvFormat.NVFP4, KvFormat.NVFP4_4OVER6})
_SCALED: Final = frozenset(
    {KvFormat.INT8_PER_TOKEN_HEAD, KvFormat.FP8_PER_TOKEN_HEAD, KvFormat.INT4_PER_TOKEN_HEAD},
)
_TURBO_BITS: Final = {  # of one key element and of one value element
    KvFormat.TURBOQUANT_K8V4: (8, 4),
    KvFormat.TURBOQUANT_4BIT_NC: (4, 4),
    KvFormat.TURBOQUANT_K3V4_NC: (3, 4),
    KvFormat.TURBOQUANT_3BIT_NC: (3, 3),
}
_SCALES: Final = 2 * 4  # one four-byte scale for keys, one for values
_SPARSE_LATENT: Final = {KvFormat.FP8_DS_MLA: 656, KvFormat.NVFP4_DS_MLA: 352}
COMPRESSED_LATENT: Final = 448 + 128 + 8  # DeepSeek V4: values, rope part, scales


def twice_keys(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """Keys and values of equal width, whatever the model says of its values."""
    del value_dim
    return 2 * key_dim * kept.itemsize


def twice_keys_scaled(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """The same with scales, where there are any; no format is packed yet."""
    return twice_keys(kept, key_dim=key_dim, value_dim=value_dim) + _scales(kept)


def twice_keys_packed(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """The same with formats packed, but for turboquant."""
    del value_dim
    return turbo_unpacked(kept, key_dim=key_dim, value_dim=key_dim)


def keys_and_values(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """Keys and values, each of its own width."""
    return (key_dim + value_dim) * kept.itemsize


def keys_and_values_scaled(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """The same with scales, where there are any; no format is packed yet."""
    return keys_and_values(kept, key_dim=key_dim, value_dim=value_dim) + _scales(kept)


def nvfp4_packed(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """The same with nvfp4 packed and no other format."""
    if kept in _HALVED:
        return packed(kept, key_dim=key_dim, value_dim=value_dim)
    return keys_and_values_scaled(kept, key_dim=key_dim, value_dim=value_dim)


def turbo_unpacked(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """Every format packed but turboquant."""
    if kept in _TURBO_BITS:
        return keys_and_values(kept, key_dim=key_dim, value_dim=value_dim)
    return packed(kept, key_dim=key_dim, value_dim=value_dim)


def packed(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """Keys and values as the format packs them."""
    if kept in _HALVED:  # half a byte per element, one scale for every sixteen
        return key_dim // 2 + key_dim // 16 + value_dim // 2 + value_dim // 16
    if kept is KvFormat.INT4_PER_TOKEN_HEAD:
        return key_dim // 2 + value_dim // 2 + _SCALES
    if kept is KvFormat.ULTRAQUANT_4BIT:  # half a byte per element, one scale for every 32
        return 2 * (key_dim // 2 + key_dim // 32)
    if bits := _TURBO_BITS.get(kept):
        return _turbo(key_dim, *bits)
    return keys_and_values_scaled(kept, key_dim=key_dim, value_dim=value_dim)


def latent(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """One vector for keys and values together."""
    del value_dim
    return _SPARSE_LATENT.get(kept, key_dim * kept.itemsize)


def latent_scaled(kept: KvFormat, *, key_dim: int, value_dim: int) -> int:
    """The same with scales, where there are any."""
    del value_dim
    if kept is KvFormat.INT4_PER_TOKEN_HEAD:
        return key_dim // 2 + _SCALES
    return _SPARSE_LATENT.get(kept, key_dim * kept.itemsize + _scales(kept))


def _scales(kept: KvFormat) -> int:
    return _SCALES if kept in _SCALED else 0


def _turbo(dim: int, key_bits: int, value_bits: int) -> int:
    """Keys with a two-byte norm unless they are whole bytes, values with scale and zero; an even number of bytes."""
    keys = dim if key_bits == 8 else -(-dim * key_bits // 8) + 2  # noqa: PLR2004 - bits of a byte
    values = -(-dim * value_bits // 8) + 4
    return (keys + values + 1) // 2 * 2
