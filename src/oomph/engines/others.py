"""What engines other than vLLM said, gathered as vLLM's is.

Knows which of several figures of one thing counts: the first; and that a sentence is called by its engine too, so that
nobody takes it for vLLM's. Does not know any sentence.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from oomph.engines import llama_cpp, sglang
from oomph.ledger.observation import Figure, Line, Observation, Quantity, Reading

_TEXT: Final = 600  # characters of a line that are kept
_LINES: Final = 400
_RANKS: Final = 256


@dataclass(slots=True)
class Others:
    """Hears a log line by line."""

    _ranks: dict[str, dict[str, dict[Quantity, Reading]]] = field(default_factory=dict)  # by engine
    _lines: dict[str, list[Line]] = field(default_factory=dict)
    _model: str | None = None
    _device: str | None = None

    def hear(self, number: int, who: str, text: str) -> None:
        """Take a line without its prefixes."""
        self._model = self._model or sglang.model_in(text)
        self._device = self._device or llama_cpp.device_in(text)
        for engine, rank, name, figures in _heard(who, text):
            ranks, lines = self._ranks.setdefault(engine, {}), self._lines.setdefault(engine, [])
            if len(lines) < _LINES:
                kept = {str(quantity): figure for quantity, figure in figures.items()}
                lines.append(Line(name=f"{engine}: {name}", rank=rank, line=number, text=text[:_TEXT], figures=kept))
            if rank in ranks or len(ranks) < _RANKS:
                for quantity, figure in figures.items():
                    reading = Reading(value=figure, line=number, text=text[:_TEXT])
                    ranks.setdefault(rank, {}).setdefault(quantity, reading)

    def observation(self, of_torch: Observation, engine: str) -> Observation:
        """What that engine said, and PyTorch for it."""
        ranks = {rank: dict(said) for rank, said in of_torch.ranks.items()}
        for rank, said in self._ranks.get(engine, {}).items():
            ranks[rank] = {**said, **ranks.get(rank, {})}
        lines = (*self._lines.get(engine, ()), *of_torch.lines)
        return replace(
            of_torch,
            engine=engine,
            model=self._model or of_torch.model,
            device=self._device or of_torch.device,
            ranks=ranks,
            lines=lines,
        )


def _heard(who: str, text: str) -> Iterator[tuple[str, str, str, Mapping[Quantity, Figure]]]:
    for device, name, figures in llama_cpp.heard(text):
        yield llama_cpp.ENGINE, device, name, figures
    for name, figures in sglang.heard(text):
        yield sglang.ENGINE, who, name, figures
