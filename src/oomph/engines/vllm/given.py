"""How vLLM reads numbers on its command line.

Knows `utils/argparse_utils.py`. Apart from the log's notations, because a plan reads flags and no log.
"""

import re
from typing import Final

_HUMAN: Final = re.compile(r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,9})?)(?P<suffix>[kKmMgGtT])")
_PLAIN: Final = re.compile(r"-?[0-9]{1,18}")
_POWER: Final = {"k": 1, "m": 2, "g": 3, "t": 4}


def human(text: str) -> int:
    """A number as `--max-model-len` takes it: `32k` is 32,000 and `32K` is 32,768 (utils/argparse_utils.py)."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return int(text)
    written = _HUMAN.fullmatch(text)
    if written is None:
        message = f"not a number as vLLM writes it: {text[:40]!r} (write 32768, 32k for 32,000 or 32K for 32,768)"
        raise ValueError(message)
    power: int = _POWER[written["suffix"].lower()]
    if written["suffix"].islower():
        return int(float(written["number"]) * 1000**power)  # through a float, as vLLM does: 1.001m is 1,000,999
    if "." in written["number"]:
        message = f"vLLM refuses a fraction before a binary unit: {text!r} (write 1536M instead of 1.5G)"
        raise ValueError(message)
    return int(written["number"]) << 10 * power
