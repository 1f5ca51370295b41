"""No test sees what the user of this machine has learned."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _nothing_learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OOMPH_DATA", str(tmp_path_factory.mktemp("data") / "of-nobody"))
        yield
