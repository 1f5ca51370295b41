"""Addresses of engines as people type them."""

from pathlib import Path

import pytest

from oomph.errors import UsageError
from oomph.readers.endpoint import endpoint, endpoints


@pytest.mark.parametrize(
    ("typed", "name", "metrics"),
    [
        ("localhost:8000", "localhost:8000", "http://localhost:8000/metrics"),
        ("localhost", "localhost:8000", "http://localhost:8000/metrics"),
        ("http://10.0.0.7:9000", "10.0.0.7:9000", "http://10.0.0.7:9000/metrics"),
        ("http://10.0.0.7:9000/", "10.0.0.7:9000", "http://10.0.0.7:9000/metrics"),
        ("http://10.0.0.7:9000/metrics", "10.0.0.7:9000", "http://10.0.0.7:9000/metrics"),
        ("http://10.0.0.7:9000/metrics/", "10.0.0.7:9000", "http://10.0.0.7:9000/metrics"),
        ("http://10.0.0.7:9000/v1", "10.0.0.7:9000", "http://10.0.0.7:9000/metrics"),
        ("https://llm.example", "llm.example:443", "https://llm.example:443/metrics"),
        ("http://llm.example", "llm.example:80", "http://llm.example:80/metrics"),
        ("http://gate:80/engines/a/metrics", "gate:80/engines/a", "http://gate:80/engines/a/metrics"),
        ("[::1]:8000", "[::1]:8000", "http://[::1]:8000/metrics"),
    ],
)
def test_what_is_left_out_is_added(typed: str, name: str, metrics: str) -> None:
    assert (endpoint(typed).name, endpoint(typed).metrics) == (name, metrics)


@pytest.mark.parametrize(
    "typed",
    ["", "ftp://a", "http://", "a b", "host:0", "host:65536", "user:word@host:1", "a" * 3_000, "host:8000?x=1", "-x"],
)
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(UsageError, match="not the address of an engine"):
        endpoint(typed)


def test_a_file_of_addresses_is_read_with_its_remarks_and_each_once(tmp_path: Path) -> None:
    file = tmp_path / "fleet"
    file.write_text("# all of them\na:1\n\nb:2  # the slow one\nhttp://a:1/metrics\n")

    assert [each.name for each in endpoints([f"@{file}", "c:3", "b:2"])] == ["a:1", "b:2", "c:3"]


def test_a_bad_line_of_the_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fleet"
    file.write_text("a:1\nnot an address\n")

    with pytest.raises(UsageError, match=r"line 2 of .*fleet: not the address"):
        endpoints([f"@{file}"])


def test_a_file_that_is_empty_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none").write_text("# nobody\n")

    with pytest.raises(UsageError, match="no address of an engine is given"):
        endpoints([f"@{tmp_path / 'none'}"])
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        endpoints([f"@{tmp_path / 'gone'}"])
