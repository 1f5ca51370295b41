"""What would hold the workload where no flag does: another checkpoint, more GPUs, a larger one, or shorter requests.

Knows the smallest change of each kind that is enough, found by the same judge. Does not know what anything costs in
money, nor whether somebody published such a checkpoint.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oomph.engines.vllm.levers.checkpoint import FOUR_BITS
from oomph.errors import OomphError
from oomph.fit.hardware import holding, least_memory
from oomph.fit.holds import holds
from oomph.fit.question import Question
from oomph.ledger.lengths import Lengths
from oomph.ledger.rest import Rest

_MOST: Final = 8  # GPUs that people have in one machine
_LEAST: Final = 256  # tokens: what is shorter is no workload


def instead(question: Question) -> Iterator[str]:
    """One sentence for each kind of change that is enough."""
    if question.risk is Rest.SURE and holds(replace(question, risk=Rest.LIKELY)):
        yield "--risk likely: some setting is likely to hold it, but none is sure to"
    yield from _smaller(question)
    yield from _more(question)
    if (found := next(holding(question), None)) is not None:
        yield f"other hardware: the least memory that holds it is {found.words}"
    yield from _shorter(question)
    yield (
        "the next step is memory of the host: --cpu-offload-gb keeps weights there, and every step reads them over the "
        "bus; --kv-offloading-size keeps beginnings of requests there, which spares work, not room"
    )


def _smaller(question: Question) -> Iterator[str]:
    """The same model in four bits."""
    model = question.startup.model
    if model is None or model.quantization is not None or model.weights is not None:
        return
    text = {"language_model_only": True} if model.geometry.towers else {}  # towers are never stored so
    narrow = replace(question.startup, model=replace(model, quantization=FOUR_BITS, checkpoint=None)).but(text)
    try:
        enough = holds(replace(question, startup=narrow))
    except OomphError:  # its shapes cannot be stored so
        return
    if enough:
        alone = ", for text alone" if text else ""
        yield f"a checkpoint in 4 bits (AWQ, groups of 128) holds it on the same hardware{alone}"


def _more(question: Question) -> Iterator[str]:
    """More of the same GPU."""
    one = question.startup.devices[0]
    count, least = len(question.startup.devices), least_memory(question)
    while (count := 2 * count) <= _MOST:
        if count * one.total >= least and holds(
            replace(question, startup=replace(question.startup, devices=(one,) * count))
        ):
            yield f"{count} × {one.name} hold it"
            return


def _shorter(question: Question) -> Iterator[str]:
    """Requests of a fraction of the length."""
    workload = question.workload
    for part in (2, 4, 8):
        less = replace(
            workload,
            prompt=_divided(workload.prompt, part),
            answer=_divided(workload.answer, part),
            prefix=workload.prefix // part,
        )
        if less.longest >= _LEAST and holds(replace(question, workload=less)):
            yield f"requests of {less.longest:,} tokens instead of {workload.longest:,} are held as they are"
            return


def _divided(lengths: Lengths, part: int) -> Lengths:
    return Lengths(p50=lengths.p50 // part, p99=-(-lengths.p99 // part), basis=f"{lengths.basis}, divided by {part}")
