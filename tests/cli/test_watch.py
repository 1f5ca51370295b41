"""`oomph watch` as it is typed: what it refuses; and what it remembers of this machine."""

import pytest

from oomph.cli.main import main
from oomph.ledger.memory import Memory
from oomph.live.watch import Watch
from oomph.units import GIB, Bytes


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["not an address"], "not the address of an engine: 'not an address'"),
        (["a:1", "--interval", "0.1"], "--interval is 0.5 to 3600 seconds"),
        (["a:1", "--interval", "nan"], "--interval is 0.5 to 3600 seconds"),
        (["a:1", "--for", "-1"], "--for at most 2678400"),
        (["@/nowhere/fleet"], "cannot be read: No such file"),
    ],
)
def test_what_cannot_be_watched_is_wrong_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", *words]) == 2
    assert said in capsys.readouterr().err


def test_nobody_there_is_cannot_tell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "127.0.0.1:1", "--once"]) == 3
    assert "endpoint-unreachable  127.0.0.1:1\n    Connection refused, at this look" in capsys.readouterr().out


def test_a_device_that_fills_slowly_is_found_and_stays_found_however_long_it_is_watched() -> None:
    watching, found = Watch((), interval=5.0), []
    for look in range(2_880):  # four hours
        used = Bytes(20 * GIB + look * GIB // 360)  # two GiB an hour
        watching.see((Memory(at=5.0 * look, index=0, name="x", total=Bytes(80 * GIB), used=used),))
        found.append(bool(watching.fleet().notices))

    begin = found.index(True)
    assert begin < 720  # within the first hour
    assert all(found[begin:])
