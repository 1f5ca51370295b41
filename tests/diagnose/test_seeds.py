"""Must be shown: what helps the two crashes that oomph was begun for, and what does not."""

import math
from collections.abc import Callable

import pytest

from diagnose.startups import seed_a, seed_b
from oomph.diagnose.at_gate import findings
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.trials import at, passes
from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Value

Seed = Callable[..., Startup]
seeds = pytest.mark.parametrize("seed", [seed_a, seed_b])


def found(asked: Startup) -> Finding:
    (finding,) = findings(asked.forecast(), asked)
    return finding


def remedy(finding: Finding, *flags: str) -> Remedy:
    return next(each for each in finding.remedies if set(each.change) == set(flags))


def value(finding: Finding, flag: str) -> int:
    whole = remedy(finding, flag).change[flag]
    assert isinstance(whole, int)
    return whole


@seeds
def test_the_pool_of_the_graph_profile_is_what_does_not_fit(seed: Seed) -> None:
    finding = found(seed())

    assert (finding.code, finding.name) == ("GP001", "graph-profile-pool-above-rest")
    assert any("512 blocks in 1" in line for line in finding.evidence)


@seeds
@pytest.mark.parametrize("share", [0.80, 0.88, 0.92, 0.95])
def test_whatever_the_share_both_sides_are_the_same_to_the_byte(seed: Seed, share: float) -> None:
    plain, other = (
        at(seed(**flags).forecast(), Step.GRAPH_PROFILE) for flags in ({}, {"gpu_memory_utilization": share})
    )
    assert plain is not None
    assert other is not None

    assert (other.needs, other.has, other.verdict) == (plain.needs, plain.has, Verdict.OVERFLOWS)
    assert "--gpu-memory-utilization" in (found(seed(gpu_memory_utilization=share)).unhelpful or {})


@seeds
def test_what_people_advised_is_said_to_be_vain(seed: Seed) -> None:
    vain = found(seed()).unhelpful or {}

    assert {
        "--gpu-memory-utilization",
        "--max-model-len",
        "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "--swap-space",
        "upgrading to 0.32.0 alone",
    } == set(vain)
    assert "before any budget exists" in vain["--gpu-memory-utilization"]


@seeds
def test_both_have_the_four_ways_out(seed: Seed) -> None:
    finding = found(seed())

    assert "CUDA graphs" in remedy(finding, "max_cudagraph_capture_size").price
    assert "at once instead of 256; the rest wait" in remedy(finding, "max_num_seqs").price
    assert "no CUDA graphs" in remedy(finding, "enforce_eager").price
    assert "vLLM no longer checks" in remedy(finding, "kv_cache_memory_bytes").price


@pytest.mark.parametrize(
    ("seed", "flag", "step"),
    [
        (seed_a, "max_num_seqs", 1),
        (seed_a, "max_cudagraph_capture_size", 8),
        (seed_b, "max_num_seqs", 1),
        (seed_b, "max_cudagraph_capture_size", 8),
    ],
)
def test_the_value_passes_and_the_next_larger_one_does_not(seed: Seed, flag: str, step: int) -> None:
    largest = value(found(seed()), flag)

    assert passes(seed(**{flag: largest}).forecast(), Step.GRAPH_PROFILE)
    assert not passes(seed(**{flag: largest + step}).forecast(), Step.GRAPH_PROFILE)


@pytest.mark.parametrize("seed", [seed_a, seed_b])
def test_no_larger_number_of_sequences_passes_at_all(seed: Seed) -> None:
    largest = value(found(seed()), "max_num_seqs")

    assert not [n for n in range(largest + 1, 257, 5) if passes(seed(max_num_seqs=n).forecast(), Step.GRAPH_PROFILE)]


@seeds
def test_no_way_out_is_sure_to_fail_elsewhere(seed: Seed) -> None:
    assert Verdict.OVERFLOWS not in {each.verdict for each in found(seed()).remedies}


def test_ways_out_of_the_first_crash_are_sure_to_start() -> None:
    assert found(seed_a()).remedies[0].verdict is Verdict.FITS


def test_blocks_of_a_given_pool_are_counted() -> None:
    pool = remedy(found(seed_a()), "kv_cache_memory_bytes")
    size = pool.change["kv_cache_memory_bytes"]
    assert isinstance(size, int)

    assert f"= {size // 55_705_600} blocks" in pool.price


@pytest.mark.parametrize(("at_release", "total"), [("0.26.0", 256), ("0.32.0", 256)])
@pytest.mark.parametrize(("seed", "gib"), [(seed_a, 13.28), (seed_b, 12.25)])
def test_newer_releases_fail_there_too_and_fewer_sequences_help(
    seed: Seed, gib: float, at_release: str, total: int
) -> None:
    asked = seed(at_release)
    forecast, finding = asked.forecast(), found(asked)
    profile = forecast.graph_profile
    assert profile is not None

    assert (profile.blocks, math.floor(profile.total / (1 << 30) * 100) / 100) == (total, gib)
    assert (forecast.verdict, finding.code) == (Verdict.OVERFLOWS, "GP001")
    assert remedy(finding, "max_num_seqs").verdict is not Verdict.OVERFLOWS


@seeds
def test_upgrading_alone_is_no_remedy_and_upgrading_with_fewer_sequences_is(seed: Seed) -> None:
    finding = found(seed())
    newest = "0.32.0"
    said = (finding.unhelpful or {})[f"upgrading to {newest} alone"]
    fewer = int(said.partition("with --max-num-seqs ")[2].split()[0])

    assert not any(set(each.change) == {"release"} for each in finding.remedies)
    assert "fails at the same gate" in said
    assert not passes(seed(newest).forecast(), Step.GRAPH_PROFILE)
    assert passes(seed(newest, max_num_seqs=fewer).forecast(), Step.GRAPH_PROFILE)


@seeds
def test_the_newer_release_is_advised_only_where_it_permits_more_sequences(seed: Seed) -> None:
    finding = found(seed())
    both = [each.change["max_num_seqs"] for each in finding.remedies if "release" in each.change]
    alone = value(finding, "max_num_seqs")

    assert all(isinstance(more, int) and more > alone for more in both)


def test_the_first_crash_may_have_more_sequences_in_the_newer_release() -> None:
    assert remedy(found(seed_a()), "release", "max_num_seqs").change["release"] == "0.32.0"


@pytest.mark.parametrize(
    "flags", [{"max_num_seqs": 16}, {"max_cudagraph_capture_size": 64}, {"enforce_eager": True}], ids=str
)
def test_what_would_have_started_has_no_finding(flags: dict[str, Value]) -> None:
    asked = seed_a(**flags)

    assert findings(asked.forecast(), asked) == ()
    assert min(Rest.of(gate) for gate in asked.forecast().gates) is Rest.SURE
