"""The host: from trees that are made up, and from this one."""

import os
from pathlib import Path

import pytest

from oomph.ledger.probe import Host
from oomph.readers.bounded import read_small
from oomph.readers.cgroup import read_device_limits, read_group
from oomph.readers.host import read_host
from oomph.units import Bytes
from readers.tree import tree

GIB = 1 << 30


def test_an_empty_machine_has_nothing_known(tmp_path: Path) -> None:
    assert read_host(tmp_path, {}) == Host()


def test_the_page_cache_is_what_the_kernel_may_drop(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/meminfo": "MemTotal: 100 kB\nCached: 60 kB\nBuffers: 5 kB\nShmem: 20 kB\nHuge: x\n"})
    host = read_host(root, {})

    assert (host.total, host.page_cache, host.available) == (100 << 10, 45 << 10, None)


def test_the_tightest_limit_above_us_counts_with_what_is_used_under_it(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a.slice/b.scope\n",
            "sys/fs/cgroup/a.slice/b.scope/memory.max": "max\n",
            "sys/fs/cgroup/a.slice/b.scope/memory.current": "1\n",
            "sys/fs/cgroup/memory.max": f"{16 * GIB}\n",
            "sys/fs/cgroup/a.slice/memory.max": f"{8 * GIB}\n",
            "sys/fs/cgroup/a.slice/memory.current": f"{5 * GIB}\n",
            "sys/fs/cgroup/a.slice/memory.stat": "anon 7\nactive_file 10\ninactive_file 20\nshmem 99\n",
        },
    )
    group = read_group(root)

    assert (group.limit, group.used, group.used_by_cache) == (8 * GIB, 5 * GIB, 30)


def test_the_first_version_of_groups_is_read_too_and_its_largest_number_is_no_limit(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "12:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n1:name=systemd:/docker/x\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
            "sys/fs/cgroup/memory/memory.stat": "active_file 1\ntotal_active_file 100\ntotal_inactive_file 11\n",
        },
    )
    group = read_group(root)
    (root / "sys/fs/cgroup/memory/memory.limit_in_bytes").write_text("9223372036854771712\n")

    assert (group.limit, group.used, group.used_by_cache) == (4 * GIB, GIB, 111)
    assert read_group(root).limit is None


def test_a_group_cannot_lead_out_of_the_tree(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "root",
        {"proc/self/cgroup": "0::/../../../../outside\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"},
    )
    tree(tmp_path / "outside", {"memory.max": "1\n"})

    assert read_group(root).limit == GIB


def test_the_least_of_several_limits_on_a_card_counts(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a\n",
            "sys/fs/cgroup/a/dmem.max": "nvidia/0000:65:00.0/vidmem 4096\nnvidia/0000:66:00.0/vidmem max\nbroken\n",
            "sys/fs/cgroup/dmem.max": "nvidia/0000:65:00.0/vidmem 8192\ndrm/0000:0A:00.0/vram0 512\n",
        },
    )

    assert read_device_limits(root) == {"0000:65:00.0": Bytes(4096), "0000:0a:00.0": Bytes(512)}


@pytest.mark.parametrize(
    ("files", "environment", "container"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({"proc/self/cgroup": "0::/kubepods/burstable/pod1/x\n"}, {}, "kubernetes"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"run/systemd/container": "systemd-nspawn\n"}, {}, "systemd-nspawn"),
        ({"proc/self/mounts": "overlay / overlay rw,lowerdir=/var/lib/containerd/1 0 0\n"}, {}, "containerd"),
        ({"proc/self/cgroup": "0::/user.slice\n"}, {}, None),
    ],
)
def test_containers_are_known_by_their_signs(
    files: dict[str, str], environment: dict[str, str], container: str | None, tmp_path: Path
) -> None:
    assert read_host(tree(tmp_path, files), environment).container == container


def test_a_board_is_what_its_firmware_says(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/device-tree/model": "NVIDIA Jetson Thor\0"})

    assert read_host(root, {}).board == "NVIDIA Jetson Thor"


def test_only_small_plain_files_are_read(tmp_path: Path) -> None:
    root = tree(tmp_path, {"long": "x" * 100, "secret": "s"})
    (root / "link").symlink_to(root / "secret")
    os.mkfifo(root / "pipe")

    assert read_small(root / "long", 10) == "x" * 10
    assert [read_small(root / name) for name in ("link", "pipe", "absent", ".")] == [None] * 4


def test_this_host_is_read_as_the_kernel_tells_it() -> None:
    if not Path("/proc/meminfo").exists():
        pytest.skip("no /proc here")
    host = read_host(Path("/"), {})
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    assert host.total is not None
    assert abs(host.total - total) < 1 << 20
    assert host.kernel == os.uname().release
