"""Drivers that are old, broken, lying or hung: a probe says so and goes on."""

import json
from pathlib import Path

import pytest

from hardware.machine import Machine, machine, probed

MIB = 1 << 20
CARD = "gpu NVIDIA L4\n  total 23034MiB\n  reserved 343MiB\n  used 100MiB\n  capability 8.9\n"


def made(text: str, folder: Path) -> Machine:
    return machine(text + "\n", folder)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (9, "installed but not loaded"),
        (4, "may not open the driver's devices"),
        (18, "updated under a running kernel module"),
        (999, "does not answer"),
        (20, "NVML does not start: "),
    ],
)
def test_nvml_that_does_not_start_says_why(code: int, words: str, tmp_path: Path) -> None:
    answer = probed(made(f"init {code}\n{CARD}", tmp_path))

    assert answer["gpus"] == []
    assert words in json.dumps(answer["notes"])


def test_an_old_driver_counts_what_is_reserved_as_used(tmp_path: Path) -> None:
    old = (
        "  fails nvmlDeviceGetMemoryInfo_v2 13\n  fails nvmlDeviceGetComputeRunningProcesses_v3 13\n  process 9 1MiB\n"
    )
    answer = probed(made(CARD + old, tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["total"], gpu["used"], gpu["reserved"]) == (23034 * MIB, 443 * MIB, None)
    assert gpu["listed"] is True
    assert [(each["pid"], each["own_namespace"]) for each in gpu["processes"]] == [(9, False)]
    assert answer["notes"] == []


def test_sizes_that_no_card_has_are_not_believed(tmp_path: Path) -> None:
    answer = probed(made(CARD.replace("used 100MiB", "used 18446744073707737660"), tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["total"], gpu["used"]) == (23034 * MIB, None)
    assert answer["notes"] == ["GPU 0: memory: the driver gives sizes that no card has"]


def test_a_process_whose_memory_is_not_told_holds_an_unknown_amount(tmp_path: Path) -> None:
    (gpu,) = probed(made(CARD + "  process 9 -\n", tmp_path))["gpus"]

    assert [each["holds"] for each in gpu["processes"]] == [None]


def test_a_process_that_computes_and_draws_is_listed_once(tmp_path: Path) -> None:
    (gpu,) = probed(made(CARD + "  process 9 5MiB graphics\n  process 9 7MiB\n", tmp_path))["gpus"]

    assert [(each["holds"], each["graphics"]) for each in gpu["processes"]] == [(7 * MIB, False)]


def test_a_card_that_is_gone_before_it_is_asked_has_only_an_error(tmp_path: Path) -> None:
    answer = probed(made(f"{CARD}  lost 0\n{CARD}", tmp_path))
    gone, well = answer["gpus"]

    assert (gone["error"], gone["name"], gone["index"]) == ("GPU is lost", None, 0)
    assert (well["error"], well["total"]) == (None, 23034 * MIB)


def test_a_card_that_is_lost_after_its_memory_was_read_keeps_it_and_says_so_once(tmp_path: Path) -> None:
    answer = probed(made(f"{CARD}  process 9 1MiB\n  lost 5\n", tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["total"], gpu["error"], gpu["listed"]) == (23034 * MIB, "GPU is lost", False)
    assert answer["notes"] == ["GPU 0: its processes: GPU is lost"]


def test_a_card_whose_memory_may_not_be_read_is_an_error_and_not_an_empty_card(tmp_path: Path) -> None:
    denied = "  fails nvmlDeviceGetMemoryInfo_v2 4\n  fails nvmlDeviceGetMemoryInfo 4\n"
    answer = probed(made(CARD + denied, tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["total"], gpu["error"]) == (None, "Insufficient Permissions")
    assert answer["notes"] == ["GPU 0: memory: Insufficient Permissions"]


def test_a_card_whose_driver_tells_no_memory_is_not_taken_for_a_shared_one(tmp_path: Path) -> None:
    answer = probed(made(CARD + "  memory 0\n", tmp_path))
    (gpu,) = answer["gpus"]

    assert (gpu["total"], gpu["unified"]) == (None, False)
    assert answer["notes"] == ["GPU 0: memory: the driver does not tell it"]


def test_what_a_virtual_machine_and_a_coherent_card_say_of_themselves(tmp_path: Path) -> None:
    (gpu,) = probed(made(CARD + "  virtual 2\n  addressing 2\n", tmp_path))["gpus"]

    assert (gpu["virtual"], gpu["coherent"], gpu["unified"]) == ("vgpu", True, False)


def test_a_name_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    (gpu,) = probed(made(CARD.replace("NVIDIA L4", "L4\x1b]0;owned\x07"), tmp_path))["gpus"]

    assert gpu["name"] == "L4 ]0;owned"


def test_a_card_too_full_for_a_context_says_so(tmp_path: Path) -> None:
    answer = probed(made(CARD + "  cuda_refuses 2\n", tmp_path), context=True)
    (gpu,) = answer["gpus"]

    assert gpu["seen"] is None
    assert answer["notes"] == ["CUDA: card 0: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY"]


def test_a_driver_that_takes_the_process_down_takes_only_the_one_that_asks(tmp_path: Path) -> None:
    answer = probed(made(f"cuda_init -1\n{CARD}", tmp_path), context=True)
    (gpu,) = answer["gpus"]

    assert gpu["total"] == 23034 * MIB
    assert answer["notes"] == ["CUDA: broke off while a context was opened (status -6)"]


def test_a_driver_that_hangs_is_given_up(tmp_path: Path) -> None:
    there = made(CARD + "  cuda_hangs 1\n", tmp_path)
    program = (
        "from oomph.readers.context import with_context; from oomph.readers.nvml import read_nvidia; "
        "print(*with_context(read_nvidia(), patience=1).notes)"
    )

    assert there.run("-c", program).stdout == "CUDA: no context was opened within 1 s\n"


def test_cards_that_this_process_may_not_use_are_not_asked_by_cuda(tmp_path: Path) -> None:
    there = made(CARD + CARD, tmp_path)
    first, second = probed(there, context=True, CUDA_VISIBLE_DEVICES="1")["gpus"]

    assert first["seen"] is None
    assert second["seen"]["total"] == (23034 - 343) * MIB


def test_without_the_client_of_nvml_there_is_a_note(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pynvml'] = None; from oomph.readers.probe import probe; print(*probe().notes)"

    assert (
        made(CARD, tmp_path).run("-c", program).stdout == "NVIDIA: the Python package nvidia-ml-py is not installed\n"
    )


def test_asking_the_driver_imports_nothing_from_where_we_stand(tmp_path: Path) -> None:
    there = made(CARD, tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "uuid.py").write_text("raise SystemExit(7)\n")
    program = (
        "from oomph.readers.context import with_context; from oomph.readers.nvml import read_nvidia; import os; "
        f"cards = read_nvidia(); os.chdir({str(tmp_path / 'here')!r}); print(*with_context(cards).notes, 'well')"
    )

    assert there.run("-c", program).stdout == "well\n"
