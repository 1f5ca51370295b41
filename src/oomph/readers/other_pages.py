"""What a page is that is no page of vLLM, as far as its beginning tells.

Knows how others begin. Quotes no more of a stranger's page than says what it is.
"""

from typing import Final

from oomph.readers.printable import printable

_PREFIXES: Final = {
    "\nsglang:": "metrics of SGLang, which are not read",
    "\nsglang_": "metrics of SGLang, which are not read",
    "\nllamacpp:": "metrics of llama.cpp, which are not read",
    "\ntgi_": "metrics of text-generation-inference, which are not read",
    "\nray_vllm": "metrics of Ray, not of the engine itself",
    "\nnv_trt_llm": "metrics of TensorRT-LLM, which are not read",
    "\nDCGM_": "metrics of DCGM, which tells of devices and not of engines",
}
_QUOTED: Final = 40


def looks_like(text: str) -> str:
    """In words."""
    begin = "\n" + text[:200_000]
    for prefix, words in _PREFIXES.items():
        if prefix in begin:
            return words
    if "\n# TYPE " in begin or "\n# HELP " in begin:
        return "metrics, but none of vLLM's (is --disable-log-stats given?)"
    if begin.lstrip()[:1] == "<":
        return "a web page, not metrics"
    if not begin.strip():
        return "an empty page"
    return f"something else: {printable(begin.strip()[:_QUOTED])!r}"
