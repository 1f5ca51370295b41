"""The same comparison as scripts/exactness, on every family and a seeded sample; and its page, which must be clean."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from engine.pipe import Bench
from exact import explained, kv, subjects, sweep, weights
from exact.engine import Memory
from exact.kv import Case
from exact.subjects import ALONE, PLANNERS, RELEASE, Setting
from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.total import total
from oomph.errors import OomphError

PAGE: Final = subjects.ROOT / "docs" / "reference" / "exactness.md"
SEED: Final = 20_261_115
SAMPLE: Final = 25
SLOW: Final = ("DeepSeek-V4", "Kimi-K3", "Ultra-550B")  # to build; not in the sample, but in the families


@pytest.fixture(scope="module")
def names() -> list[str]:
    found = subjects.names()
    if not found:
        if os.environ.get("CI"):
            pytest.fail("the shared configs are not beside this checkout")
        pytest.skip("the shared configs are not beside this checkout")
    return [name for name in found if not name.endswith(".partial")]


@pytest.fixture(scope="module")
def memory(judges: Bench, tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Nothing is remembered from another run: a test asks the engine itself."""
    return Memory(judges[RELEASE], tmp_path_factory.mktemp("exact"))


def family(name: str) -> str:
    try:
        return geometry(subjects.config(name)).family
    except OomphError:
        return "not read"


def built(name: str, setting: Setting, memory: Memory) -> Case | None:
    """None where vLLM does not build the model at all."""
    config = subjects.config(name)
    (fitting,) = subjects.fitted([setting], geometry(config).context_tokens)
    answer = memory.model(config, fitting, release=RELEASE)
    assert answer is not None
    if answer.refusal is not None and not re.search("divi|backend", answer.refusal.message):
        return None
    return Case(model=name, config=config, setting=fitting, answer=answer)


def differing(cases: Iterator[Case | None], judges: Bench) -> tuple[int, list[str]]:
    """How many comparisons there were, and every one in which figures differ and nobody knows why."""
    compared = []
    for case in cases:
        if case is None or kv.impossible(case):
            continue
        compared.append(weights.compared(case))
        if case.setting.stages > 1:
            continue
        compared += kv.end_to_end(case, judges[RELEASE])
        if case.answer.refusal is None:
            compared += kv.planning(case, judges[PLANNERS[len(compared) % len(PLANNERS)]])
    wrong = [each for each in compared if not each.equal and explained.because(each) is None]
    return len(compared), [f"{each.model}, {each.setting}: {each.shown()}" for each in wrong]


def test_every_family_is_vllms(names: list[str], judges: Bench, memory: Memory) -> None:
    random = Random(SEED)  # noqa: S311 - the same models every time
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(family(name), []).append(name)
    families.pop("not read", None)
    chosen = [random.choice(members) for members in families.values()]
    compared, wrong = differing((built(name, ALONE[2], memory) for name in chosen), judges)

    assert len(chosen) >= 9
    assert compared > 4 * len(chosen)
    assert wrong == []


def test_a_sample_of_models_is_vllms(names: list[str], judges: Bench, memory: Memory) -> None:
    random = Random(SEED + 1)  # noqa: S311 - the same models every time
    read = [name for name in names if family(name) != "not read" and not any(word in name for word in SLOW)]
    chosen = random.sample(read, SAMPLE)
    pairs = [(name, setting) for name in chosen for setting in _two(name, random)]
    compared, wrong = differing((built(name, setting, memory) for name, setting in pairs), judges)

    assert compared > 5 * SAMPLE
    assert wrong == []


def _two(name: str, random: Random) -> list[Setting]:
    """One of the plain settings, and any of the others."""
    return [random.choice(ALONE[:4]), random.choice(sweep.settings(subjects.config(name))[4:])]


# --- the test of the test: a planted mistake is caught


@pytest.fixture
def case(names: list[str], memory: Memory) -> Case:
    found = built(next(name for name in names if family(name) == "delta"), ALONE[0], memory)
    assert found is not None
    return found


def test_one_token_more_in_one_block_is_caught(case: Case, judges: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    right = kv.own(case.config, case.setting)
    name, cache = next(iter(right.layers.items()))
    longer = replace(cache, block_tokens=cache.block_tokens + 1)
    wrong = replace(right, layers={**right.layers, name: longer})

    assert all(each.equal for each in kv.end_to_end(case, judges[RELEASE]))
    monkeypatch.setattr(kv, "own", lambda *_: wrong)
    assert not any(each.equal for each in kv.end_to_end(case, judges[RELEASE]))


def test_one_byte_of_weights_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert weights.compared(case).equal
    monkeypatch.setattr("exact.weights.total", lambda *given, **more: total(*given, **more) + 1)
    assert weights.compared(case).differing == ("parameters",)


def test_a_refusal_that_is_not_foreseen_is_caught(case: Case, memory: Memory, judges: Bench) -> None:
    small = {**subjects.config("Qwen__Qwen2-0.5B")}
    setting = Setting(ranks=4)
    answer = memory.model(small, setting, release=RELEASE)
    assert answer is not None
    refused = Case(model="Qwen2-0.5B", config=case.config, setting=setting, answer=answer)
    (found,) = kv.end_to_end(refused, judges[RELEASE])

    assert answer.refusal is not None
    assert found.differing == ("start",)


# --- the page of the whole sweep


def rows() -> dict[tuple[str, str], list[int]]:
    """The lines of its first table: what was compared, on which release, and the figures."""
    found = {}
    for line in PAGE.read_text().partition("## In short")[2].partition("## By family")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9 and cells[2].isdecimal():
            found[cells[0], cells[1]] = [int(cell.replace(",", "")) for cell in cells[2:]]
    return found


def test_the_page_has_no_unexplained_difference_and_hardly_any_explained() -> None:
    table = rows()

    assert len(table) == 3 + len(PLANNERS)
    assert "**unexplained**" not in PAGE.read_text()
    for models, _, comparisons, figures, equal, known, unexplained in table.values():
        assert models
        assert figures >= comparisons == equal + known + unexplained
        assert unexplained == 0
    compared, explicable = (sum(row[place] for row in table.values()) for place in (2, 5))
    assert explicable < compared / 100


def test_the_page_covers_as_many_models_and_settings_as_it_must() -> None:
    table = rows()
    kv_row = table["KV pool, from config and flags", RELEASE]
    tensor = table["weights by tensor-parallel rank", RELEASE]
    stages = table["weights by pipeline stage", RELEASE]

    assert kv_row[1] >= 80  # models in at least 12 settings each
    assert all(table["KV pool, planned from vLLM's layers", release][1] >= 80 for release in PLANNERS)
    assert tensor[0] >= 60
    assert tensor[2] >= 4 * 60  # in TP 1, 2, 4 and 8
    assert stages[0] >= 60
