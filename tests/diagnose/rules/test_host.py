"""Memory of the host: who ended the engine, and what had filled it."""

import pytest

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import SURE, explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.host_kill import Killer, kill
from oomph.diagnose.hearing.case_of import case_of
from oomph.ledger.settings import Flags, Value

STARTING = "(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4720] Starting to load model org/model..."
SERVING = "(APIServer pid=1) INFO:     Application startup complete."
BLOCKS = "INFO 01-23 07:34:26 gpu_executor.py:122] # GPU blocks: 11836, # CPU blocks: {}"
CONCURRENCY = "INFO 01-23 07:34:26 gpu_executor.py:126] Maximum concurrency for 200 tokens per request: 946.88x"


def victim(resident: int, *, limit: bool = False, adjusted: int = 0) -> str:
    who = "Memory cgroup out of memory" if limit else "Out of memory"
    return (
        f"[Wed May 11 09:15:44 2026] {who}: Killed process 812 (VLLM::EngineCor) total-vm:98123456kB, "
        f"anon-rss:{resident}kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:130000kB oom_score_adj:{adjusted}"
    )


def case(*lines: str, platform: tuple[Platform, ...] = (), **flags: Value) -> Case:
    return case_of(enumerate(lines, 1), platform=platform, flags=Flags(flags))


def first(*lines: str, platform: tuple[Platform, ...] = (), **flags: Value) -> Finding:
    return explain(case(*lines, platform=platform, **flags))[0]


@pytest.mark.parametrize(
    ("line", "killer"),
    [
        (victim(63_912_344), Killer.KERNEL),
        (victim(63_912_344, limit=True), Killer.LIMIT),
        ("    Reason:       OOMKilled", Killer.LIMIT),
        ("was 12.49GB / 13.15GB (0.950003), which exceeds the memory usage threshold of 0.95.", Killer.RAY),
        ("Killed", Killer.UNKNOWN),
        ("run.sh: line 7:  4711 Killed                  vllm serve org/model", Killer.UNKNOWN),
        ("Engine core initialization failed. Failed core proc(s): {'EngineCore_DP0': -9}", Killer.UNKNOWN),
        ("container exited with code 137", Killer.UNKNOWN),
    ],
)
def test_whoever_ended_it_is_named_and_a_status_alone_is_no_reason(line: str, killer: Killer) -> None:
    ended = kill(case(line))

    assert ended is not None
    assert ended.killer is killer
    assert ended.for_memory is (killer is not Killer.UNKNOWN)


def test_a_word_like_it_ends_nobody() -> None:
    assert kill(case("Worker Termination: resorting to SIGKILL to take down workers")) is None
    assert kill(case("INFO: Killed 3 stale sessions")) is None


def test_the_kernel_s_line_gives_the_figures() -> None:
    ended = kill(case("oom-kill:constraint=CONSTRAINT_NONE,task=a,pid=812,uid=0", victim(1_048_576)))

    assert ended is not None
    assert str(ended.resident) == "1.00 GiB"
    assert ended.bystander


def test_before_the_weights_were_there_it_was_the_load() -> None:
    finding = first(STARTING, victim(63_912_344, limit=True))

    assert finding.cause == "host_ram_load_peak"
    assert finding.arithmetic == ("VLLM::EngineCor held 60.95 GiB of the host",)


def test_a_status_of_137_is_a_candidate_and_no_more() -> None:
    assert first(STARTING, "container exited with code 137").confidence < SURE


def test_after_it_had_served_it_is_growth() -> None:
    assert first(SERVING, victim(63_912_344, limit=True)).cause == "host_rss_growth"


def test_a_small_victim_on_a_full_host_speaks_for_memory_that_no_process_holds() -> None:
    assert first(victim(1_058_560)).cause == "unified_memory_pool_shared_with_host"
    assert first(victim(63_912_344)).cause == "host_ram_load_peak"
    assert first(victim(1_058_560, adjusted=900)).cause == "host_ram_load_peak"


def test_killed_after_the_pool_was_sized_is_the_pool_where_memory_is_shared() -> None:
    lines = (BLOCKS.format(0), CONCURRENCY, "Killed")

    assert first(*lines, platform=(Platform.UNIFIED,)).confidence > SURE
    assert first(*lines).cause == "unified_memory_pool_shared_with_host"
    assert first(*lines).confidence < SURE


def test_an_engine_that_offloads_and_is_killed_took_it_for_that() -> None:
    assert first(STARTING, "Killed", cpu_offload_gb=305).cause == "host_offload_pinned_memory"
    assert first(STARTING, "Killed").cause == "host_ram_load_peak"


def test_a_pool_for_swapping_under_old_wsl_is_pinned() -> None:
    lines = (
        BLOCKS.format(7281),
        "Traceback (most recent call last):",
        '  File "vllm/entrypoints/llm.py", line 55, in __init__',
    )
    old = explain(case(*lines, platform=(Platform.WSL2,)))

    assert old[0].cause == "host_offload_pinned_memory"
    assert not any(each.confidence > SURE for each in explain(case(*lines)) if each.code == "HM003")


@pytest.mark.parametrize(
    "line",
    [
        "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-Ab3 (size 9637888), error: No space left",
        "NCCL WARN Error: failed to extend /dev/shm/nccl-gVcCAD to 9637892 bytes, error: No space left on device (28)",
        "RuntimeError: Insufficient space in /dev/shm: 320 MiB required, 64 MiB free. Increase /dev/shm",
        "RuntimeError: Insufficient space in /dev/shm for ShmTensorArena: 320 MiB required, 64 MiB free.",
        "OSError: [Errno 28] No space left on device: '/psm_4c1f2a'",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    ],
)
def test_a_segment_that_could_not_be_made_is_of_the_host(line: str) -> None:
    finding = first(line)

    assert finding.cause == "host_shm_exhausted"
    assert finding.confidence > SURE


def test_a_full_disk_is_no_full_shared_memory() -> None:
    found = {each.code for each in explain(case("OSError: [Errno 28] No space left on device: '/models/hub/x'"))}

    assert "HM001" not in found


def test_a_system_error_of_nccl_alone_is_a_candidate() -> None:
    assert first("torch.distributed.DistBackendError: NCCL error: unhandled system error").confidence < SURE
