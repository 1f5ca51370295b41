"""What a measured start-up of vLLM says of another one: which figures hold there, and which do not.

Knows on what each figure depends. One holds only where everything that moves it is the same, as far as anybody said;
what was not said of the measured start-up must not be asked for in the other either. Never across models. Does not
know where measurements are kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from oomph.engines import history
from oomph.engines.history import Release
from oomph.engines.vllm.alike import CAPTURED, KEPT, LOADED, RUN, SHARED_OUT, STEP, plain
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.speaker import place
from oomph.engines.vllm.speculation import speculation
from oomph.errors import UnknownRelease, UsageError
from oomph.ledger.device import Device
from oomph.ledger.measurement import Measurement
from oomph.ledger.observation import Observation, Quantity
from oomph.ledger.observed import Observed, Seen
from oomph.ledger.settings import Flags, Settings, Value
from oomph.units import Bounds, largest

_NEAR: Final = 0.02  # of a device's memory: drivers and catalogues differ by as much for one kind of card
_WORDS: Final = frozenset({"dtype", "quantization", "kv_cache_dtype"})  # that the engine resolves and says
_FIGURES: Final = (
    *(Quantity.WEIGHTS, Quantity.NON_TORCH, Quantity.CONSUMED, Quantity.ACTIVATIONS, Quantity.GRAPH_ESTIMATE),
    *(Quantity.GRAPHS, Quantity.TOTAL, Quantity.FREE, Quantity.BUDGET, Quantity.POOL, Quantity.TRIED),
    *(Quantity.DEVICE_TOTAL, Quantity.DEVICE_FREE, Quantity.IN_USE, Quantity.FOREIGN, Quantity.ALLOCATED),
    *(Quantity.PRIVATE, Quantity.RESERVED, Quantity.OUTSIDE),
)


def measured(
    observation: Observation, *, model: str, flags: Flags, release: str | None, device: Device | None, learned: str = ""
) -> Measurement | None:
    """What is kept of a start-up; None where it measured nothing. No flag is kept that moves no bytes."""
    sizes = {
        quantity: {rank: said.value for rank, said in observation.readings(quantity) if isinstance(said.value, Bounds)}
        for quantity in _FIGURES
    }
    figures = {quantity: by_rank for quantity, by_rank in sizes.items() if by_rank}
    if not figures:
        return None
    steps = observation.reading(Quantity.STEP_TOKENS)
    return Measurement(
        engine=observation.engine,
        model=model,
        figures=figures,
        release=release,
        device=device,
        flags=Flags({name: value for name, value in flags.items() if name in KEPT}),
        settings={"max_num_batched_tokens": steps.value} if steps is not None and isinstance(steps.value, int) else {},
        config={name: value for name, value in observation.config.items() if name in _WORDS},
        learned=learned,
    )


def apply(
    measurements: Iterable[Measurement],
    *,
    model: str,
    flags: Flags,
    settings: Settings,
    device: Device,
    release: Release,
) -> Observed:
    """What the measurements say of this start-up; of several that speak of a figure, the newest of the same release."""
    asked = _Asked(flags=flags, settings=settings, device=device, release=release)
    known = [each for each in measurements if each.model == model and each.engine == HISTORY.engine and _sound(each)]
    known.sort(key=lambda each: (each.release == str(release), each.learned), reverse=True)

    def seen(quantity: Quantity, *, holds: Callable[[Measurement], bool]) -> Seen | None:
        return next((_seen(each, quantity) for each in known if quantity in each.figures and holds(each)), None)

    return Observed(
        weights=seen(Quantity.WEIGHTS, holds=asked.same_weights),
        non_torch=seen(Quantity.NON_TORCH, holds=asked.same_kernels),
        consumed=seen(Quantity.CONSUMED, holds=asked.same_kernels),
        outside=seen(Quantity.OUTSIDE, holds=asked.same_kernels),
        activations=seen(Quantity.ACTIVATIONS, holds=asked.same_step),
        graph_estimate=seen(Quantity.GRAPH_ESTIMATE, holds=asked.same_graphs),
        graphs=seen(Quantity.GRAPHS, holds=asked.same_graphs),
        allocated=seen(Quantity.ALLOCATED, holds=asked.same_graphs),
        pool=seen(Quantity.POOL, holds=asked.same_pool) or _moved(asked, known),
    )


def _moved(asked: "_Asked", known: Iterable[Measurement]) -> Seen | None:
    """A pool that differs by its share alone is larger or smaller by just that share of the device."""
    for each in known:
        theirs = each.flags.get("gpu_memory_utilization", each.settings.get("gpu_memory_utilization"))
        if Quantity.POOL in each.figures and isinstance(theirs, float) and asked.same_but_share(each):
            found = _seen(each, Quantity.POOL)
            more = round((asked.settings.number("gpu_memory_utilization") - theirs) * asked.device.total)
            ranks = {rank: size + more for rank, size in found.ranks.items()}
            return Seen(size=found.size + more, because=f"{found.because}, with a share of {theirs:g}", ranks=ranks)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The start-up that is asked about, and whether a measured one is the same, figure by figure."""

    flags: Flags
    settings: Settings
    device: Device
    release: Release

    def same_weights(self, each: Measurement) -> bool:
        """The same tensors on every rank; how many tokens are guessed does not change what guesses them."""
        ours, theirs = speculation(self.flags), speculation(each.flags)
        return (
            self._same(each, LOADED)
            and (ours.guesser, ours.model) == (theirs.guesser, theirs.model)
            and self._same_kind(each.device)
        )

    def same_kernels(self, each: Measurement) -> bool:
        """The same tensors, and the same libraries and kernels beside them."""
        return self.same_weights(each) and self._same(each, RUN) and self._same_series(each)

    def same_step(self, each: Measurement) -> bool:
        """All that, and steps of the same size. A step that nobody stated may follow from the longest request."""
        stated = "max_num_batched_tokens" in {**each.flags, **each.settings}
        return (
            self.same_kernels(each)
            and self._same(each, STEP)
            and speculation(self.flags) == speculation(each.flags)
            and self._equal(each, "max_num_seqs")
            and self._equal(each, "max_num_batched_tokens")
            and (stated or self._equal(each, "max_model_len"))
        )

    def same_graphs(self, each: Measurement) -> bool:
        """All that, and the same graphs captured."""
        return self.same_step(each) and self._same(each, CAPTURED)

    def same_pool(self, each: Measurement) -> bool:
        """Everything is the same, to the release and the device's memory."""
        return self.same_but_share(each) and self._equal(each, "gpu_memory_utilization")

    def same_but_share(self, each: Measurement) -> bool:
        """Everything but the share of the device."""
        return (
            self.same_graphs(each)
            and self._same(each, SHARED_OUT)
            and self._equal(each, "max_model_len")
            and each.release == str(self.release)
            and each.device is not None
            and each.device.total == self.device.total
        )

    def _same(self, each: Measurement, names: Iterable[str]) -> bool:
        return all(
            plain(name, self.flags.get(name)) in {plain(name, each.flags.get(name)), _resolved(name, each)}
            for name in names
        )

    def _equal(self, each: Measurement, name: str) -> bool:
        """A number: as this one resolves to, where the measured one's is known; else left to the engine by both."""
        theirs = each.flags.get(name, each.settings.get(name))
        if theirs is None:
            return name not in self.flags
        return name in self.settings and self.settings[name].value == theirs

    def _same_series(self, each: Measurement) -> bool:
        """Releases such as 0.19.0 and 0.19.1."""
        try:
            return each.release is not None and history.release(each.release).key[:2] == self.release.key[:2]
        except UnknownRelease:
            return False

    def _same_kind(self, theirs: Device | None) -> bool:
        """Cards of one capability, or, where that is not known, of one size."""
        if theirs is None:
            return False
        if theirs.capability is not None and self.device.capability is not None:
            return theirs.capability == self.device.capability
        return abs(theirs.total - self.device.total) <= _NEAR * self.device.total


def _sound(each: Measurement) -> bool:
    """Whether its flags can be read at all: a file may have been edited."""
    try:
        speculation(each.flags)
    except UsageError:
        return False
    return True


def _resolved(name: str, each: Measurement) -> Value:
    """What the engine made of a word: `torch.bfloat16` is what --dtype bfloat16 asks for."""
    word = each.config.get(name)
    return None if word is None or plain(name, each.flags.get(name)) is not None else word.removeprefix("torch.")


def _seen(each: Measurement, quantity: Quantity) -> Seen:
    tensor = each.flags.count("tensor_parallel_size")
    ranks: dict[int, Bounds] = {}
    for name, size in each.figures[quantity].items():
        if (rank := place(name, tensor=tensor)) is not None:
            ranks[rank] = largest(ranks.get(rank, size), size)
    sizes = each.figures[quantity].values()
    where = "" if each.device is None else f" on {each.device.name}"
    return Seen(
        size=_smallest(*sizes) if quantity is Quantity.POOL else largest(*sizes),
        because=f"learned from a start-up{where} with {each.engine} {each.release or 'of an unknown release'}",
        ranks=ranks if len(ranks) > 1 else {},
    )


def _smallest(*sizes: Bounds) -> Bounds:
    return Bounds(*(min(getattr(size, end) for size in sizes) for end in ("low", "high", "likely")))
