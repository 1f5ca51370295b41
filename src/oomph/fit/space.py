"""Every setting that can be proposed for a start-up: what the user typed stays, the rest is chosen.

Knows which values of which levers are worth considering, the best first. Does not know which of them fit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

from oomph.engines.vllm.flags.find import FLAGS
from oomph.engines.vllm.formulas.batches import Batch
from oomph.engines.vllm.levers import values
from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.engines.vllm.resolve import resolve
from oomph.errors import UsageError
from oomph.fit import states
from oomph.fit.choice import Choice, Lever, Option, Places, plain
from oomph.fit.grids import batch_for, batches, halves
from oomph.fit.workload import Workload
from oomph.ledger.forecast import Forecast
from oomph.ledger.settings import Flags, Origin, Value

SEQUENCES: Final = "max_num_seqs"
STEP: Final = "max_num_batched_tokens"
LENGTH: Final = "max_model_len"
CAPTURES: Final = "max_cudagraph_capture_size"
_LEAST_STEP: Final = 256  # tokens: fewer make long prompts crawl
_LENGTHS: Final = 1024  # tokens in which people think of lengths
_ROUND: Final = 256  # to which the length of a workload is rounded up
PARALLEL: Final = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
_SHARES: Final = tuple(percent / 100 for percent in range(5, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The choices of one start-up, the one that costs most to give up first."""

    startup: Startup
    workload: Workload
    choices: tuple[Choice, ...]
    shares: tuple[float, ...]  # ascending; the one nearest to `share` is taken
    share: float
    usual: Batch  # where nothing is chosen

    @property
    def size(self) -> int:
        """Settings in it."""
        return prod(len(choice.options) for choice in self.choices) * len(self.shares)

    def options(self, places: Places) -> Iterator[Option]:
        """Those at these places."""
        return (choice.options[places[choice.lever]] for choice in self.choices)

    def at(self, places: Places) -> Startup:
        """The start-up with these values; a step and a batch are never smaller than the workload needs them."""
        change: dict[str, Value] = {}
        model = self.startup.model
        for option in self.options(places):
            change |= option.change
            model = option.model or model
        return _without_idle_captures(self._able(replace(self.startup, model=model).but(change)))

    def users_of(self, start: Startup) -> int:
        """Of each replica."""
        return -(-self.workload.users // start.flags.count("data_parallel_size"))

    def _able(self, start: Startup) -> Startup:
        """The same with room for every user in a batch, and in a step for a token of each, and for a block of states.

        A batch is never larger than a step: the engine refuses that, or cuts it.
        """
        typed, now = self.startup.flags, (self._batch(start), self._step(start))
        batch, step = now
        least = batch if SEQUENCES in typed else batch_for(self.users_of(start))
        block = states.least_step(start)  # beside the tokens of those who are answered, or no prompt would ever begin
        step = step if STEP in typed else max(step, least, block and block + least)
        batch = batch if SEQUENCES in typed else min(max(batch, least), max(self.usual.sequences, least), step)
        change = {SEQUENCES: batch, STEP: step}
        return start.but({flag: value for (flag, value), was in zip(change.items(), now, strict=True) if value != was})

    def _batch(self, start: Startup) -> int:
        return start.flags.whole(SEQUENCES) or self.usual.sequences

    def _step(self, start: Startup) -> int:
        return start.flags.whole(STEP) or self.usual.tokens


def _without_idle_captures(start: Startup) -> Startup:
    """A bound on captured sizes above those that are captured anyway would add some: it is left out."""
    if (size := start.flags.whole(CAPTURES)) is None:
        return start
    free = Flags({name: value for name, value in start.flags.items() if name != CAPTURES})
    usual = resolve(free, device=start.devices[0], release=start.release, usage=start.usage)
    captured = usual["cudagraph_capture_sizes"].value
    idle = isinstance(captured, tuple) and bool(captured) and captured[-1] <= size
    return replace(start, flags=free) if idle else start


def space(startup: Startup, workload: Workload, *, models: Sequence[Option] = (), rounds: bool = True) -> Space:
    """All that can be chosen; `models`: other checkpoints, the dearest first; `rounds`: some bits may be lost."""
    now = startup.forecast()
    given = startup.flags
    _refuse_too_long(now, workload)
    choices = (
        _weights(startup, now, models, rounds=rounds),
        _senses(startup, now, workload),
        plain(Lever.KEYS, *_keys(startup, now, rounds=rounds), ordered=False),
        plain(
            Lever.GUESSES, *({"speculative_config": text} for text in values.fewer_guesses(startup, now)), ordered=True
        ),
        plain(Lever.GRAPHS, *_graphs(startup, now), ordered=True),
        _gpus(startup),
        _step(startup, now),
        _sequences(startup, now, workload),
        _length(startup, now, workload),
        _pool(startup),
    )
    share = now.settings.number("gpu_memory_utilization")
    free = "gpu_memory_utilization" not in given
    return Space(
        startup=startup,
        workload=workload,
        choices=choices,
        shares=tuple(sorted({*_SHARES, share})) if free else (share,),
        share=share,
        usual=Batch(sequences=now.settings.whole(SEQUENCES), tokens=now.settings.whole(STEP)),
    )


def _refuse_too_long(now: Forecast, workload: Workload) -> None:
    """A request that is longer than the engine takes is refused, however much memory there is."""
    most = now.settings.get(LENGTH)
    if most is None or not isinstance(most.value, int) or workload.longest <= most.value:
        return
    why = "--max-model-len says so" if most.origin is Origin.GIVEN else most.because
    message = (
        f"requests of {workload.longest:,} tokens (prompt and answer) cannot be served: the longest that is taken has "
        f"{most.value:,}, {why} (ask for shorter ones, or for another model or length)"
    )
    raise UsageError(message)


def _known(startup: Startup, flag: str) -> bool:
    """Whether the release has it, and the user left it open."""
    return flag not in startup.flags and any(each.key == flag and startup.release in each.span for each in FLAGS)


def _keys(startup: Startup, now: Forecast, *, rounds: bool) -> Iterator[Change]:
    """Eight bits; a format that is typed stays, also the model's own."""
    if rounds and "kv_cache_dtype" not in startup.flags:
        yield from ({"kv_cache_dtype": kept} for kept in values.narrow_keys(startup, now))


def _weights(startup: Startup, now: Forecast, models: Sequence[Option], *, rounds: bool) -> Choice:
    narrow = values.narrow_weights(startup, now) if rounds else ()
    rounded = tuple(Option(change={"quantization": text}) for text in narrow)
    return Choice(lever=Lever.WEIGHTS, options=(Option(), *models, *rounded), ordered=False)


def _senses(startup: Startup, now: Forecast, workload: Workload) -> Choice:
    """Text alone comes first where nobody sends anything else."""
    deaf: tuple[Option, ...] = ()
    if values.text_alone(startup, now) and _known(startup, "language_model_only"):
        deaf = (Option(change={"language_model_only": True}),)
    options = (*deaf, Option()) if workload.text_only else (Option(), *deaf)
    return Choice(lever=Lever.SENSES, options=options, ordered=False)


def _graphs(startup: Startup, now: Forecast) -> Iterator[Change]:
    """Fewer sizes, then none at all."""
    if "enforce_eager" in startup.flags or not (captured := now.settings["cudagraph_capture_sizes"].value):
        return
    if _known(startup, CAPTURES) and isinstance(captured, tuple) and "cudagraph_capture_sizes" not in startup.flags:
        yield from ({CAPTURES: size} for size in halves(captured[-1], least=1))
    yield {"enforce_eager": True}


def _gpus(startup: Startup) -> Choice:
    """Fewer first; of as many, those that divide the weights of each layer, then layers, then replicas."""
    if any(flag in startup.flags for flag in PARALLEL):
        return plain(Lever.GPUS, ordered=False)
    most = len(startup.devices)
    powers = [1 << power for power in range(most.bit_length())]
    ways = [way for way in product(powers, sorted({*powers, most}), powers) if 1 < prod(way) <= most]
    ways.sort(key=lambda way: (prod(way), way[1], way[2]))
    changes = ({flag: count for flag, count in zip(PARALLEL, way, strict=True) if count > 1} for way in ways)
    return plain(Lever.GPUS, *changes, ordered=False)


def _step(startup: Startup, now: Forecast) -> Choice:
    if STEP in startup.flags:
        return plain(Lever.STEP, ordered=True)
    changes = ({STEP: tokens} for tokens in halves(now.settings.whole(STEP), least=_LEAST_STEP))
    return plain(Lever.STEP, *changes, ordered=True)


def _sequences(startup: Startup, now: Forecast, workload: Workload) -> Choice:
    """As many as usual, or as the users are; then fewer, down to one: never fewer than the users of a replica."""
    if SEQUENCES in startup.flags:
        return plain(Lever.SEQUENCES, ordered=True)
    usual = now.settings.whole(SEQUENCES)
    wanted = batch_for(workload.users)
    first = () if usual >= wanted else (Option(change={SEQUENCES: wanted}),)
    fewer = tuple(Option(change={SEQUENCES: count}) for count in batches(max(usual, wanted)))
    options = (*first, *(() if first else (Option(),)), *fewer)
    return Choice(lever=Lever.SEQUENCES, options=options, ordered=True)


def _length(startup: Startup, now: Forecast, workload: Workload) -> Choice:
    """The model's whole context, then less, down to what the workload needs."""
    if LENGTH in startup.flags or startup.model is None:
        return plain(Lever.LENGTH, ordered=True)
    context = now.settings.whole(LENGTH)
    needed = min(context, -(-workload.longest // _ROUND) * _ROUND)
    rounded = range((context - 1) // _LENGTHS * _LENGTHS, needed, -_LENGTHS)
    shorter = (*rounded, needed) if needed < context else ()
    return plain(Lever.LENGTH, *({LENGTH: tokens} for tokens in shorter), ordered=True)


def _pool(startup: Startup) -> Choice:
    """Left to the engine; or as large as the workload needs it, which is then not checked by the engine."""
    given = (Option(given_pool=True),) if _known(startup, "kv_cache_memory_bytes") else ()
    if "num_gpu_blocks_override" in startup.flags:
        given = ()
    return Choice(lever=Lever.POOL, options=(Option(), *given), ordered=False)
