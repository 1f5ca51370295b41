"""The throw-away KV pool in which vLLM captures two graphs to estimate what all of them will take.

Knows how many blocks it has. It is allocated before any budget exists, so the share of memory that the user grants
does not change it.
"""


def no_pool(*, sequences: int, largest_capture: int) -> int | None:
    """There is no such pool."""
    del sequences, largest_capture
    return None


def one_block_per_token(*, sequences: int, largest_capture: int) -> int:
    """As many blocks as the largest graph has tokens, although a block can hold hundreds of tokens."""
    del sequences
    return largest_capture or 1


def one_block_per_sequence(*, sequences: int, largest_capture: int) -> int:
    """As many blocks as the largest graph can have sequences."""
    return min(sequences, largest_capture) or 1
