"""What a log, or the name of a device, says of the platform.

Knows the words. Does not know what follows from them.
"""

import re
from typing import Final

from oomph.diagnose.case import Platform

# vLLM says "as WSL is detected"; the driver of WSL2 dxgkio_make_resident; a device its name.
_WORDS: Final = (
    (
        Platform.WSL2,
        r"\bWSL ?2?\b|microsoft-standard-WSL|dxgk?io?_|dxgkrnl|libdxcore|CUDA driver error: device not ready",
    ),
    (Platform.MIG, r"NVML_SUCCESS == r INTERNAL ASSERT|\bMIG\b(?! [Mm]ode: *Disabled)|MIG-[0-9a-fA-F]{8}"),
    (Platform.MIG, r"\b[1-7]g\.[0-9]{1,3}gb\b"),
    (Platform.UNIFIED, r"\bGB10\b|DGX Spark|\bJetson\b|\b(?:AGX )?(?:Thor|Orin)\b|[Tt]egra|Strix Halo|gfx1151"),
    (Platform.UNIFIED, r"Ryzen AI Max|\b[Uu]nified memory\b|\bUMA: 1\b|integrated GPU"),
    (
        Platform.ROCM,
        r"\bHIP (?:out of memory|error)|\bhipError|\bROCm[0-9]?\b|detected platform rocm|[+-]rocm|/opt/rocm",
    ),
    (Platform.ROCM, r"\bgfx[0-9]{3,4}[a-f]?\b|\bMI[1-4][0-9]{2}[AX]?\b|Radeon|\bamdgpu\b|\bRX [5-9][0-9]{3}\b"),
    (Platform.XPU, r"\bXPU out of memory|\bxpu:[0-9]|detected platform xpu|\bIntel(?:\(R\))? (?:Arc|XPU|Data Center)"),
    (Platform.XPU, r"UR_RESULT_ERROR|[Ll]evel[ _-][Zz]ero|torch\.xpu|\bxpu_worker\.py"),
    (Platform.CPU, r"detected platform cpu|\bcpu_(?:worker|model_runner)\.py|device_config=cpu"),
)
_PATTERNS: Final = tuple((platform, re.compile(words)) for platform, words in _WORDS)
# One of these is in each of them, and few lines hold any.
_HINTS: Final = (
    *("WSL", "dxg", "not ready", "libdxcore", "NVML", "MIG", "g.", "GB10", "Spark", "Jetson", "Thor", "Orin", "egra"),
    *("Strix", "gfx", "Ryzen", "nified", "UMA", "integrated", "HIP", "hip", "ROCm", "rocm", "MI1", "MI2", "MI3", "MI4"),
    *("Radeon", "amdgpu", "RX ", "XPU", "xpu", "Intel", "UR_RES", "evel", "cpu"),
)
_PLAINLY_NOT: Final = re.compile(
    r"Checking if|is not available|No \w+ (?:platform|device)|not supported on|only (?:works|supported)"
)
_LONGEST: Final = 2_000


def platforms_in(text: str) -> frozenset[Platform]:
    """What one line, or a name, says."""
    text = text[:_LONGEST]
    if not any(hint in text for hint in _HINTS) or _PLAINLY_NOT.search(text) is not None:
        return frozenset()
    return frozenset(platform for platform, pattern in _PATTERNS if pattern.search(text))
