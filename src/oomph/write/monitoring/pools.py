"""The table of the dashboard: how large each pool is, and as what it was set up.

Knows which label of the engine is which column. Does not know at which size of a fleet which engines stand apart.
"""

from typing import Final, TypeAlias

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.server import POOL_LABELS, pools

Json: TypeAlias = dict[str, object]

PROMETHEUS: Final = {"type": "prometheus", "uid": "${datasource}"}
_HEADS: Final = {
    "num_gpu_blocks": "blocks",
    "block_size": "tokens a block",
    "kv_cache_size_tokens": "tokens",
    "cache_dtype": "type of KV",
    "enable_prefix_caching": "prefix cache",
    "gpu_memory_utilization": "share of device memory",
    "Value": "engines",
}


def pools_table(release: Release, by: tuple[str, ...], where: tuple[str, ...]) -> Json:
    """Of which sizes the pools are; a number in a label is no curve."""
    columns = (*by, *POOL_LABELS)
    text = pools(release, by=columns, where=where)
    field = {"noValue": "no engine tells its pool", "custom": {"align": "auto", "inspect": False}}
    target = {"refId": "A", "datasource": PROMETHEUS, "expr": text, "format": "table", "instant": True, "range": False}
    return {
        "type": "table",
        "title": "Pools",
        "description": "As each engine sized it when it started. With data parallelism, the blocks of all engines of "
        "a server together.",
        "transparent": False,
        "datasource": PROMETHEUS,
        "repeatDirection": "h",
        "fieldConfig": {"defaults": field, "overrides": []},
        "targets": [target],
        "transformations": [_organized((*columns, "Value"))],
    }


def _organized(columns: tuple[str, ...]) -> Json:
    """A table without the time of the query, in this order, with the words of a person above each column."""
    return {
        "id": "organize",
        "options": {
            "excludeByName": {"Time": True},
            "indexByName": {column: place for place, column in enumerate(columns)},
            "renameByName": {column: _HEADS[column] for column in columns if column in _HEADS},
        },
    }
