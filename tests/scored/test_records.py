"""Records of the corpus, read by hand."""

from collections.abc import Callable

import pytest

from oomph.engines.vllm.formulas.batches import Usage
from oomph.units import GIB
from scored.dates import branched, newest
from scored.opened import Open
from scored.records import Outcome, Record, record, source

Read = Callable[[str], Record]


def test_the_corpus_is_read_whole(corpus: tuple[Record, ...]) -> None:
    assert len(corpus) == 135
    assert len({each.id for each in corpus}) == 135
    assert 20 <= sum(each.determined and each.stock for each in corpus) <= 40


def test_a_complete_record_is_determined(read: Read) -> None:
    found = read("s0082")

    assert found.determined
    assert found.stock
    assert str(found.release) == "0.10.2"
    assert [device.name for device in found.devices] == ["NVIDIA H200"] * 2
    assert found.devices[0].total == round(139.81 * GIB)
    assert found.command["tensor_parallel_size"] == 2
    assert "block_size" not in found.command  # 544 was derived, not given
    assert found.measured.block_tokens == 544
    assert found.measured.available is not None
    assert found.measured.available.exact
    assert found.measured.available.low == 47_878_721_024
    assert found.measured.tokens == 973_760
    assert found.measured.blocks == 7162
    assert found.outcome is Outcome.SERVED
    assert found.family == "delta"


def test_a_default_of_a_known_release_is_not_open(read: Read) -> None:
    found = read("s0179")

    assert found.determined
    assert "gpu_memory_utilization" not in found.command
    assert found.devices[0].name == "NVIDIA A100-SXM4-80GB"  # "A100", and 71 GiB in use at once


def test_a_total_follows_from_a_printed_share(read: Read) -> None:
    found = read("s0113")

    assert not found.open
    assert found.devices[0].total == pytest.approx(83.78 / 0.9 * GIB, rel=1e-4)
    assert found.devices[0].free is not None
    assert found.devices[0].free.likely == round(90.11 * GIB)


def test_a_peak_that_was_printed_with_the_weights_is_taken_apart(read: Read) -> None:
    found = read("s0003")

    assert found.measured.activation is not None
    assert found.measured.activation.likely == round(17.06 * GIB) - round(14.9888 * GIB)
    assert Open.RELEASE in found.open


def test_a_quantized_checkpoint_without_its_config_leaves_its_weights_open(read: Read) -> None:
    found = read("s0133")

    assert set(found.open) == {Open.STORED, Open.FORMAT}
    assert found.but_for_weights
    assert found.command["speculative_config"] == '{"method": "mtp", "num_speculative_tokens": 3}'


def test_a_name_that_fits_two_devices_leaves_the_device_open(read: Read) -> None:
    found = read("s0006")

    assert not found.devices
    assert Open.GPU in found.open


def test_patched_builds_are_not_stock(read: Read) -> None:
    assert not any(read(name).stock for name in ("s0038", "s0093", "s0096", "s0143", "s0199"))


def test_an_offline_engine_is_known_by_its_arguments(read: Read) -> None:
    assert read("s0218").usage is Usage.OFFLINE
    assert read("s0209").usage is Usage.SERVER


def test_a_record_says_what_it_leaves_open() -> None:
    found = record(
        {"id": "x", "source_url": "https://github.com/a/b/issues/1", "model": "m", "outcome": "served", "gpu_count": 1}
    )

    assert set(found.open) == {
        Open.RELEASE,
        Open.GPU,
        Open.UTILIZATION,
        Open.SEQUENCES,
        Open.STEP,
        Open.LENGTH,
        Open.FORMAT,
        Open.CONFIG,
    }


def test_reports_to_one_project_are_of_many_sources_but_logs_of_a_repository_are_of_one() -> None:
    assert source("https://github.com/vllm-project/vllm/issues/28228") == "vllm-project/vllm/issues/28228"
    assert source("https://github.com/a/b/blob/c0ffee/x.log#L5") == "a/b"
    assert source("https://github.com/a/b/issues/7") == "a/b"
    assert source("https://example.com/page") == "example.com"
    bisection = [source(f"https://github.com/ (stored-index id {each};") for each in ("61103921487", "61174240581")]
    assert len(set(bisection)) == 1


def test_a_build_that_counts_commits_lies_behind_the_last_release_branched_off() -> None:
    assert str(branched(17_674)) == "0.23.0"
    assert str(branched(18_496)) == "0.25.0"
    assert branched(100) is None
    assert branched(99_999) is None


def test_the_newest_release_of_a_day() -> None:
    assert str(newest("2026-05-13")) == "0.20.2"
    assert str(newest("2026-05-14")) == "0.21.0"
    assert newest("2020-01-01") is None
    assert newest(None) is None
