"""What looks like a lack of memory and is none, or is not shown to be."""

import pytest

from oomph.diagnose.case import Case
from oomph.diagnose.explain import Outcome, explain, outcome
from oomph.diagnose.hearing.case_of import case_of

ALIVE = "(APIServer pid=1) INFO 01-01 10:01:00 [loggers.py:1] Engine 000: Avg prompt throughput: 10.0 tokens/s"
MODE = "PreemptionMode.RECOMPUTE mode"
MAPPING = "[W101 CUDACachingAllocator.cpp:3933] expandable_segments: memory mapping failed with OOM on device 0"
OVERFLOW = "ERROR 01-01 10:02:00 [core.py:1142] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB."


def case(*lines: str) -> Case:
    return case_of(enumerate(lines, 1))


def told(*lines: str) -> Outcome:
    asked = case(*lines)
    return outcome(asked, explain(asked))


@pytest.mark.parametrize(
    "said",
    [
        "WARNING 01-01 [Autotuner]: OOM detected, falling back to default tactic",
        MAPPING,
    ],
)
def test_who_goes_on_has_not_failed(said: str) -> None:
    assert told(said, ALIVE) is Outcome.NO_MEMORY_FAILURE
    assert told(said, ALIVE, OVERFLOW) is not Outcome.NO_MEMORY_FAILURE


@pytest.mark.parametrize(
    "said",
    [
        f"WARNING 03-01 Group 1 is preempted by {MODE} because there is not enough KV cache",
        "[2025-04-05 10:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2",
    ],
)
def test_requests_that_wait_are_no_failure(said: str) -> None:
    assert told(said) is Outcome.NO_MEMORY_FAILURE
    assert explain(case(said))[0].code == "NO002"


@pytest.mark.parametrize(
    "said",
    [
        "container vllm exited with code 137",
        "Killed",
        "Rank 0 scheduler died during initialization (exit code: -9). A common cause is the OS.",
        "WARNING 11-14 [core_client.py:817] [shutdown] MPClient: engine core exited unexpectedly; starting cleanup",
    ],
)
def test_a_kill_without_a_witness_is_unsure_and_asks_for_one(said: str) -> None:
    findings = explain(case(said))

    assert told(said) is Outcome.UNSURE
    assert findings[0].code == "NO003"
    assert any("dmesg" in missing for missing in findings[0].missing)


def test_a_kill_after_an_overflow_of_the_device_is_a_consequence() -> None:
    findings = explain(case(OVERFLOW, "container vllm exited with code 137"))

    assert "NO003" not in {finding.code for finding in findings}


def test_a_process_that_spoke_of_its_error_did_not_die_silently() -> None:
    gone = "(APIServer pid=1) ERROR [core_client.py:617] Engine core proc EngineCore_0 died unexpectedly."
    spoke = "(EngineCore_0 pid=7) ERROR 01-01 10:02:00 [core.py:702] ValueError: unknown quantization"

    assert "NO003" in {finding.code for finding in explain(case(gone))}
    assert "NO003" not in {finding.code for finding in explain(case(spoke, gone))}


@pytest.mark.parametrize(
    "words",
    [
        "an illegal memory access was encountered",
        "unspecified launch failure",
        "device-side assert triggered",
        "misaligned address",
    ],
)
def test_a_fault_of_a_kernel_is_no_lack_of_memory(words: str) -> None:
    said = f"torch.AcceleratorError: CUDA error: {words}"

    assert told(said) is Outcome.NO_MEMORY_FAILURE
    assert "NO004" not in {finding.code for finding in explain(case(OVERFLOW, said))}


def test_a_report_of_anothers_failure_says_that_the_cause_is_elsewhere() -> None:
    said = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    findings = explain(case(said))

    assert told(said) is Outcome.UNSURE
    assert findings[0].code == "NO005"
    assert findings[0].missing


def test_an_engine_that_was_told_to_stop_has_not_failed() -> None:
    lines = (
        "(EngineCore pid=2) INFO 11-15 01:11:50 [core.py:1454] [shutdown] EngineCore: trigger received signal=SIGTERM",
        "(APIServer pid=1) ERROR 11-15 01:11:50 [async_llm.py:906] EngineDeadError: EngineCore encountered an issue.",
    )

    assert told(*lines) is Outcome.NO_MEMORY_FAILURE


@pytest.mark.parametrize("said", ["", "AssertionError: hidden size must be divisible by heads", ALIVE])
def test_nothing_of_memory_is_nothing(said: str) -> None:
    assert told(said) is Outcome.NO_MEMORY_FAILURE
