"""The KV pool planned by us and by vLLM's own planner, over mixes of layers, on every release that can be asked."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.mixes import CONTENT, Case, cache_of, case, limits_of, number, workers_of
from engine.pipe import RELEASES, Answer, Bench, Judge
from oomph.engines.history import Release, release, span
from oomph.engines.vllm.pool import dealing, facts
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.plan import minimal_pool
from oomph.engines.vllm.pool.pool import Pool
from oomph.engines.vllm.pool.refusal import Reason, Refusal, Unplannable
from oomph.engines.vllm.pool.requests import pages
from oomph.engines.vllm.pool.rules import Rules
from oomph.units import GIB

Facts: TypeAlias = Mapping[str, object]

MANY = 60  # questions of one batch
few = settings(max_examples=4, deadline=None)
seeds = st.lists(st.integers(0, 2**32), min_size=MANY, max_size=MANY)
ONE_BUFFER = span("0.24.0")  # a tensor may stand for a place in a buffer; its size is the buffer's
PRINTED_BY_WORKERS = span("0.11.0", "0.28.0")
OWN_BLOCKS_PRINTED = span("0.11.0", "0.11.1")

SAID = {
    "No available memory": Reason.NO_MEMORY,
    "To serve at least one request": Reason.TOO_SMALL,
    "Cannot auto-fit": Reason.NOTHING_FITS,
    "must have the same window size": Reason.WINDOWS_DIFFER,
    "failed to convert": Reason.KINDS_DIFFER,
    "Failed to promote": Reason.KINDS_DIFFER,
    "cannot express": Reason.LAYOUT,
    "DCP not support sliding window": Reason.SPLIT_WINDOW,
    "cannot be padded": Reason.PAGES_DIFFER,
    "Cannot unify": Reason.PAGES_DIFFER,
}
RAISED = {"NotImplementedError": Reason.PAGES_DIFFER, "ZeroDivisionError": Reason.NO_BLOCKS}


# --- what was answered, in words that can be compared


def theirs(answer: Answer, asked: Release) -> Facts:
    if (refused := answer.refusal) is not None:
        found = next((reason for said, reason in SAID.items() if said in refused.message), None)
        reason = found or RAISED.get(refused.type, Reason.UNSUPPORTED)
        return {"refused": reason, **(_figures(refused.message) if reason is Reason.TOO_SMALL else {})}
    value = cast("dict[str, object]", answer.value)
    if value["blocks"] == 0:  # planned until 0.11.0, but no pool can be made of it
        return {"refused": Reason.NO_BLOCKS}
    workers = cast("list[dict[str, list[object]]]", value["workers"])
    return {
        "blocks": value["blocks"],
        "workers": [
            (each["groups"], each["block_tokens"], _sizes(cast("list[int]", each["tensors"]), asked))
            for each in workers
        ],
        "length": value["max_model_len"],
        "tokens": _printed(cast("list[str]", value["printed"]), r"KV cache size: ([\d,]+) tokens"),
        "concurrency": _their_concurrency(value, asked),
    }


def _their_concurrency(value: Mapping[str, object], asked: Release) -> object:
    """As printed; 0.11.0 prints that of the first worker's own blocks, which are forgotten afterwards."""
    if asked in OWN_BLOCKS_PRINTED:
        return _printed(cast("list[str]", value["printed"]), r"Maximum concurrency.*: ([\d.]+)x")
    return value["first_worker_concurrency" if asked in PRINTED_BY_WORKERS else "concurrency"]


def _figures(message: str) -> Facts:
    found = re.search(r"\(([\d.]+) GiB KV cache is needed.*memory \((-?[\d.]+) GiB\)", message)
    length = re.search(r"estimated maximum model length is (\d+)", message)
    assert found is not None
    return {"need": float(found[1]), "available": float(found[2]), "fitting": int(length[1]) if length else 0}


def _printed(said: Sequence[str], pattern: str) -> float | None:
    found = next((found for line in said if (found := re.search(pattern, line))), None)
    return float(found[1].replace(",", "")) if found else None


def _sizes(tensors: Sequence[int], asked: Release) -> object:
    """Tensors by size; those that stand for places in one buffer are one."""
    one = asked in ONE_BUFFER and len(set(tensors)) == 1
    return {*tensors} if one else sorted(tensors)


def ours(asking: Case, asked: Release) -> Facts:
    return described(planned(asking, asked, facts.rules(asked)), asked)


def planned(asking: Case, asked: Release, rules: Rules) -> Pool | Refusal:
    try:
        return rules.planned(workers_of(asking, asked), limits_of(cast("Case", asking["settings"])), rules)
    except Unplannable as refused:
        return refused.refusal


def described(answer: Pool | Refusal, asked: Release) -> Facts:
    if isinstance(answer, Refusal):
        return {"refused": answer.reason, **(_our_figures(answer) if answer.reason is Reason.TOO_SMALL else {})}
    return {
        "blocks": answer.blocks,
        "workers": [
            (
                [list(group.names) for group in share.groups],
                [group.block_tokens for group in share.groups],
                _sizes(share.tensors, asked),
            )
            for share in answer.shares
        ],
        "length": answer.context_tokens,
        "tokens": answer.tokens,
        "concurrency": _concurrency(answer, asked),
    }


def _concurrency(pool: Pool, asked: Release) -> float | None:
    exact = pool.concurrency is None or asked not in OWN_BLOCKS_PRINTED
    return pool.concurrency if exact else float(f"{pool.concurrency:.2f}")


def _our_figures(refusal: Refusal) -> Facts:
    assert refusal.need is not None
    assert refusal.available is not None
    return {
        "need": round(refusal.need / GIB, 2),
        "available": round(refusal.available / GIB, 2),
        "fitting": refusal.fitting_tokens,
    }


def differing(judge: Judge, found: Sequence[Case], answer: Callable[[Case, Release], Facts] = ours) -> list[object]:
    """Every case in which our plan is not the engine's."""
    asked = release(judge.release)
    answers = judge.ask_many("plan", [dict(case) for case in found])
    pairs = [(case, answer(case, asked), theirs(each, asked)) for case, each in zip(found, answers, strict=True)]
    return [(case, mine, other) for case, mine, other in pairs if mine != other]


@pytest.mark.parametrize("name", RELEASES)
def test_a_plan_is_vllms_plan(name: str, judges: Bench) -> None:
    @few
    @given(seeds)
    def equal(found: list[int]) -> None:
        assert differing(judges[name], [case(seed, release(name)) for seed in found])[:1] == []

    equal()


# --- what one request takes of one layer


def our_need(asked: Release) -> Callable[[Case], object]:
    rules = facts.rules(asked)

    def need(asking: Case) -> object:
        cache, limits = cache_of(cast("Case", asking["spec"]), asked), limits_of(cast("Case", asking["settings"]))
        try:
            return pages(cache, limits, limits.context_tokens, rules) * cache.page
        except Unplannable as refused:
            return refused.refusal.reason

    return need


@pytest.mark.parametrize("name", RELEASES)
def test_what_one_request_takes_of_a_layer_is_vllms(name: str, judges: Bench) -> None:
    asked = release(name)
    ours_of = our_need(asked)

    @few
    @given(seeds)
    def equal(found: list[int]) -> None:
        mixes = [case(seed, asked) for seed in found]
        asking = [
            {"spec": spec, "settings": mix["settings"]}
            for mix in mixes
            for spec in [*cast("list[dict[str, Case]]", mix["layers"])[0].values()][:2]
        ]
        answers = judges[name].ask_many("need", asking)
        wrong = [
            (each, mine, answer)
            for each, answer in zip(asking, answers, strict=True)
            if (mine := ours_of(each)) != (Reason.SPLIT_WINDOW if answer.refusal else answer.value)
        ]
        assert wrong[:1] == []

    equal()


# --- pages of packed formats

SCALED = ("int8_per_token_head", "fp8_per_token_head")
TURBO = ("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc")
PACKED: Mapping[str, tuple[str, ...]] = {
    "0.20.2": (*SCALED, "nvfp4"),
    "0.22.1": (*SCALED, "nvfp4"),
    "0.24.0": (*SCALED, "nvfp4"),
    "0.26.0": (*SCALED, "nvfp4", "int4_per_token_head"),
    "0.27.1": (*SCALED, "nvfp4", "int4_per_token_head"),
    "0.28.0": (*SCALED, "int4_per_token_head", *TURBO),
    "0.29.0": (*SCALED, "int4_per_token_head", *TURBO),
    "0.31.0": (*SCALED, "int4_per_token_head", *TURBO),
    "0.32.0": (*SCALED, "int4_per_token_head", *TURBO),
}
BACKENDS = {
    "turboquant": "turboquant_attn:TurboQuantAttentionBackend",
    "per_token": "triton_attn:TritonAttentionBackend",
}


@pytest.mark.parametrize("name", PACKED)
def test_a_page_of_a_packed_format_is_vllms(name: str, judges: Bench) -> None:
    asked = release(name)
    kinds: list[Case] = [{"kind": "full"}, {"kind": "sliding", "window": 128}, {"kind": "chunked", "chunk": 64}]
    specs = [
        {**kind, "block_tokens": 16, "kv_heads": 3, "head_dim": dim, "dtype": kept, "quantization": kept}
        for kind in kinds
        for dim in (64, 80, 128, 256)
        for kept in PACKED[name]
    ]
    asking = [{"spec": spec | _backend(str(spec["dtype"]), asked)} for spec in specs]
    answers = judges[name].ask_many("page", asking)

    assert [cache_of(spec, asked).page for spec in specs] == [answer.value for answer in answers]


def _backend(kept: str, asked: Release) -> dict[str, object]:
    """From 0.28 on the worker's attention backend says how a format is packed."""
    if asked not in CONTENT:
        return {}
    return {"backend": BACKENDS["turboquant" if kept.startswith("turboquant") else "per_token"]}


# --- the throw-away pool


@pytest.mark.parametrize(("name", "runner"), [("0.17.1", "v1"), ("0.19.1", "v1"), ("0.26.0", "v1"), ("0.32.0", "v2")])
def test_the_throw_away_pool_is_vllms(name: str, runner: str, judges: Bench) -> None:
    asked = release(name)
    asking = []
    for seed in range(60):
        mix = case(seed, asked)
        told = {**cast("dict[str, object]", mix["settings"]), "max_num_seqs": 1 + seed * 7 % 300}
        layers = cast("list[Case]", mix["layers"])[0]
        asking.append({"layers": layers, "settings": told, "capture_size": seed * 13 % 520, "runner": runner})
    answers = judges[name].ask_many("minimal_pool", asking)
    wrong = [
        (each, mine, answer)
        for each, answer in zip(asking, answers, strict=True)
        if (mine := _our_throw_away(each, asked)) != _their_throw_away(answer, asked)
    ]

    assert wrong[:1] == []
    assert (sum(answer.value is not None for answer in answers) > 30) is (name != "0.17.1")


def _our_throw_away(asking: Case, asked: Release) -> object:
    told = cast("Case", asking["settings"])
    layers = {name: cache_of(spec, asked) for name, spec in cast("dict[str, Case]", asking["layers"]).items()}
    pool = minimal_pool(
        layers,
        limits_of(told),
        asked,
        sequences=number(told, "max_num_seqs"),
        largest_capture=number(asking, "capture_size"),
        second_runner=asking["runner"] == "v2",
    )
    if isinstance(pool, Refusal):
        return "refused"
    return pool and ([list(group.names) for group in pool.groups], pool.blocks, _sizes(pool.tensors, asked))


def _their_throw_away(answer: Answer, asked: Release) -> object:
    if answer.refusal:
        return "refused"
    value = cast("dict[str, list[object]] | None", answer.value)
    return value and (value["groups"], value["blocks"], _sizes(cast("list[int]", value["tensors"]), asked))


# --- the test of the tests: a planted mistake is caught by the same comparison


def _one_more_per_group(counts: Sequence[int], *, padding: float) -> int:
    return dealing_group_size(counts, padding=padding) + 1


def _one_fewer(limits: Limits) -> int:
    return limits.step_tokens - 1


dealing_group_size = dealing.group_size


def test_groups_that_are_one_layer_too_large_are_caught(judges: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [case(seed, release("0.32.0")) for seed in range(MANY)]
    before = differing(judges["0.32.0"], found)
    monkeypatch.setattr(dealing, "group_size", _one_more_per_group)

    assert before == []
    assert differing(judges["0.32.0"], found) != []


@pytest.mark.parametrize(
    ("name", "fact", "wrong"),
    [
        ("0.32.0", "reserved_blocks", 0),
        ("0.28.0", "reserved_blocks", 1),
        ("0.24.0", "in_flight", _one_fewer),
        ("0.26.0", "in_flight", facts.in_flight.at(release("0.25.0"))),
        ("0.19.1", "need", facts.need.at(release("0.18.1"))),
        ("0.18.1", "group_padding", 1.25),
        ("0.20.2", "capacity", facts.printed.at(release("0.20.0"))),
        ("0.11.0", "dealt", facts.dealt.at(release("0.10.2"))),
        ("0.12.0", "fitted", facts.fitted.at(release("0.11.0"))),
    ],
)
def test_a_rule_of_the_neighbouring_release_is_caught(name: str, fact: str, wrong: object, judges: Bench) -> None:
    asked = release(name)
    mistaken = replace(facts.rules(asked), **{fact: wrong})  # type: ignore[arg-type]  # any rule
    found = [case(seed, asked) for seed in range(4 * MANY)]

    def answer(asking: Case, _: Release) -> Facts:
        return described(planned(asking, asked, mistaken), asked)

    assert differing(judges[name], found, answer) != []
