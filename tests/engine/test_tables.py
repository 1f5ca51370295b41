"""Every line of the release tables, held against the published source as the scout reads it."""

import ast
import math
import os
import re
from collections.abc import Callable
from functools import cache

import pytest

from engine.pipe import OLDER, RELEASES
from oomph.engines.history import release
from oomph.engines.vllm import facts
from oomph.engines.vllm.flags.find import FLAGS
from oomph.engines.vllm.flags.flag import Kind
from oomph.engines.vllm.lines import SENTENCES
from oomph.engines.vllm.metrics import METRICS
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.settings import Value
from scouting.extract import Said, read
from scouting.trees import home
from tidy.test_source import lines_of_tables

# Old ones besides those that can be asked; OOMPH_ALL_RELEASES=1 takes every release whose tree is at hand.
TAKEN = (
    tuple(str(known) for known in HISTORY.releases if (home() / "trees" / str(known)).is_dir())
    if os.environ.get("OOMPH_ALL_RELEASES")
    else OLDER + RELEASES
)

pytestmark = pytest.mark.usefixtures("judges")  # skipped, or failed in CI, where the engine's trees are not at hand


@cache
def said(name: str) -> Said:
    return read(name, home() / "trees" / name)


@pytest.mark.parametrize("name", TAKEN)
def test_the_table_of_flags_has_every_option_and_no_other(name: str) -> None:
    asked = release(name)
    ours = {written for flag in FLAGS for written in flag.names(asked)}
    theirs = {written for option in said(name).flags for written in (*option.names, *option.negations)}

    assert ours == theirs


@pytest.mark.parametrize("name", TAKEN)
def test_a_switch_is_what_says_only_yes_or_no(name: str) -> None:
    ours = {flag.name: flag.kind is Kind.SWITCH for flag in FLAGS}
    wrong = [
        option.names[0]
        for option in said(name).flags
        if option.kind is not None and ours[option.names[0]] is not (option.kind == "bool")
    ]

    assert wrong == []


@pytest.mark.parametrize("name", TAKEN)
def test_the_table_of_metrics_has_every_metric_and_no_other(name: str) -> None:
    asked = release(name)
    ours = {metric.scraped for metric in METRICS if asked in metric.span}
    theirs = {
        metric.name + ("_total" if metric.kind == "counter" and not metric.name.endswith("_total") else "")
        for metric in said(name).metrics
        if "{" not in metric.name  # put together at run time
    }

    assert ours == theirs


@pytest.mark.parametrize("name", TAKEN)
def test_every_wording_is_said_by_the_releases_that_the_table_gives_it_to(name: str) -> None:
    asked = release(name)
    texts = [sentence.text for sentence in said(name).sentences]
    unsaid = [
        sentence.template
        for sentence in SENTENCES
        if asked in sentence.span
        and sentence.name != "length that fits"  # glued together from pieces; asked of the engine itself
        and not any(_pattern(sentence.template).search(text) for text in texts)
    ]

    assert unsaid == []


def _pattern(template: str) -> re.Pattern[str]:
    """Our gaps stand for any placeholder of theirs; a per cent sign is doubled in their templates."""
    literal = re.escape(template).replace("%", "%%?")
    return re.compile(re.sub(r"\\\{[a-z_]+:[a-z0-9_]+\\\}", r"(?:%[-.0-9]*[sdf]|\\{[^}]*\\})", literal))


def value(name: str, default: str) -> Value:
    """A watched default as a value; None where the release has no such thing."""
    found = {each.name: each.value for each in said(name).defaults}
    text = re.sub(r"str\((.+)\)", r"\1", found.get(default, "None"))
    if re.fullmatch(r"[0-9]+(?: \* [0-9]+)+", text):  # written as a product
        return math.prod(int(factor) for factor in text.split(" * "))
    return ast.literal_eval(text)  # type: ignore[no-any-return]  # any literal


def truth(name: str, default: str) -> bool | None:
    """A default of an environment variable that says 0 or 1."""
    text = value(name, default)
    return None if text is None else bool(int(str(text)))


WATCHED: dict[str, Callable[[str], Value]] = {
    "share": lambda name: value(name, "gpu_memory_utilization"),
    "graphs_charged": lambda name: truth(name, "env VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"),
    "swap_space": lambda name: value(name, "swap_space"),
    "group_padding": lambda name: value(name, "group padding ratio") or 1.0,
    "moe_chunk_tokens": lambda name: _whole(value(name, "env VLLM_FUSED_MOE_CHUNK_SIZE")),
    "flashinfer_workspace": lambda name: _whole(
        value(name, "env VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE") or value(name, "FlashInfer workspace")
    ),
}


def _whole(found: Value) -> int | None:
    return None if found is None else int(str(found))


BEGIN = {fact: next(iter(getattr(facts, fact)))[0] for fact in WATCHED}


@pytest.mark.parametrize(
    ("fact", "name"), [(fact, name) for fact in WATCHED for name in TAKEN if release(name) >= BEGIN[fact]]
)
def test_a_default_is_what_the_source_says(fact: str, name: str) -> None:
    assert getattr(facts, fact).at(release(name)) == WATCHED[fact](name)


def test_every_cited_file_exists_in_the_release_that_the_line_names() -> None:
    cited = [(path, line, name, comment) for path, line, name, comment in lines_of_tables() if name in TAKEN]
    missing = [
        f"{path.name}:{line}: {comment} in {name}"
        for path, line, name, comment in cited
        if not (home() / "trees" / name / "vllm" / comment.split()[-1]).is_file()
    ]

    assert len(cited) > 100
    assert missing == []
