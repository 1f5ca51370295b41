"""The weights of one rank: the parameters that vLLM allocates, and ours from the config alone."""

from typing import Final

from exact.figures import Comparison, Figures
from exact.kv import Case
from exact.subjects import RELEASE
from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import OomphError

KIT: Final = Kit(bare=True)  # the judge's environment has no kernels besides vLLM's own


def compared(case: Case) -> Comparison:
    """Bytes of parameters on one rank."""
    setting = case.setting
    ranks = Ranks(tensor=setting.ranks, pipeline=setting.stages, stage=setting.stage)
    family = "not read"
    try:
        found = geometry(case.config)
        family = found.family
        ours: Figures = {"parameters": int(total(found, ranks, quantization=quantization(case.config), kit=KIT))}
    except OomphError:
        ours = {"start": "refused"}
    theirs: Figures = {"start": "refused"}
    if case.answer.refusal is None:
        theirs = {"parameters": case.built["parameters"]}
    return Comparison(
        about="weights",
        model=case.model,
        family=family,
        setting=f"TP {setting.ranks}"
        + (f", stage {setting.stage + 1} of {setting.stages}" if setting.stages > 1 else ""),
        release=RELEASE,
        theirs=theirs,
        ours=ours,
    )
