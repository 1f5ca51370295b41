"""What of a rule's advice may be given: nothing that is idle at the gate that failed.

Knows how a remedy is held against the table of idle levers, and adds the popular advice that fails there. Does not
know any rule, nor why a lever is idle.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.doubted import doubted
from oomph.diagnose.failed_gate import failed_gate
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.reconcile import Compared
from oomph.diagnose.remedies import upgraded
from oomph.diagnose.trials import Trials, at
from oomph.diagnose.vain import vain
from oomph.engines.vllm.levers.effects import idle
from oomph.engines.vllm.levers.names import SHARE, SHARE_DOWN, SHARE_UP, levers
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.observation import Quantity

_POPULAR: Final[Mapping[str, tuple[str, str]]] = {  # lever → the flag, and how the advice is written
    SHARE_DOWN: ("--gpu-memory-utilization", "--gpu-memory-utilization, lower"),
    SHARE_UP: ("--gpu-memory-utilization", "--gpu-memory-utilization, higher"),
    "max_model_len_down": ("--max-model-len", "--max-model-len, shorter"),
    "max_num_seqs_down": ("--max-num-seqs", "--max-num-seqs, fewer"),
    "enforce_eager": ("--enforce-eager", "--enforce-eager"),
}
_SEGMENTS: Final = "expandable_segments"
_POOL_WORD: Final = "pool takes all"

# What acts although the table says that it does not, because the cause is of its own kind.
_ACTS: Final[Mapping[str, frozenset[str]]] = {
    "profile_full_context_no_chunked_prefill": frozenset({"max_model_len_down"}),
    "profiling_assert_free_memory_increased": frozenset({"kv_cache_memory_bytes"}),
    "cudagraph_estimate_overcharge": frozenset({"env_estimate_cudagraphs_0", SHARE_UP}),
    "wsl2_alloc_fails_with_free_vram": frozenset({"alloc_conf"}),
    "mig_nvml_assert_masks_oom": frozenset({"alloc_conf"}),
    "expandable_segments_incompatible": frozenset({"alloc_conf"}),
    "allocator_fragmentation": frozenset({"alloc_conf"}),
}


def sifted(finding: Finding, case: Case, contradicted: tuple[Compared, ...] = ()) -> Finding:
    """The finding with advice that can help, no surer than the log lets it be, and with popular advice that cannot."""
    step = failed_gate(case) if case.engine in {HISTORY.engine, None} else None
    if step is None:
        return doubted(finding, contradicted, case)
    kept = tuple(remedy for remedy in finding.remedies if not vain_levers(remedy, finding, case, step))
    told = {**(finding.unhelpful or {}), **({} if contradicted else _forecast(case, step))}
    finding = doubted(replace(finding, remedies=kept, unhelpful=told), contradicted, case)
    return replace(finding, unhelpful={**told, **dict(_popular(finding, kept, case, step))})


def _forecast(case: Case, step: Step) -> dict[str, str]:
    """What the forecast has tried in vain, with its figures."""
    gate = None if case.forecast is None else at(case.forecast, step)
    if case.startup is None or case.forecast is None or gate is None or gate.verdict is Verdict.FITS:
        return {}
    trials = Trials(case.startup, case.forecast)
    return dict(vain(trials, gate, upgraded(trials, step)))


def vain_levers(remedy: Remedy, finding: Finding, case: Case, step: Step) -> tuple[str, ...]:
    """The levers of a remedy that are idle there; none of one that the forecast has passed."""
    if remedy.verdict is Verdict.FITS or (remedy.spare is not None and remedy.spare.low >= 0):
        return ()
    moved = levers(remedy.change, case.flags.get(SHARE, case.number(Quantity.SHARE)))
    names = set(moved) if remedy.lever is None else {remedy.lever}
    acting = _ACTS.get(finding.cause or "", frozenset())
    return tuple(name for name in sorted(names - acting) if idle(name, step, case.release) is not None)


def _popular(finding: Finding, kept: tuple[Remedy, ...], case: Case, step: Step) -> Iterator[tuple[str, str]]:
    """Advice that is given everywhere, fails here, and of which the rule says nothing itself."""
    said = " ".join(finding.unhelpful or {}).replace("_", "-")
    done = {name for remedy in kept for name in (remedy.lever, *levers(remedy.change))}
    acting = _ACTS.get(finding.cause or "", frozenset())
    for lever, (flag, words) in _POPULAR.items():
        why = idle(lever, step, case.release)
        if why is None or flag in said or lever in done | acting or (_POOL_WORD in why and _given(case)):
            continue
        both = lever.startswith(SHARE) and idle(SHARE_UP, step, None) == idle(SHARE_DOWN, step, None)
        yield (flag if both else words), why
        said += f" {flag}" if both else ""
    if _SEGMENTS.replace("_", "-") not in said and "alloc_conf" not in acting:
        yield from _segments(case)


def _given(case: Case) -> bool:
    """Whether the pool has a given size: then it does not take what others leave."""
    return case.size(Quantity.POOL_GIVEN) is not None or "kv_cache_memory_bytes" in case.flags


def _segments(case: Case) -> Iterator[tuple[str, str]]:
    """The hint that every failure of PyTorch's ends with, where its own figures speak against it."""
    unused, tried = case.size(Quantity.RESERVED), case.size(Quantity.TRIED)
    if unused is not None and tried is not None and unused.high < tried.low:
        yield (
            f"PYTORCH_CUDA_ALLOC_CONF={_SEGMENTS}:True",
            f"it joins what the allocator holds unused, here {unused.likely}, and {tried.likely} were asked for",
        )
