"""What the formulas give for one rank of a start-up: the quantities that measured factors are multiplied with.

Knows which formula and which fact bounds which part. Does not know any measured figure.
"""

from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.facts import Sampler
from oomph.engines.vllm.formulas import activations
from oomph.engines.vllm.kv import kind
from oomph.engines.vllm.pictures import pictures_of_a_request
from oomph.engines.vllm.unified import shares_memory
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.device import Device
from oomph.ledger.geometry import Delta, Geometry
from oomph.ledger.settings import Flags, Settings

_STATE_CHUNK: Final = 64  # tokens after which a prefill keeps a copy of a gated delta net's matrices
_LATENT_BLOCK: Final = 64
_MANY: Final = 999  # pictures of one request, where nobody limits them (config/multimodal.py)
_OFF: Final = {"0", "false", "False"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One rank of a start-up, resolved."""

    geometry: Geometry
    device: Device
    flags: Flags
    settings: Settings
    ranks: Ranks
    release: Release
    second_runner: bool

    @property
    def tokens(self) -> int:
        """Of one step."""
        return self.settings.whole("max_num_batched_tokens")

    @property
    def rows(self) -> int:
        """Sequences whose next token is chosen at once."""
        return min(self.settings.whole("max_num_seqs"), self.tokens)

    @property
    def captures(self) -> tuple[int, ...]:
        """Sizes that graphs are captured for."""
        sizes = self.settings["cudagraph_capture_sizes"].value
        return sizes if isinstance(sizes, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """Sizes in bytes, counts, and which of the ways a release has."""

    total: int  # of the device
    layer: int  # the most that one layer holds at once for a step of all tokens
    unfolded: int  # keys and values that a long prefill unfolds from their latent form
    words: int  # rows times vocabulary: numbers that choosing tokens goes through; 0 where a stage chooses none
    hidden: int  # of a whole step, kept while tokens are chosen
    tower: int  # the most that a tower holds for the largest pictures of a step
    seen: int  # what it has made of them
    captured: int  # sizes times layers that graphs are captured for
    buffers: int  # the runner's own
    states: int  # copies that a long prefill keeps, and profiling does not see
    sampler: Sampler
    second_runner: bool
    several: bool  # ranks that talk to each other
    connected: bool  # before the engine first looks
    recurrent: bool  # layers that keep states
    unified: bool  # host and device share their memory
    estimated: bool  # the engine estimates what its graphs will take
    charged: bool  # and takes that off the budget


def shapes(start: Start) -> Shapes:
    """What the formulas give."""
    geometry, ranks = start.geometry, start.ranks
    pictures = _pictures(start)
    return Shapes(
        total=int(start.device.total),
        layer=activations.forward(
            geometry, ranks, tokens=start.tokens, chunk_tokens=facts.moe_chunk_tokens.at(start.release)
        ),
        unfolded=activations.latent_workspace(
            geometry,
            ranks,
            context_tokens=start.settings.whole("max_model_len"),
            sequences=start.settings.whole("max_num_seqs"),
            block=_LATENT_BLOCK,
        ),
        words=start.rows * geometry.vocabulary if ranks.last else 0,
        hidden=start.tokens * geometry.hidden * 2 if ranks.last else 0,
        tower=activations.picture(geometry, ranks, pictures=pictures),
        seen=activations.seen(geometry, tokens=pictures * geometry.sight.tokens) if geometry.sight else 0,
        captured=len(start.captures) * len(geometry.layers) // ranks.pipeline,
        buffers=_buffers(start),
        states=_states(start),
        sampler=_sampler(start),
        second_runner=start.second_runner,
        several=ranks.tensor * ranks.pipeline > 1 or (ranks.data > 1 and ranks.experts_whole),
        connected=facts.snapshot_after_connecting.at(start.release),
        recurrent=kind(geometry).recurrent,
        unified=shares_memory(start.device.capability),
        estimated=_estimated(start),
        charged=_charged(start),
    )


def _pictures(start: Start) -> int:
    """How many of the largest pictures the profile run shows to the tower; none where the model shall not see."""
    sight = start.geometry.sight
    skipped = start.flags.get("language_model_only") is True or start.flags.get("skip_mm_profiling") is True
    if sight is None or skipped or not start.geometry.towers:
        return 0
    allowed = pictures_of_a_request(start.flags.get("limit_mm_per_prompt"))
    most = start.settings.whole("max_num_seqs") * (_MANY if allowed is None else allowed)
    return min(most, max(1, max(start.tokens, sight.tokens) // sight.tokens))


def _sampler(start: Start) -> Sampler:
    given = start.flags.get("VLLM_USE_FLASHINFER_SAMPLER")
    usual = facts.sampler.at(start.release)
    if given is None or usual is Sampler.SELECTS:
        return usual
    return Sampler.SORTS if str(given) in _OFF else Sampler.SELECTS


def _estimated(start: Start) -> bool:
    blocks = facts.graph_profile_blocks_v2 if start.second_runner else facts.graph_profile_blocks
    asked = blocks.at(start.release)(sequences=start.rows, largest_capture=max(start.captures, default=0))
    return asked is not None and bool(start.captures)


def _charged(start: Start) -> bool:
    given = start.flags.get("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS")
    default = facts.graphs_charged.at(start.release) is True
    return default if given is None else str(given) not in _OFF


def _buffers(start: Start) -> int:
    """What the runner keeps for its inputs: rows of a step, and in the second runner a count for every word."""
    inputs = start.tokens * (start.geometry.hidden * 2 + 64)
    counts = start.settings.whole("max_num_seqs") * start.geometry.vocabulary * 4 if start.second_runner else 0
    return inputs + counts


def _states(start: Start) -> int:
    """Copies of a gated delta net's matrices, one for every chunk of a long prefill."""
    deltas = [mixer for layer in start.geometry.layers[:4] for mixer in layer.mixers if isinstance(mixer, Delta)]
    if not deltas:
        return 0
    each = deltas[0].value_heads * deltas[0].key_dim * deltas[0].value_dim // start.ranks.tensor
    return -(-start.tokens // _STATE_CHUNK) * each * 4
