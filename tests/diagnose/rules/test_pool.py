"""A pool that is refused: the engine's own numbers are quoted, and no promise breaks on their rounding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.rules.failed_starts import CAPTURE, case, out_of_memory, traceback
from oomph.diagnose.case import Case
from oomph.diagnose.explain import explain
from oomph.diagnose.finding import Finding, Remedy
from oomph.engines.history import Release
from oomph.engines.vllm.lines import spoken
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.settings import Value
from oomph.units import GIB, MIB

REFUSING = [release for release in HISTORY.releases if spoken("pool below request", release)]
SPENT = (
    "model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; "
    "the rest of the memory reserved for KV Cache is -1.05GiB."
)
NOTHING = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`."


def found(asked: Case) -> tuple[str, float]:
    root = explain(asked)[0]
    return root.cause or "", root.confidence


def refusal(needed: float, available: float, length: int, release: Release) -> str:
    (sentence,) = spoken("pool below request", release)
    return "ValueError: " + sentence.write(needed=needed, size=available, length=length)


def kv001(asked: Case) -> Finding:
    return next(finding for finding in explain(asked) if finding.code == "KV001")


def remedy(finding: Finding, lever: str) -> Remedy:
    return next(each for each in finding.remedies if each.lever == lever)


@pytest.mark.parametrize("release", REFUSING, ids=str)
def test_every_release_is_quoted_with_its_own_numbers(release: Release) -> None:
    finding = kv001(case(refusal(16 * GIB, 9.37 * GIB, 131_072, release)))

    assert finding.summary == "one request of 131,072 tokens needs 16.00 GiB; the pool has 9.37 GiB"
    assert remedy(finding, "max_model_len_down").change == {
        "max_model_len": 76_688
    }  # 131072 × 9.365 ÷ 16.005, in blocks


def test_the_length_that_the_engine_names_is_taken_at_its_word() -> None:
    named = " Based on the available memory, the estimated maximum model length is 76736."
    finding = kv001(case(refusal(16 * GIB, 9.37 * GIB, 131_072, HISTORY.releases[-1]) + named))

    assert remedy(finding, "max_model_len_down").change == {"max_model_len": 76_736}


def test_the_first_engine_names_what_its_blocks_hold() -> None:
    finding = kv001(
        case(
            "INFO 01-11 15:51:18 llm_engine.py:275] # GPU blocks: 229, # CPU blocks: 512",
            "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored "
            "in KV cache (3664). Try increasing `gpu_memory_utilization`",
        )
    )

    assert finding.summary == "one request of 4,096 tokens does not fit into the pool, which holds 3,664"
    assert remedy(finding, "max_model_len_down").change == {"max_model_len": 3664}


def test_a_message_that_a_paste_broke_inside_a_word_is_read_all_the_same() -> None:
    whole = refusal(4.26 * GIB, 4.25 * GIB, 100_000, HISTORY.releases[-1])
    broken = [whole[at : at + 60] for at in range(0, len(whole), 60)]

    assert kv001(case(*broken)).summary == "one request of 100,000 tokens needs 4.26 GiB; the pool has 4.25 GiB"


def test_a_share_is_advised_that_brings_what_is_missing_at_most() -> None:
    asked = case(
        refusal(4.30 * GIB, 3.95 * GIB, 65_536, HISTORY.releases[-1]), gpu="rtx-4090", gpu_memory_utilization=0.9
    )
    more = remedy(kv001(asked), "gpu_memory_utilization_up").change["gpu_memory_utilization"]
    total = int(CATALOGUE["rtx-4090"].total)

    assert isinstance(more, float)
    assert (more - 0.01 - 0.9) * total < 0.36 * GIB <= (more - 0.9) * total


def test_eight_bits_are_advised_only_where_half_of_the_need_fits() -> None:
    half, more = (kv001(case(refusal(needed * GIB, 10 * GIB, 65_536, HISTORY.releases[-1]))) for needed in (19.9, 20.1))

    assert "kv_cache_dtype_fp8" in {each.lever for each in half.remedies}
    assert "kv_cache_dtype_fp8" not in {each.lever for each in more.remedies}


@given(
    st.integers(min_value=64 * MIB, max_value=200 * GIB),
    st.floats(min_value=0.05, max_value=0.999),
    st.integers(min_value=1024, max_value=4_000_000),
    st.sampled_from(REFUSING),
)
def test_the_length_that_is_promised_fits_whatever_was_rounded_away(
    needed: int, part: float, length: int, release: Release
) -> None:
    available = needed * part
    finding = kv001(case(refusal(needed, available, length, release)))
    promised = remedy(finding, "max_model_len_down").change.get("max_model_len")

    assert promised is None or (isinstance(promised, int) and promised * needed <= available * length)


def test_a_refusal_of_an_earlier_start_is_not_the_last_word() -> None:
    earlier = refusal(4.26 * GIB, 4.25 * GIB, 100_000, HISTORY.release("0.8.3"))
    cause, _ = found(
        case(
            earlier,
            "INFO 04-07 15:54:56 [worker.py:267] the current vLLM instance can use total_gpu_memory (21.99GiB) x "
            "gpu_memory_utilization (0.98) = 21.55GiB",
            'ERROR 04-07 15:55:35 [engine.py:448]   File "/torch/cuda/graphs.py", line 84, in capture_end',
            "ERROR 04-07 15:55:35 [engine.py:448] RuntimeError: CUDA error: out of memory",
        )
    )

    assert cause == "cudagraph_capture_unbudgeted"


def test_the_refusal_alone_is_a_candidate_and_says_what_is_missing() -> None:
    findings = explain(case(NOTHING))

    assert {finding.cause for finding in findings[:3]} >= {"multi_instance_accounting", "sampler_logits_max_num_seqs"}
    assert all(finding.confidence < 0.6 for finding in findings)
    assert all(finding.missing for finding in findings[:3])


@pytest.mark.parametrize(
    ("lines", "given", "cause"),
    [
        (  # 0.7 × 8.00 − 5.20 − 1.42 − 0.03 < 0
            (
                "this instance can use total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) = 5.60GiB",
                SPENT,
            ),
            {},
            "budget_below_weights_plus_activations",
        ),
        (  # the same model on both, and 13.76 GiB apart
            (
                "(Worker_TP1 pid=2) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: -3.86 GiB",
                "(Worker_TP0 pid=1) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: 9.90 GiB",
            ),
            {},
            "multi_instance_accounting",
        ),
        (  # a fifth of a device, in a release that charges neighbours
            (NOTHING,),
            {"release": "0.8.5", "gpu_memory_utilization": 0.2},
            "multi_instance_accounting",
        ),
        (  # 1,024 sequences by default
            (NOTHING,),
            {"release": "0.8.1", "gpu_memory_utilization": 0.9},
            "sampler_logits_max_num_seqs",
        ),
        (  # 17.1 of 0.9 × 23.99 GiB are weights
            (
                "INFO 06-10 10:00:00 [gpu_model_runner.py:2892] Model loading took 17.1038 GiB and 31.103412 seconds",
                NOTHING,
            ),
            {"release": "0.10.2", "gpu": "rtx-4090", "gpu_memory_utilization": 0.9},
            "budget_below_weights_plus_activations",
        ),
    ],
)
def test_figures_flags_and_release_tell_one_refusal_from_another(
    lines: tuple[str, ...], given: dict[str, Value], cause: str
) -> None:
    assert found(case(*lines, **given))[0] == cause


def test_the_newest_release_is_not_said_to_charge_neighbours() -> None:
    findings = explain(case(NOTHING, release=str(HISTORY.read_through), gpu_memory_utilization=0.9))
    charged = next(finding for finding in findings if finding.code == "PS002")

    assert charged.confidence <= 0.3
    assert "upgrade" not in {each.lever for each in charged.remedies}


def test_blocks_for_states_are_advised_as_the_message_counts_them() -> None:
    message = (
        "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (856). Each decode sequence requires one"
    )
    root = explain(case(message))[0]

    assert (root.code, root.remedies[0].change) == ("KV002", {"max_num_seqs": 856})


def test_a_given_pool_shrinks_by_what_is_missing_and_a_margin() -> None:
    root = explain(
        case(
            "(EngineCore pid=1) INFO 04-24 10:22:30 [gpu_worker.py:322] Initial free memory 22.15 GiB, reserved 5.50 "
            "GiB memory for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling.",
            *traceback(*CAPTURE, error=out_of_memory("136.00 MiB", free="81.37 MiB")),
        )
    )[0]
    smaller = root.remedies[0].change["kv_cache_memory_bytes"]

    assert root.code == "KV003"
    assert isinstance(smaller, int)
    assert 5.50 * GIB - (54.63 + 256 + 2) * MIB <= smaller <= 5.50 * GIB - (54.63 + 256) * MIB
    assert "--gpu-memory-utilization" in (root.unhelpful or {})
