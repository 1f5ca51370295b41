"""What bounds a request and the pool besides memory: lengths, steps, ranks, layout and the user's overrides."""

from dataclasses import dataclass
from enum import StrEnum


class StateMode(StrEnum):
    """Which states of a sequence recurrent layers keep: `--mamba-cache-mode`."""

    NONE = "none"  # the last one
    ALIGN = "align"  # the last one and the one before the current block
    ALL = "all"  # one per block


class Layout(StrEnum):
    """The order, outermost first, of layers, blocks, heads, states and content in memory."""

    LBHNC = "LBHNC"
    LBNHC = "LBNHC"
    LHBNC = "LHBNC"
    BLHNC = "BLHNC"
    BLNHC = "BLNHC"
    BHLNC = "BHLNC"

    @property
    def block_outermost(self) -> bool:
        """All layers of a block lie together."""
        return self.startswith("B")

    @property
    def layer_outermost(self) -> bool:
        """All blocks of a layer lie together."""
        return self.startswith("L")

    @property
    def page_whole(self) -> bool:
        """The bytes of a page lie together."""
        return {*self[:2]} == {"B", "L"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The settings that planning reads, resolved."""

    context_tokens: int  # the longest a request may become
    step_tokens: int  # the most that one step computes
    block_tokens: int = 16  # asked for; recurrent layers by themselves are printed with it up to 0.10.2
    batches_in_flight: int = 1  # steps under way at once
    encoder_tokens: int | None = None  # the most an encoder is fed; None: as many as one step computes
    decode_ranks: int = 1  # decode context parallelism
    prefill_ranks: int = 1  # prefill context parallelism
    lookahead_tokens: int = 0  # that a draft of several modules reads again
    state_mode: StateMode = StateMode.NONE
    layout: Layout = Layout.LBNHC
    override_blocks: int | None = None
    hybrid: bool = True  # kinds of layers may have blocks of their own
    auto_length: bool = False  # shorten the longest request until it fits
