"""Settings that a start-up printed and nobody had given, beside what we derive.

Knows which settings are printed. Only of records whose arguments are quoted whole, so that what they do not say was
not said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from oomph.errors import OomphError
from oomph.ledger.settings import Flags
from scored.asking import asked
from scored.opened import Open
from scored.records import Record

_PRINTED: Final = ("gpu_memory_utilization", "max_model_len", "max_num_seqs", "max_num_batched_tokens")
_RANKS: Final = ("tensor_parallel_size", "pipeline_parallel_size")
_NEEDED: Final = {Open.RELEASE, Open.OLD, Open.GPU, Open.CONFIG}


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """One setting, as printed and as we derive it."""

    id: str
    name: str
    printed: float
    ours: float

    @property
    def same(self) -> bool:
        """Whether it is the same."""
        return self.printed == self.ours


def derived(records: Iterable[Record]) -> Iterator[Derived]:
    """Every printed setting that was not given, of published vLLM."""
    for record in records:
        if record.whole and record.stock and not _NEEDED & set(record.open):
            yield from _settings(record)


def _settings(record: Record) -> Iterator[Derived]:
    ranks = {name: record.command[name] for name in _RANKS if name in record.command}
    question = asked(record)
    if question is None:
        return
    try:
        settings = question.but(Flags({**record.said, **ranks})).start().settings
    except OomphError:
        return
    for name in _PRINTED:
        if name in record.command and name not in record.said:
            printed = Flags({name: record.command[name]})[name]
            if isinstance(printed, int | float):
                yield Derived(id=record.id, name=name, printed=printed, ours=settings.number(name))
