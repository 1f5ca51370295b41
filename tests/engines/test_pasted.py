"""Lines as people paste them."""

import textwrap
import time

from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.pasted import in_time, joined, straightened

TOO_LITTLE = (
    "ValueError: Free memory on device cuda:0 (30.12/31.84 GiB) on startup is less than desired GPU memory "
    "utilization (0.95, 30.25 GiB)."
)


def numbered(*lines: str) -> list[tuple[int, str]]:
    return list(enumerate(lines, 1))


def test_a_sentence_broken_between_words_is_whole_again() -> None:
    broken = numbered("INFO 1", *textwrap.wrap(TOO_LITTLE, 70), "INFO 2")
    whole = list(joined(broken))

    assert [number for number, _ in whole] == [1, 2, 4]
    assert whole[1][1].split() == TOO_LITTLE.split()


def test_a_sentence_broken_inside_a_word_is_whole_again() -> None:
    text = (
        "ValueError: To serve at least one request with the model's max seq len (100000), (4.26 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (4.25 GiB)."
    )
    at = text.index("KV cach") + len("KV cach")

    assert list(joined(numbered(text[:at], text[at:]))) == [(1, text)]


def test_lines_that_begin_anew_are_left_alone() -> None:
    lines = numbered(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.",
        "(Worker_TP0 pid=1) ERROR 04-24 10:22:36 [core.py:1108] Traceback (most recent call last):",
        "CUDA out of memory. Tried to allocate 2.00 GiB.",
        '  File "a.py", line 3, in f',
        "CUDA out of memory. Tried to allocate 3.00 GiB.",
        "qwen3-1  | INFO:     Started server process [1]",
    )

    assert list(joined(lines)) == lines


def test_nothing_is_added_to_what_was_said_to_the_end() -> None:
    good = "Maximum concurrency for 200 tokens per request: 946.88x"
    bad = "ValueError: No available memory for the cache blocks."
    lines = numbered(good, "Segmentation fault (core dumped)", bad, "Aborted (core dumped)")

    assert list(joined(lines)) == lines


def test_a_line_that_was_left_out_between_is_not_jumped_over() -> None:
    lines = [(3, "Error in memory profiling. Initial free memory 82.94 GiB,"), (9, "current free memory 90.17 GiB.")]

    assert list(joined(lines)) == lines


def test_a_log_that_begins_with_the_newest_line_is_turned_around() -> None:
    newest_first = numbered(*(f"INFO 02-03 03:43:{second:02} [a.py:1] said" for second in range(40, 10, -1)))

    assert [number for number, _ in in_time(newest_first)] == list(range(30, 0, -1))


def test_a_journal_that_begins_with_the_newest_line_is_turned_around() -> None:
    lines = numbered(*(f"Apr 24 10:22:{second:02} host vllm[1]: said" for second in range(30, 20, -1)))

    assert list(in_time(lines)) == lines[::-1]


def test_an_error_before_the_one_line_that_led_to_it_is_turned_around() -> None:
    lines = numbered(
        "2024-02-03 03:44:03 Error: CUDA out of memory.", "INFO 02-03 03:43:49 model_runner.py:625] Capturing"
    )

    assert list(in_time(lines)) == lines[::-1]


def test_ranks_whose_clocks_differ_by_a_second_turn_nothing_around() -> None:
    clocks = [10, 11, 10, 12, 11, 13, 12, 14]
    lines = numbered(*(f"(Worker_TP{at % 2} pid=1) INFO 02-03 03:43:{at} [a.py:1] said" for at in clocks))

    assert list(in_time(lines)) == lines


def test_one_step_back_is_another_attempt_and_turns_nothing_around() -> None:
    lines = numbered(
        "INFO 03-13 09:07:24 [a.py:1] x", "INFO 03-13 09:00:43 [a.py:1] y", "INFO 03-13 09:00:43 [a.py:1] z"
    )

    assert list(in_time(lines)) == lines


def test_what_is_held_of_a_log_that_is_turned_around_is_bounded() -> None:
    endless = (
        (number, f"INFO 02-03 23:{59 - number // 60 % 60:02}:{59 - number % 60:02} x") for number in range(200_000)
    )

    assert len(list(in_time(endless))) < 50_000


@given(st.lists(st.text(max_size=80), max_size=40))
def test_no_line_is_lost(lines: list[str]) -> None:
    given_lines, found = numbered(*lines), list(straightened(numbered(*lines)))

    assert {number for number, _ in found} <= {number for number, _ in given_lines}
    assert sum(len(text.split()) for _, text in found) >= 0
    assert len(found) <= len(given_lines)


def test_endless_beginnings_take_no_endless_time() -> None:
    lines = numbered(*["CUDA out of memory. Tried to allocate and so on", "more of it"] * 20_000)
    begun = time.process_time()

    assert len(list(joined(lines))) >= 20_000
    assert time.process_time() - begun < 20
