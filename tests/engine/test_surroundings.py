"""What of a machine a release cannot bear, and whom it asks for free memory, held against its published source."""

import pytest

from engine.pipe import OLDER, RELEASES
from oomph.engines.history import release
from oomph.engines.vllm import believed, surroundings
from scouting.trees import home

pytestmark = pytest.mark.usefixtures("judges")  # skipped, or failed in CI, where the engine's trees are not at hand

each_release = pytest.mark.parametrize("name", OLDER + RELEASES)


def source(name: str, *files: str) -> str:
    """Of the files that the release has, all of it."""
    paths = [home() / "trees" / name / "vllm" / file for file in files]
    return "".join(path.read_text() for path in paths if path.is_file())


@each_release
def test_uuids_are_read_where_the_source_asks_nvml_for_them(name: str) -> None:
    reads = "nvmlDeviceGetHandleByUUID(device_id)" in source(name, "platforms/cuda.py")

    assert surroundings.reads_uuids.at(release(name)) is reads


@each_release
def test_sleep_mode_refuses_segments_where_the_source_asserts_it(name: str) -> None:
    refuses = 'assert "expandable_segments:True" not in conf' in source(name, "device_allocator/cumem.py")

    assert surroundings.sleep_refuses_segments.at(release(name)) is refuses


@each_release
def test_connectors_refuse_segments_where_the_config_says_so(name: str) -> None:
    refuses = "expandable_segments:True" in source(name, "config/vllm.py")

    assert surroundings.connectors_refuse_segments.at(release(name)) is refuses


@each_release
def test_the_host_is_asked_for_free_memory_where_the_snapshot_does(name: str) -> None:
    said = source(name, "utils/mem_utils.py", "utils/__init__.py", "utils.py")
    listed, integrated = "((8, 7), (11, 0), (12, 1))" in said, "is_integrated_gpu(" in said
    expected = believed.integrated if integrated else believed.listed if listed else believed.never

    assert believed.asks_host.at(release(name)) is expected
