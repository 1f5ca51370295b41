"""What may still be promised where the log contradicts the forecast: that a remedy may help, and no more.

Knows which flags decide each figure that is compared. Does not compare anything itself (`reconcile`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.reconcile import Compared
from oomph.diagnose.typed import written
from oomph.ledger.gate import Verdict

_DECIDED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "weights": ("quantization", "dtype", "tensor_parallel_size"),
    "activations": ("max_num_batched_tokens", "max_num_seqs", "tensor_parallel_size"),
    "graphs": ("max_num_seqs", "max_cudagraph_capture_size", "compilation_config"),
    "kv pool": ("gpu_memory_utilization", "max_num_batched_tokens", "tensor_parallel_size"),
    "one request": ("max_model_len", "kv_cache_dtype", "speculative_config", "tensor_parallel_size"),
    "tensor of the throw-away pool": (
        *("max_num_seqs", "kv_cache_dtype", "block_size"),
        *("speculative_config", "tensor_parallel_size"),
    ),
}


def doubted(finding: Finding, contradicted: tuple[Compared, ...], case: Case) -> Finding:
    """No remedy is sure that was passed through a forecast which the log contradicts; and what is not known is said."""
    if not contradicted or case.startup is None:
        return finding
    remedies = tuple(_may(remedy) for remedy in finding.remedies)
    return replace(finding, remedies=remedies, missing=(*finding.missing, *_unknown(contradicted, case)))


def _may(remedy: Remedy) -> Remedy:
    sure = remedy.verdict is Verdict.FITS
    return replace(remedy, verdict=Verdict.UNSURE if sure else remedy.verdict, spare=None)


def _unknown(contradicted: tuple[Compared, ...], case: Case) -> Iterator[str]:
    """The command, and which of its flags are not known that decide what differs."""
    for each in contradicted:
        flags = [written(name) for name in _DECIDED_BY.get(each.what, ()) if name not in case.flags]
        named = f", above all {', '.join(flags)}" if flags else ""
        computed = "" if each.computed is None else f", and {each.computed.likely} are computed"
        yield f"the whole command it was started with{named}: {each.what}: {each.seen.likely} in the log{computed}"
