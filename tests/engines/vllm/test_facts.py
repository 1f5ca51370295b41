"""Every release that was read has an answer to every question of the tables."""

import pytest

from oomph.engines.history import Release, Since, release
from oomph.engines.vllm import facts
from oomph.engines.vllm.lines import spoken
from oomph.engines.vllm.metrics import shown
from oomph.engines.vllm.releases import HISTORY


@pytest.mark.parametrize("known", HISTORY.releases, ids=str)
def test_share_graphs_profile_pool_sentences_and_metrics_are_known(known: Release) -> None:
    share = facts.share.at(known)
    charged = facts.graphs_charged.at(known)
    blocks = facts.graph_profile_blocks.at(known)(sequences=16, largest_capture=32)
    metrics = {metric.scraped for metric in shown(known)}

    assert share in {0.90, 0.92}
    assert (charged is None) is (blocks is None)
    assert blocks in {None, 16, 32}
    assert spoken("blocks", known) or spoken("tokens", known)
    assert {"vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"} & metrics


@pytest.mark.parametrize(
    ("text", "share", "charged", "blocks"),
    [
        ("0.17.1", 0.90, None, None),
        ("0.18.0", 0.90, False, 512),
        ("0.19.1", 0.90, False, 512),
        ("0.20.0", 0.92, True, 512),
        ("0.26.0", 0.92, True, 256),
        ("0.32.0", 0.92, True, 256),
    ],
)
def test_what_came_together_in_0_18_0_0_20_0_and_0_26_0(
    text: str, share: float, charged: object, blocks: int | None
) -> None:
    asked = release(text)

    assert facts.share.at(asked) == share
    assert facts.graphs_charged.at(asked) is charged
    assert facts.graph_profile_blocks.at(asked)(sequences=256, largest_capture=512) == blocks


def test_every_table_begins_no_later_than_the_engine_that_it_speaks_of() -> None:
    tables = {name: table for name, table in vars(facts).items() if isinstance(table, Since)}
    late = {name for name, table in tables.items() if next(iter(table))[0] != HISTORY.first}

    assert len(tables) > 15
    assert late == {"group_padding"}  # groups came with 0.9.1
