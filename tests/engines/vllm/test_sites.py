"""Which statement a line of the log comes from."""

import pytest

from oomph.engines.vllm.sites import Site, site


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("core.py:1136", Site.STARTING),
        ("core.py:1138", Site.RUNNING),
        ("multiproc_executor.py:870", Site.LOADING),
        ("multiproc_executor.py:962", Site.CALLED),
        ("core.py:1", None),
        ("gpu_worker.py:1136", None),
        ("", None),
    ],
)
def test_a_place_tells_what_the_speaker_was_doing(place: str, expected: Site | None) -> None:
    assert site(place) is expected


def test_a_place_that_is_two_things_in_two_releases_tells_nothing() -> None:
    # 0.8.4 hits an exception where 0.8.5 would; 0.9.2 fails to start where 0.9.0 does: both are one thing.
    assert site("multiproc_executor.py:487") is Site.LOADING
    # 718 starts in 0.10.2; 708 + 2 runs in 0.11.0.
    assert site("core.py:710") is Site.RUNNING
    assert site("core.py:718") is Site.STARTING
