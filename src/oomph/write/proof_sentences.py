"""What a proof says, in words that the screen and the page share.

Knows sentences. Does not know where they stand.
"""

from collections.abc import Iterator

from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.proof import Proof
from oomph.diagnose.proof.scenes import HOLD, KILLERS, LOADS, RAMP, TRIAL
from oomph.diagnose.proof.spread import Spread
from oomph.ledger.proof import Scene


def outcome(proof: Proof) -> str:
    """The answer."""
    broken = [each for each in proof.stages if each.result is Result.BROKE]
    lost = next((each for each in broken if each.fatal), None)
    if lost is not None:
        return f"Broke at {_users(lost.stage.scene)}: {lost.why[0]}"
    if proof.result is Result.UNKNOWN:
        unknown = (each.why[0] for each in proof.counting if each.result is Result.UNKNOWN)
        return f"Cannot tell: {next(unknown, proof.doubt)}"
    if proof.search is not None:
        return _found(proof, broken)
    if broken:
        return f"Broke at {_users(broken[0].stage.scene)}: {broken[0].why[0]}"
    return f"Held {_load(proof)}{_survived(proof)}"


def _found(proof: Proof, broken: list[Judged]) -> str:
    held, broke = proof.held or 0, proof.broke
    others = [each for each in broken if each.stage.scene.name != TRIAL]
    if others:
        return f"Broke at {_users(others[0].stage.scene)}: {others[0].why[0]}"
    if broke is None:
        return f"Held {held} at once, and more were not tried{_survived(proof)}"
    why = next((each.why[0] for each in broken if each.stage.scene.users == broke), "it broke")
    return f"Holds {held} at once and breaks at {broke}: {why}" if held else f"Broke at {broke}: {why}"


def _users(scene: Scene) -> str:
    return f"{scene.name}, {scene.users} at once" if scene.killer else f"{scene.users} at once"


def _load(proof: Proof) -> str:
    """What was held, and nothing that was only asked for."""
    played = {each.stage.scene.name: each.stage.scene for each in proof.stages if each.stage.scene.name in LOADS}
    if (hold := played.get(HOLD)) is not None:
        return f"{hold.users} at once for {hold.seconds:g} s"
    if (ramp := played.get(RAMP)) is not None:
        return f"{ramp.users} who joined one by one over {ramp.ramp:g} s"
    return f"{proof.held} at once"


def _survived(proof: Proof) -> str:
    killers = [each for each in proof.stages if each.stage.scene.killer]
    count = "one killer" if len(killers) == 1 else f"{len(killers)} killers"
    return f", and survived {count}" if killers else ""


def subject(proof: Proof) -> str:
    """Who was driven, with what."""
    promise, ask = proof.promise, proof.ask
    release = "vLLM" if promise.release is None else f"vLLM {promise.release}"
    prefix = f", the first {ask.prefix:,} shared" if ask.prefix else ""
    load = f"prompts of {ask.prompt:,} tokens{prefix}, answers of {ask.answer:,}"
    return f"{promise.model} on {promise.url}, {release}; {load}"


def stage_words(each: Judged) -> str:
    """What became of one stage."""
    stage = each.stage
    if each.why:
        return "; ".join(each.why)
    count = len(stage.outcomes)
    words = [f"{count:,} answered in {stage.end - stage.begin:.1f} s"]
    if stage.counted.preemptions:
        words.append(f"preempted {stage.counted.preemptions:,}")
    if each.waiting_peak:
        words.append(f"up to {each.waiting_peak} waiting")
    return ", ".join(words)


def not_run_words(proof: Proof) -> str:
    """Why what was not played was not."""
    if proof.interrupted:
        return "interrupted before"
    if any(each.fatal for each in proof.stages):
        return "the server was lost before"
    if any(each.ours for each in proof.stages):
        return "this machine had no more connections to give"
    return "the first request was not answered as it was asked"


def scene_meaning(scene: Scene) -> str:
    """What is sent in it."""
    known = {
        "first request": "one request alone",
        "ramp": f"users join over {scene.ramp:g} s",
        "hold": f"all at once, again and again for {scene.seconds:g} s",
        "trial": "all at once, once",
    }
    return KILLERS[scene.name] if scene.killer else known.get(scene.name, "")


def seconds(value: float) -> str:
    """Short, with three figures that count."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def latencies(each: Judged) -> Iterator[tuple[str, Spread]]:
    """What was measured, by name."""
    fast = each.speed
    for name, spread in (
        ("first token", fast.first_token),
        ("next token", fast.between_tokens),
        ("whole answer", fast.whole),
    ):
        if spread is not None:
            yield name, spread


def pool_facts(proof: Proof) -> Iterator[tuple[str, str]]:
    """Of the pool and what is left of it."""
    promise, peak, left = proof.promise, proof.peak, proof.headroom
    if promise.blocks is not None and promise.block_tokens is not None:
        engines = f"{promise.engines} engines, each " if promise.engines > 1 else ""
        yield "size", f"{engines}{promise.blocks:,} blocks of {promise.block_tokens} tokens"
    if peak is not None and peak.kv_peak is not None:
        yield (
            "peak",
            f"{peak.kv_peak:.0%} full, as seen at {peak.stage.scene.name} with {peak.stage.scene.users} at once",
        )
    if proof.room is not None:
        yield "holds", f"{proof.room.users:,} at once by block arithmetic: {proof.room.because}"
    if left.kv is not None:
        more = "" if left.users is None else f": {left.tokens:,} tokens, room for {left.users:,} more"
        yield "left", f"{left.kv:.0%}{more}"
    if left.device is not None:
        free = left.device.total - left.device.used
        yield "device", f"{type(left.device.used)(free)} of {left.device.total} free at its fullest"
    if proof.accounts.counted.preemptions is not None:
        yield "preempted", f"{proof.accounts.counted.preemptions:,} times over the whole run"
    if waiting := max((each.waiting_peak or 0 for each in proof.stages), default=0):
        yield "waiting", f"up to {waiting:,}"


def throughput(each: Judged) -> Iterator[tuple[str, str]]:
    """Tokens a second."""
    fast = each.speed
    if fast.answer_rate is not None:
        yield "answers", f"{fast.answer_rate:,.0f} tokens/s"
    if fast.total_rate is not None:
        yield "with prompts", f"{fast.total_rate:,.0f} tokens/s"
    if fast.by_second is not None:
        spread = fast.by_second
        yield (
            "by second",
            f"least {spread.least:,.0f}, median {spread.p50:,.0f}, most {spread.most:,.0f} tokens of answers",
        )


def account_facts(proof: Proof) -> Iterator[tuple[str, str]]:
    """Every request, every token."""
    sums = proof.accounts
    failed = sum(sums.failed.values())
    yield "requests", f"{sums.sent:,} sent = {sums.finished:,} finished + {failed:,} failed"
    for kind, count in sums.failed.items():
        yield "failed", f"{count:,}: {kind}"
    ours = f"{sums.prompt_tokens:,} of prompts + {sums.answer_tokens:,} of answers"
    if sums.agrees is None:
        yield "tokens", f"{ours} in requests that finished"
    else:
        words = (
            "as the server counted"
            if sums.agrees
            else (f"the server counted {sums.counted.prompt_tokens:,} + {sums.counted.answer_tokens:,}")
        )
        yield "tokens", f"{ours}, {words}"


def plan_rows(proof: Proof) -> Iterator[tuple[str, str, str, str]]:
    """What was planned, what was seen, and whether they agree."""
    for row in proof.compared:
        yield row.what, row.planned, row.seen, {True: "agrees", False: "differs", None: "not compared"}[row.agrees]
