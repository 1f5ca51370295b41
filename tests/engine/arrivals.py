"""Workloads for the scheduler, by number: the same number asks every release for the same, as far as it understands.

Knows which mixes of groups a release can serve. A case is told to the judge in its words and to us in ours, so that
both read the same dict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias, cast

from engine.mixes import Spec, cache_of, number
from oomph.engines.history import Release, span
from oomph.engines.vllm.admission.admitted import Moment
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import Request, User
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Limits, StateMode
from oomph.engines.vllm.pool.pool import Pool, Share
from oomph.units import Bytes

Case: TypeAlias = Mapping[str, object]

STEPS = 1500  # more than most take, unless somebody is stuck
BLOCKS_DIFFER = span("0.12.0")
SEVERAL_KINDS = span("0.14.0")
ALIGNED = span("0.15.0")
ALL_STATES = span("0.15.0", "0.32.0")
RINGS = span("0.29.0")
WATERMARK = span("0.24.0")
WHOLE_PROMPT = span("0.19.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Groups that one model could have, and how prefixes are cached with them."""

    groups: list[Spec]
    caching: bool
    mode: str = "none"  # --mamba-cache-mode


def case(seed: int, asked: Release) -> dict[str, object]:
    """A question by its number."""
    pick = Random(seed)  # noqa: S311 - no secret
    context = pick.choice((64, 150, 400))
    mix = _mix(pick, asked, context)
    settings = {
        "steps": STEPS,
        "max_model_len": context,
        "max_num_batched_tokens": pick.choice((8, 33, 64, 500)),
        "max_num_seqs": pick.choice((1, 2, 5, 50)),
        "prefix_caching": mix.caching,
        "overlapped": pick.random() < 0.5,
        "long_prompt": pick.choice((0, 0, 20)),
        "watermark": pick.choice((0.0, 0.1)) if asked in WATERMARK else 0.0,
        "whole_prompt": pick.choice((True, True, False)) if asked in WHOLE_PROMPT else False,
        "mamba_mode": mix.mode,
    }
    least = sum(_most(spec, context) for spec in mix.groups) + 1
    blocks = least + pick.choice((1, 3, 10, 40, 200))
    return {"groups": mix.groups, "blocks": blocks, "users": _users(pick, context), "settings": settings}


def _most(spec: Spec, context: int) -> int:
    """Blocks that one request could hold of a group."""
    return 3 if spec["kind"] == "mamba" else -(-context // number(spec, "block_tokens")) + 2


def _users(pick: Random, context: int) -> list[dict[str, object]]:
    rate = pick.choice((0, 0, 1, 5))
    lengths = [pick.randint(1, context - 1) for _ in range(3)]
    prefix = pick.choice((0, 0, pick.randint(1, context)))
    return [
        {
            "start": 1 + pick.randint(0, rate * place),
            "pause": pick.choice((0, 0, 3)),
            "requests": [_request(pick, pick.choice(lengths), prefix, context) for _ in range(pick.choice((1, 1, 3)))],
        }
        for place in range(pick.randint(1, 12))
    ]


def _request(pick: Random, prompt: int, prefix: int, context: int) -> list[int]:
    answer = pick.randint(1, context - prompt)
    return [prompt, answer, min(prefix, prompt), pick.choice((0, 0, 1))]


def _mix(pick: Random, asked: Release, context: int) -> Mix:
    families = [_plain, _plain, _plain, _local, _several, _uneven, _three, _chunked, _recurrent, _recurrent, _ring]
    block, caching = pick.choice((4, 16, 16)), pick.random() < 0.7
    full: Spec = {"kind": "full", "block_tokens": block, "kv_heads": 1, "head_dim": 8, "dtype": "bfloat16"}
    mix = pick.choice(families)(pick, full, asked, caching=caching)
    for spec in mix.groups:
        if spec["kind"] == "mamba" and mix.mode == "none":
            spec["block_tokens"] = context
    return mix


def _window(pick: Random, full: Spec) -> Spec:
    return {**full, "kind": "sliding", "window": pick.choice((2, 9, 30, 64))}


def _plain(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    del pick, asked
    return Mix(groups=[full], caching=caching)


def _local(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    del asked
    return Mix(groups=[_window(pick, full)], caching=caching)


def _several(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    del asked
    window = _window(pick, full)
    return Mix(groups=[full, window, dict(window)], caching=caching)


def _uneven(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    """Blocks of two lengths; the first release that caches prefixes with them came later."""
    longer = {**_window(pick, full), "block_tokens": number(full, "block_tokens") * pick.choice((2, 4))}
    return Mix(groups=[full, longer], caching=caching and asked in BLOCKS_DIFFER)


def _three(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    other = {**full, "kind": "sliding", "window": pick.choice((5, 40))}
    shorter = {**other, "block_tokens": number(full, "block_tokens") // 2}
    return Mix(groups=[_window(pick, full), full, shorter], caching=caching and asked in SEVERAL_KINDS)


def _chunked(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    chunked: Spec = {**full, "kind": "chunked", "chunk": pick.choice((16, 48))}
    return Mix(groups=[full, chunked], caching=caching and asked in SEVERAL_KINDS)


def _ring(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    del pick
    return Mix(groups=[full, {**full, "kind": "ring"}] if asked in RINGS else [full], caching=caching)


def _recurrent(pick: Random, full: Spec, asked: Release, *, caching: bool) -> Mix:
    mode = pick.choice(("align", "align", "all" if asked in ALL_STATES else "align"))
    mode = mode if caching and asked in ALIGNED else "none"
    state: Spec = {
        "kind": "mamba",
        "block_tokens": full["block_tokens"],
        "shapes": [[3, 8]],
        "dtypes": ["bfloat16"],
        "speculative_blocks": 0,
        **({"mode": mode} if asked in ALIGNED else {}),
    }
    return Mix(groups=[full, state] if pick.random() < 0.8 else [state], caching=mode != "none", mode=mode)


def ours(told: Case, asked: Release, *, skip: bool = False) -> list[list[int]]:
    """What we say of every step, in the judge's words."""
    settings = cast("dict[str, object]", told["settings"])
    caches = [cache_of(spec, asked) for spec in cast("list[Spec]", told["groups"])]
    groups = tuple(Group(names=(f"layer.{place}",), cache=cache) for place, cache in enumerate(caches))
    share = Share(groups=groups, bytes_per_block=Bytes(1), tensors=(), need=Bytes(0), usable=Bytes(0))
    context, overlapped = number(settings, "max_model_len"), bool(settings["overlapped"])
    blocks = cast("int", told["blocks"])
    pool = Pool(blocks=blocks, context_tokens=context, tokens=None, concurrency=None, shares=(share,))
    limits = Limits(
        context_tokens=context,
        step_tokens=number(settings, "max_num_batched_tokens"),
        batches_in_flight=2 if overlapped else 1,
        state_mode=StateMode(str(settings["mamba_mode"])),
    )
    scheduling = Scheduling(
        sequences=number(settings, "max_num_seqs"),
        prefix_caching=bool(settings["prefix_caching"]),
        overlapped=overlapped,
        long_prompt_tokens=number(settings, "long_prompt"),
        watermark=cast("float", settings["watermark"]),
        whole_prompt=cast("bool", settings["whole_prompt"]),
    )
    seen: list[list[int]] = []

    def watch(moment: Moment) -> bool:
        seen.append([moment.step, moment.running, moment.waiting, moment.preempted, moment.free])
        return moment.step >= STEPS

    users = [
        User(
            start=number(user, "start"),
            pause=number(user, "pause"),
            requests=tuple(
                Request(prompt_tokens=prompt, answer_tokens=answer, prefix_tokens=prefix, family=family)
                for prompt, answer, prefix, family in cast("list[list[int]]", user["requests"])
            ),
        )
        for user in cast("list[dict[str, object]]", told["users"])
    ]
    simulate(pool, users, limits, scheduling, asked, skip=skip, watch=watch)
    return [step for step in seen if step[0] <= STEPS]
