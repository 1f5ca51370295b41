"""A saved plan, as the rules need it."""

import json
from pathlib import Path

import pytest

from oomph.errors import UnreadableError, UsageError
from oomph.ledger.planned_pool import PlannedPool
from oomph.readers.planned import read_planned_pool

KV = {"blocks": 1000, "bytes_per_block": 100, "size": {"low": 97_050, "likely": 100_099, "high": 103_000}}


def saved(folder: Path, **keys: object) -> str:
    where = folder / "plan.json"
    where.write_text(json.dumps({"schema": "oomph.plan/1", "settings": {}, "kv": KV} | keys))
    return str(where)


def test_the_careful_end_is_what_surely_fits(tmp_path: Path) -> None:
    pool = read_planned_pool(saved(tmp_path, kv=KV | {"concurrency": 7.5}))

    assert pool == PlannedPool(blocks=1000, least_blocks=970, concurrency=7.5)  # 97,050 / 100, rounded down


def test_engines_of_one_server_are_counted(tmp_path: Path) -> None:
    pool = read_planned_pool(saved(tmp_path, settings={"data_parallel_size": {"value": 4}}))

    assert pool.engines == 4


def test_a_plan_that_tells_no_size_promises_its_blocks(tmp_path: Path) -> None:
    assert read_planned_pool(saved(tmp_path, kv={"blocks": 10})).least_blocks == 10


@pytest.mark.parametrize("kv", [None, {}, {"blocks": None}, {"blocks": "many"}, {"blocks": True}, {"blocks": -1}, []])
def test_a_plan_without_a_pool_is_refused(kv: object, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="promises no pool"):
        read_planned_pool(saved(tmp_path, kv=kv))


def test_another_file_is_refused_by_its_schema(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"oomph\.probe/1"):
        read_planned_pool(saved(tmp_path, schema="oomph.probe/1"))


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="oomph plan --json"):
        read_planned_pool(str(tmp_path / "none.json"))
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_planned_pool(str(tmp_path))
