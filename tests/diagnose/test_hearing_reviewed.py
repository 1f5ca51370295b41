"""What a reviewer's logs were misread as, and must not be again."""

import time
from pathlib import Path

import pytest

from diagnose.logs import CORE, OVERFLOW, POOL, SERVER, UP, WEIGHTS, case, traced
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.explain import Outcome, explain, outcome
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.hearing.hints import FIRST_HINTS, hints
from oomph.engines.history import release
from oomph.engines.pasted import straightened
from oomph.engines.unwrap import unwrapped
from oomph.engines.vllm.sites import Site, release_at, site
from oomph.ledger.observation import Quantity
from oomph.readers.log import read_log
from oomph.units import GIB

SERVES = '(APIServer pid=1) INFO:     10.0.0.4:51000 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
REFUSED = (
    "ValueError: Free memory on device cuda:0 (5.12/23.64 GiB) on startup is less than desired GPU memory utilization "
    "(0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)


def verdict(found: Case) -> Outcome:
    return outcome(found, explain(found))


@pytest.mark.parametrize(
    "said",
    ["ValueError: meeting room 'A-12' not found", "KeyError: 'zoom_level'", "KeyError: 'chatroom'", "KeyError: 'oom'"],
)
def test_a_room_is_no_failure_and_names_no_engine(said: str) -> None:
    found = case("Traceback (most recent call last):", '  File "/app/main.py", line 3, in <module>', said)

    assert (verdict(found), found.engine) == (Outcome.NO_MEMORY_FAILURE, None)


@pytest.mark.parametrize("said", ["RuntimeError: worker hit OOM", "RuntimeError: cannot allocate memory"])
def test_a_failure_that_no_rule_knows_is_still_one(said: str) -> None:
    assert verdict(case("Traceback (most recent call last):", said)) is not Outcome.NO_MEMORY_FAILURE


def test_a_number_of_another_release_does_not_say_that_it_was_starting() -> None:
    core = CORE.replace("core.py:936", "core.py:1140")  # of 0.21.0: EngineCore failed to start.
    told = traced(":run_busy_loop", "v1/worker/gpu_worker.py:execute_model", prefix=core)

    assert case(SERVER.format(release="0.20.0"), WEIGHTS, POOL, UP, *told).phase is Phase.SERVING_PREFILL
    assert case(f"{core}EngineCore encountered a fatal error.", *told).phase is Phase.SERVING_PREFILL
    assert case(*told).phase is Phase.SERVING_PREFILL  # the frames alone


def test_a_number_counts_for_its_own_release_or_where_none_is_known() -> None:
    assert site("core.py:1140") is Site.STARTING
    assert site("core.py:1140", release("0.21.0")) is Site.STARTING
    assert site("core.py:1140", release("0.20.0")) is None
    assert site("core.py:1138", release("0.20.2")) is Site.RUNNING
    assert site("core.py:1140", release("0.6.0")) is None


@pytest.mark.parametrize(
    ("places", "known"),
    [
        (["core.py:1108"], "0.19.1"),
        (["core.py:1110", "llm.py:3"], "0.19.1"),
        (["multiproc_executor.py:870"], None),  # 0.20.0 up to 0.22.1
        (["multiproc_executor.py:870", "core.py:1140"], "0.21.0"),
        (["core.py:1108", "core.py:936"], None),
        (["core.py:1"], None),
        ([], None),
    ],
)
def test_a_release_is_inferred_only_up_to_a_patch(places: list[str], known: str | None) -> None:
    found = release_at(places)

    assert (None if found is None else str(found)) == known


def test_an_inferred_release_is_said_to_be_one_and_gives_way() -> None:
    core = CORE.replace("core.py:936", "core.py:1108")
    told = traced(":profile_cudagraph_memory", prefix=core)
    found, named = case(*told), case(SERVER.format(release="0.18.0"), *told)

    assert str(found.release) == "0.19.1"
    assert any("inferred" in note and "core.py:1108" in note for note in found.notes)
    assert (str(named.release), named.notes) == ("0.18.0", ())


def test_where_no_release_can_be_inferred_it_is_asked_for() -> None:
    core = CORE.replace("core.py:936", "core.py:7")
    args = "(APIServer pid=1) INFO 07-02 09:00:01 [utils.py:233] non-default args: {'model': 'a/b'}"
    (root, *_) = explain(case(args, WEIGHTS, *traced(":profile_cudagraph_memory", prefix=core)))

    assert any("--release" in words for words in root.missing)


@pytest.mark.parametrize("beside", ["while reading /dev/shm/models/a", "(pinned memory is unused, error)"])
def test_a_device_that_ran_out_is_no_host_whatever_stands_beside(beside: str) -> None:
    said = f"ValueError: Failed to load model - not enough GPU memory. (original error: {OVERFLOW} {beside})"

    assert case(SERVER.format(release="0.20.0"), CORE + said).phase is Phase.LOAD


def test_a_start_up_that_serves_after_one_that_failed_is_healthy_and_names_the_failure() -> None:
    failed = (SERVER.format(release="0.20.0"), CORE + REFUSED)
    found = case(*failed, SERVER.format(release="0.20.0"), WEIGHTS, POOL, UP, SERVES)

    assert verdict(found) is Outcome.NO_MEMORY_FAILURE
    assert any("line 2: ValueError: Free memory" in note for note in found.notes)
    assert verdict(case(*failed, SERVER.format(release="0.20.0"), WEIGHTS)) is not Outcome.NO_MEMORY_FAILURE


@pytest.mark.parametrize("prefix", ["", "(APIServer pid=1) INFO 07-02 09:05:02 [logger.py:40] "])
def test_a_prompt_that_quotes_a_failure_is_none(prefix: str) -> None:
    request = '(APIServer pid=1) INFO 07-02 09:05:02 [logger.py:40] Received request c-2: prompt: "explain this:'
    up = (SERVER.format(release="0.20.0"), WEIGHTS, POOL, UP)
    quoted = (request, prefix + OVERFLOW, prefix + 'thanks", params: SamplingParams(n=1)')

    assert verdict(case(*up, *quoted, SERVES)) is Outcome.NO_MEMORY_FAILURE
    failing = case(*up, *quoted, SERVES, *traced(":run_busy_loop", ":execute_model"))
    assert failing.failure is not None
    assert failing.failure.said.line > len(up) + len(quoted)


def test_seconds_however_they_are_written_do_not_hide_a_size() -> None:
    for seconds in ("5", "5.0", "5.012345"):
        size = case(WEIGHTS.replace("10.990096", seconds)).size(Quantity.WEIGHTS)
        assert size is not None
        assert round(size.likely / GIB, 2) == 18.47


def test_an_account_told_in_lines_is_one_piece_of_evidence() -> None:
    broken = OVERFLOW.replace(". ", ".\n  ").split("\n")
    found = case(*broken)

    assert found.failure is not None
    assert found.failure.said.text == OVERFLOW


WHOLE = [
    SERVER.format(release="0.19.1"),
    WEIGHTS,
    POOL,
    UP,
    *traced(":run_busy_loop", "v1/worker/gpu_model_runner.py:_get_prompt_logprobs_dict"),
]


@pytest.mark.parametrize("width", [72, 80, 100, 120])
@pytest.mark.parametrize("trimmed", [False, True])
def test_a_log_cut_at_a_width_is_whole_again(width: int, *, trimmed: bool) -> None:
    cut = [line[at : at + width] for line in WHOLE for at in range(0, len(line), width)]
    cut = [line.rstrip() if trimmed else line for line in cut]
    whole = [text for _, text in straightened(enumerate(cut, 1))]

    assert whole == WHOLE
    assert case(*cut).phase is case(*WHOLE).phase


def test_a_log_that_was_not_cut_stays_as_it_is() -> None:
    numbered = list(enumerate([*WHOLE, *WHOLE, *WHOLE, *WHOLE], 1))

    assert list(unwrapped(numbered)) == numbered


def test_a_line_of_fifty_megabytes_takes_no_longer_than_others(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'File "a", line 1, in x ' * 2_200_000 + b"\n" + OVERFLOW.encode())
    begin = time.process_time()
    found = case_of(read_log(str(path), hints=hints(), first_hints=FIRST_HINTS, after=2, ends=True))

    assert time.process_time() - begin < 3
    assert found.size(Quantity.TRIED) is not None
