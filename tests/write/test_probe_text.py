from dataclasses import replace

from hardware.probes import gpu, machine_of
from oomph.diagnose.machine.judgement import judge
from oomph.engines.history import release
from oomph.ledger.probe import Host, Probe, Process
from oomph.units import GIB, MIB, Bytes
from oomph.write.probe_text import probe_text
from oomph.write.span import ascii_only

ORPHAN = Process(
    pid=3100,
    name="VLLM::EngineCore",
    holds=Bytes(19 * GIB),
    parent=1,
    parent_name="systemd",
    own_namespace=True,
)
MACHINE = replace(
    machine_of(gpu(processes=(ORPHAN,)), host=Host(total=Bytes(64 * GIB), shm_total=Bytes(64 * MIB))),
    driver="570.133.20",
    cuda="12.8",
    notes=("something could not be read",),
)
# Worked by hand: 24576 - 437 = 24139 MiB are 23.57 GiB; less 19 GiB, 4683 MiB are 4.57 GiB.
TEXT = """\
cuda:0 (NVIDIA GeForce RTX 3090): 4.57 GiB of 23.57 GiB free; vLLM 0.19.1
refuses its default share of 0.9; 0.16 passes.

cuda:0   RO╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳··········│  4.57 GiB free
R reserved 437.00 MiB  O orphans 19.00 GiB  · free 4.57 GiB

held by
  cuda:0   19.00 GiB  VLLM::EngineCore, pid 3100, an engine whose server is gone

orphan-engine on cuda:0
  VLLM::EngineCore (pid 3100) holds 19.00 GiB: an engine whose server is gone,
  so nobody will stop it; a lower share only shrinks the new engine around it
  do   kill 3100

what vLLM will believe, and who says it
  cuda:0   total 23.57 GiB, from NVML (24.00 GiB less 437.00 MiB reserved)
           3.94 GiB to 4.32 GiB free when it looks, its own context open by
           then; from NVML, 4.57 GiB now
           0.9 of the total is 21.22 GiB; the largest share that surely passes
           is 0.16, 0.17 likely does

host
  memory   64.00 GiB
  shared   64.00 MiB, in /dev/shm
  driver   570.133.20, CUDA up to 12.8

notes
  - something could not be read
"""


def told(probe: Probe, width: int = 80) -> str:
    return probe_text(probe, judge(probe, release("0.19.1")), width=width)


def test_an_orphan_is_told_answer_first() -> None:
    assert told(MACHINE) == TEXT


def test_a_terminal_that_knows_only_ascii_loses_nothing() -> None:
    plain = ascii_only(told(MACHINE))

    assert plain.isascii()
    assert "?" not in plain
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in told(MACHINE).splitlines()]


def test_a_name_that_would_move_the_cursor_is_written_out() -> None:
    hostile = replace(ORPHAN, name="\x1b[2Jboo")
    text = told(machine_of(gpu(processes=(hostile,))))

    assert "\x1b" not in text
    assert "boo" in text
