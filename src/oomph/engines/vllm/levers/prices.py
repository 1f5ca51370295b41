"""What each lever costs, in words with numbers.

Knows what a user loses. Does not know whether it helps: the forecast says that.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from oomph.engines.vllm.flags.find import FLAGS
from oomph.engines.vllm.levers.lever import Trial
from oomph.engines.vllm.levers.startup import ranks
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.speculation import speculation
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Account
from oomph.ledger.settings import Flags, Origin, Setting
from oomph.units import Bytes

_FEW: Final = 4  # changed defaults that are named


def lower_share(trial: Trial) -> str:
    """Of the pool, since all else keeps its size."""
    less = Bytes(round(_moved(trial) * trial.before.device.total))
    return f"{less} less for the pool: {-_moved(trial):+.2f} of {trial.before.device.total}"


def higher_share(trial: Trial) -> str:
    """Of what is outside the budget."""
    more = Bytes(round(-_moved(trial) * trial.before.device.total))
    return f"{more} less for all that the budget leaves out: graphs that are not charged, the driver, other processes"


def _moved(trial: Trial) -> float:
    """How much lower the share is."""
    before, after = (end.settings.number("gpu_memory_utilization") for end in (trial.before, trial.after))
    return before - after


def fewer_sequences(trial: Trial) -> str:
    """Of throughput under load."""
    return f"at most {_many(trial.value, 'request')} at once instead of {_was(trial, 'max_num_seqs')}; the rest wait"


def fewer_step_tokens(trial: Trial) -> str:
    """Of speed at the beginning of long requests."""
    was = _was(trial, "max_num_batched_tokens")
    return f"prompts are read {trial.value:,} tokens at a time instead of {was}: long ones take longer to begin"


def shorter_requests(trial: Trial) -> str:
    """Of length."""
    return f"requests longer than {trial.value:,} tokens are refused; now the limit is {_was(trial, 'max_model_len')}"


def smaller_captures(trial: Trial) -> str:
    """Of speed in large batches."""
    largest = trial.value[-1] if isinstance(trial.value, tuple) else trial.value
    slower = f"steps of more than {_many(largest, 'token')} run without CUDA graphs, and slower"
    return f"{slower}; so far only those of more than {_most(trial)} do"


def no_graphs(trial: Trial) -> str:
    """Of speed everywhere."""
    steps = f"steps of up to {_most(trial)} tokens had one"
    return f"no CUDA graphs ({steps}): every step pays for each launch, most where batches are small"


def _most(trial: Trial) -> str:
    captured = trial.before.settings["cudagraph_capture_sizes"].value
    return f"{captured[-1]:,}" if isinstance(captured, tuple) and captured else "0"


def given_pool(trial: Trial) -> str:
    """Of care: the engine no longer looks."""
    kv = trial.after.kv
    blocks = "" if kv is None or kv.blocks is None else f" = {kv.blocks:,} blocks"
    tokens = "" if kv is None or kv.tokens is None else f" ({kv.tokens:,} tokens)"
    size = Bytes(trial.value) if isinstance(trial.value, int) else trial.value
    return f"the pool is fixed at {size}{blocks}{tokens}; vLLM no longer checks that the rest fits beside it"


def no_given_pool(trial: Trial) -> str:
    """Of what was wished for."""
    was, kv = trial.startup.flags.positive("kv_cache_memory_bytes"), trial.after.kv
    tokens = "" if kv is None or kv.tokens is None else f", {kv.tokens:,} tokens"
    left = "" if trial.after.pool is None else f", about {trial.after.pool.likely}{tokens}"
    return f"the pool is what the share leaves{left}; not the {Bytes(was or 0)} that are given"


def narrow_keys(trial: Trial) -> str:
    """Of precision."""
    del trial
    return "keys and values are kept in 8 bits instead of 16: a small loss of precision, most in long contexts"


def fewer_guesses(trial: Trial) -> str:
    """Of speed by speculation."""
    was = speculation(trial.startup.flags).tokens
    if trial.value is None:
        return f"nothing is guessed ahead: one token per step and request instead of up to {was + 1}"
    left = speculation(Flags({"speculative_config": trial.value})).tokens
    return (
        f"{_many(left, 'token')} guessed ahead instead of {was}: up to {left + 1} per step and request, not {was + 1}"
    )


def text_alone(trial: Trial) -> str:
    """Of a sense."""
    before, after = (end.ledger.of(Account.WEIGHTS) for end in (trial.before, trial.after))
    saved = 0 if before is None or after is None else before.likely - after.likely
    towers = f"; the towers, {Bytes(saved)}, are not loaded" if saved > 0 else ""
    return f"pictures, video and sound are refused{towers}"


def fewer_pictures(trial: Trial) -> str:
    """Of sight."""
    one = isinstance(trial.value, str) and '"image": 1' in trial.value
    return f"at most {'one picture and no video' if one else 'text alone'} in a request"


def narrow_weights(trial: Trial) -> str:
    """Of precision, and of time at the start."""
    return f"weights are rounded to 8 bits as they are loaded{_lighter(trial)}: a small loss of precision"


def with_host(trial: Trial) -> str:
    """Of speed: the bus is slow."""
    return f"{trial.value} GiB of the weights stay in host memory and cross the bus in every step: many times slower"


def _lighter(trial: Trial) -> str:
    before, after = (end.ledger.of(Account.WEIGHTS) for end in (trial.before, trial.after))
    return "" if before is None or after is None else f", {after.likely} instead of {before.likely}"


def more_ranks(trial: Trial) -> str:
    """Of money, and of time between devices."""
    wanted = ranks(trial.startup.but({"tensor_parallel_size": trial.value}).flags)
    had = len(trial.startup.devices)
    gpus = f"{wanted} of the {had} GPUs" if wanted <= had else f"{wanted} GPUs like this one instead of {had}"
    return f"{gpus}, which exchange results twice in every layer"


def newer_release(trial: Trial) -> str:
    """Of what is known to work."""
    moved = tuple(_defaults(trial.before, trial.after))
    others = f", {len(moved) - _FEW} more" if len(moved) > _FEW else ""
    with_them = f", with other defaults: {', '.join(moved[:_FEW])}{others}" if moved else ""
    gone = _gone(trial)
    without = f"; it has no {', '.join(gone)}" if gone else ""
    return f"another release than the one that was asked about, {trial.before.release}{with_them}{without}"


def _defaults(before: Forecast, after: Forecast) -> Iterator[str]:
    for name, old in before.settings.items():
        new = after.settings.get(name)
        if new is not None and _said(new) != _said(old) and old.origin is not Origin.GIVEN:
            yield f"{name} {_said(old)} → {_said(new)}"


def _said(setting: Setting) -> str:
    if isinstance(setting.value, tuple):
        return f"{len(setting.value)} up to {setting.value[-1]}" if setting.value else "none"
    return f"{setting.value:,}" if isinstance(setting.value, int) else str(setting.value)


def _gone(trial: Trial) -> Sequence[str]:
    """Flags of the user that the other release does not have."""
    asked = HISTORY.release(trial.after.release)
    spans = {flag.key: (flag.name, flag.span) for flag in FLAGS}
    return [spans[name][0] for name in trial.startup.flags if name in spans and asked not in spans[name][1]]


def _was(trial: Trial, name: str) -> str:
    return f"{trial.before.settings.whole(name):,}"


def _many(count: object, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}" if isinstance(count, int) else f"{count} {what}s"
