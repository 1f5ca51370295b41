from dataclasses import replace

import pytest
from hypothesis import given, settings

from hardware.probes import gpu, machine_of, probes
from oomph.diagnose.machine.holders import Kind, holders, unexplained
from oomph.diagnose.machine.judgement import Judgement, judge
from oomph.engines.history import Release, release
from oomph.ledger.device import Capability
from oomph.ledger.gate import Verdict
from oomph.ledger.probe import Ancestor, Host, Probe, Process, Seen, Slice
from oomph.ledger.visible import visible
from oomph.units import GIB, MIB, Bytes
from oomph.write.judgement_json import judged_json
from oomph.write.probe_text import probe_lines
from oomph.write.span import cells, joined
from strategies import releases

LAST = release("0.32.0")
ENGINE = Process(pid=700, name="VLLM::EngineCore", holds=Bytes(20 * GIB), own_namespace=True)


def names(probe: Probe, asked: str = "0.32.0") -> set[str]:
    found = judge(probe, release(asked))
    return {remark.name for each in found.devices for remark in each.remarks} | {each.name for each in found.remarks}


def words(found: Judgement) -> str:
    remarks = [remark for each in found.devices for remark in each.remarks] + list(found.remarks)
    return " ".join(f"{remark.words} {remark.do}" for remark in remarks)


def kind(process: Process) -> Kind:
    (holder,) = holders(visible(machine_of(gpu(processes=(process,)))).places[0])
    return holder.kind


@pytest.mark.parametrize(
    ("parent", "parent_name", "expected"),
    [
        (1, "systemd", Kind.ORPHAN),
        (1, "tini", Kind.ORPHAN),
        (1, "bash", Kind.ORPHAN),  # it started the server, and adopted the engine
        (1, None, Kind.ORPHAN),
        (2211, "systemd", Kind.ORPHAN),  # a user's own manager adopts too
        (0, None, Kind.ORPHAN),
        (1, "vllm", Kind.ENGINE),  # the server is the container's first process
        (1, "python3", Kind.ENGINE),
        (1, "VLLM::APIServer", Kind.ENGINE),
        (655, "python3", Kind.ENGINE),
        (655, "bash", Kind.ENGINE),
        (None, None, Kind.ENGINE),  # nothing is known of its parent
    ],
)
def test_an_engine_is_an_orphan_where_its_parent_only_adopted_it(
    parent: int | None, parent_name: str | None, expected: Kind
) -> None:
    assert kind(replace(ENGINE, parent=parent, parent_name=parent_name)) is expected


def test_a_worker_of_an_orphan_is_an_orphan() -> None:
    orphan = replace(ENGINE, parent=1, parent_name="systemd")
    worker = Process(pid=701, name="VLLM::Worker_TP0", parent=700, parent_name="VLLM::EngineCor", own_namespace=True)
    found = holders(visible(machine_of(gpu(processes=(orphan, worker)))).places[0])

    assert [holder.kind for holder in found] == [Kind.ORPHAN, Kind.ORPHAN]


@pytest.mark.parametrize(
    ("core", "above", "expected"),
    [
        ("VLLM::EngineCore", Ancestor(pid=1, name="systemd"), Kind.ORPHAN),
        ("VLLM::EngineCor", Ancestor(pid=1, name="bash"), Kind.ORPHAN),
        ("VLLM::EngineCore", Ancestor(pid=650, name="vllm"), Kind.ENGINE),
        ("VLLM::EngineCore", Ancestor(pid=1, name="vllm"), Kind.ENGINE),
        ("VLLM::APIServer", Ancestor(pid=1, name="systemd"), Kind.ENGINE),  # a service: its server lives
    ],
)
def test_a_worker_on_a_card_without_its_core_is_an_orphan_where_the_core_is(
    core: str, above: Ancestor, expected: Kind
) -> None:
    chain = (Ancestor(pid=700, name=core), above)
    worker = Process(pid=701, name="VLLM::Worker_TP1", parent=700, parent_name=core, ancestors=chain)

    assert kind(worker) is expected


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        (Process(pid=1, name="python", own_namespace=True), Kind.TENANT),
        (Process(pid=1, own_namespace=False), Kind.OUTSIDE),
        (Process(pid=1, name="Xorg", graphics=True), Kind.DISPLAY),
        (Process(pid=1, name="nvidia-cuda-mps-server"), Kind.SERVER),
        (Process(pid=1, name="python", parent=1, parent_name="systemd"), Kind.TENANT),  # only engines are orphans
    ],
)
def test_the_others_are_told_apart(process: Process, expected: Kind) -> None:
    assert kind(process) is expected


def test_what_is_used_by_nobody_who_is_named_is_unexplained() -> None:
    place = visible(machine_of(gpu(used=Bytes(5 * GIB), processes=(replace(ENGINE, holds=Bytes(2 * GIB)),)))).places[0]
    silent = visible(machine_of(gpu(used=Bytes(5 * GIB), processes=(replace(ENGINE, holds=None),)))).places[0]

    assert unexplained(place) == 3 * GIB
    assert unexplained(silent) is None


def test_an_orphan_is_named_with_what_ends_it() -> None:
    found = judge(machine_of(gpu(processes=(replace(ENGINE, parent=1, parent_name="systemd"),))), LAST)

    assert "kill 700" in words(found)
    assert "holds 20.00 GiB" in words(found)


def test_a_clean_card_has_no_remark() -> None:
    assert names(machine_of()) == set()


@pytest.mark.parametrize(
    ("probe", "remark"),
    [
        (machine_of(gpu(display=True)), "display"),
        (machine_of(gpu(exclusive=True, processes=(ENGINE,))), "exclusive"),
        (machine_of(gpu(processes=(replace(ENGINE, parent=5, parent_name="python3"),))), "neighbours"),
        (machine_of(gpu(coherent=True)), "coherent-memory"),
        (machine_of(CUDA_DEVICE_MEMORY_LIMIT="12g"), "sources-disagree"),
        (machine_of(CUDA_DEVICE_MEMORY_LIMIT="24576m"), "clamp-unproven"),
        (machine_of(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="0=10G"), "mps-limit-idle"),
        (machine_of(gpu(limit=Bytes(8 * GIB))), "less-than-believed"),
        (machine_of(gpu(), gpu(1, error="GPU is lost")), "lost-device"),
        (machine_of(gpu(), gpu(1), CUDA_VISIBLE_DEVICES="1"), "hidden-devices"),
        (machine_of(gpu(), gpu(1), host=Host(shm_total=Bytes(64 * MIB))), "small-shared-memory"),
        (machine_of(host=Host(total=Bytes(64 * GIB), limit=Bytes(16 * GIB))), "little-host-memory"),
        (machine_of(host=Host(wsl=True)), "expandable-segments"),
        (machine_of(gpu(), gpu(1, name="NVIDIA L4")), "visible-devices"),
        (machine_of(gpu(used=Bytes(9 * GIB))), "sums-disagree"),
    ],
)
def test_what_is_odd_is_remarked(probe: Probe, remark: str) -> None:
    assert remark in names(probe)


def test_a_driver_that_knows_nothing_of_the_clamp_is_named_as_the_one_who_is_believed() -> None:
    seen = Seen(free=Bytes(22 * GIB), total=Bytes(23 * GIB))
    found = judge(machine_of(gpu(seen=seen), CUDA_DEVICE_MEMORY_LIMIT="12g"), LAST)

    assert "allows 12.00 GiB, but the driver says 23.00 GiB: vLLM believes the driver" in words(found)


def test_where_less_can_be_had_the_share_that_fits_is_named() -> None:
    """8 GiB less a context of 640 MiB is 7552 MiB, of 24139 MiB: 0.31 (7483.09) and not 0.32 (7724.48)."""
    assert "--gpu-memory-utilization 0.31," in words(judge(machine_of(gpu(limit=Bytes(8 * GIB))), LAST))


def test_another_device_is_advised_only_where_there_is_one() -> None:
    held = gpu(processes=(replace(ENGINE, parent=5, parent_name="python3"),))

    assert "another device" not in words(judge(machine_of(held), LAST))
    assert "another device" not in words(judge(machine_of(held, gpu(1, error="GPU is lost")), LAST))
    assert "another device" in words(judge(machine_of(held, gpu(1)), LAST))


def test_where_cards_differ_it_is_said_how_to_order_them() -> None:
    assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in {
        remark.do for remark in judge(machine_of(gpu(), gpu(1, name="NVIDIA L4")), LAST).remarks
    }


def test_a_slice_by_its_old_name_is_unsure_unless_the_card_has_but_one() -> None:
    parts = tuple(Slice(uuid=f"MIG-{end}", total=Bytes(9 * GIB), free=Bytes(9 * GIB)) for end in "ab")
    one, two = (
        judge(machine_of(gpu(mig=True, slices=held), CUDA_VISIBLE_DEVICES="MIG-GPU-00000000-1a2b/7/0"), LAST)
        for held in (parts[:1], parts)
    )

    assert [each.check and each.check.verdict for each in (*one.devices, *two.devices)] == [
        Verdict.FITS,
        Verdict.UNSURE,
    ]
    assert "was not resolved" in words(two)


def test_dropping_caches_helps_only_where_the_driver_is_asked() -> None:
    spark = gpu(total=None, free=None, used=None, unified=True, capability=Capability(major=12, minor=1))
    host = Host(total=Bytes(120 * GIB), available=Bytes(100 * GIB), page_cache=Bytes(60 * GIB))
    old, new = (judge(machine_of(spark, host=host), release(name)) for name in ("0.11.0", "0.11.1"))

    assert "drop_caches" in words(old)
    assert "60.00 GiB of page cache" in words(old)
    assert "drop_caches" not in words(new)


@pytest.mark.parametrize(
    ("asked", "broken"),
    [("0.7.3", {"wsl2"}), ("0.19.1", {"wsl2", "sleep-mode"}), ("0.32.0", {"wsl2", "kv-connector"})],
)
def test_what_expandable_segments_break_depends_on_machine_and_release(asked: str, broken: set[str]) -> None:
    probe = machine_of(host=Host(wsl=True), PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    found = judge(probe, release(asked))

    assert set(found.segments) == broken
    assert len([each for each in found.remarks if each.name == "expandable-segments"]) == len(broken)


def test_expandable_segments_break_slices() -> None:
    part = Slice(uuid="MIG-aa", name="1g.5gb", total=Bytes(4 * GIB), free=Bytes(4 * GIB))

    assert "mig" in judge(machine_of(gpu(mig=True, slices=(part,))), LAST).segments


def test_uuids_are_read_only_by_newer_releases() -> None:
    probe = machine_of(gpu(), gpu(1), CUDA_VISIBLE_DEVICES="GPU-00000001-1a2b")

    assert "uuid-unread" in names(probe, "0.23.0")
    assert "CUDA_VISIBLE_DEVICES=1" in words(judge(probe, release("0.23.0")))
    assert "uuid-unread" not in names(probe, "0.24.0")


@settings(deadline=None)
@given(probes, releases)
def test_any_probe_can_be_judged_and_told(probe: Probe, asked: Release) -> None:
    found = judge(probe, asked)
    lines = list(probe_lines(probe, found, width=72))

    assert len(found.devices) == len(visible(probe).places)
    assert lines
    assert all(cells(joined(line)) <= 72 for line in lines)
    assert '"judgement"' in judged_json(probe, found)
