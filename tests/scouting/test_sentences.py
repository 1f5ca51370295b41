from collections.abc import Callable

import pytest

from scouting.sentences import sentences
from scouting.source import Package

Write = Callable[[dict[str, str]], Package]


def said(write: Write, text: str) -> set[tuple[str, str]]:
    package = write({"v1/worker/gpu_worker.py": text})
    return {(sentence.said, sentence.text) for sentence in sentences(package, ("v1/worker/*.py",))}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('logger.info("Available: %.2f " "GiB", x)', ("info", "Available: %.2f GiB")),
        ('logger.warning_once("Padding %d", x)', ("warning", "Padding %d")),
        ('logger.log(logging.INFO, "Levelled line")', ("log", "Levelled line")),
        ('raise ValueError(f"Free {a:.2f} of {b}")', ("ValueError", "Free {} of {}")),
        ('assert a > b, f"Error: {a}"', ("assert", "Error: {}")),
        ('for x in tqdm(xs, desc="Capturing shapes"):\n    pass', ("progress", "Capturing shapes")),
        ('bar = tqdm(xs, desc=f"Capturing ({m})") if r else xs', ("progress", "Capturing ({})")),
        ('logger.info("one " + two + " three")', ("info", "one {} three")),
        ('logger.info("old %s style" % x)', ("info", "old %s style")),
        ('logger.info("left side" if x else "right side")', ("info", "right side")),
        ('parts = ["Running: %d reqs"]', ("part", "Running: %d reqs")),
        ('log_parts.append("Preemptions: %d")', ("part", "Preemptions: %d")),
        ('log_parts.extend(["Usage: %.1f"])', ("part", "Usage: %.1f")),
    ],
)
def test_each_way_of_saying_is_heard(write: Write, source: str, expected: tuple[str, str]) -> None:
    assert expected in said(write, source)


def test_a_message_is_followed_through_its_variable(write: Write) -> None:
    source = """
        def load():
            msg = "Failed to load model."
            combined = f"{msg} (original error: {e})"
            logger.error(combined)
    """

    assert said(write, source) == {("error", "Failed to load model. (original error: {})")}


def test_a_message_variable_means_nothing_in_another_function(write: Write) -> None:
    source = """
        def one():
            msg = "said by one"

        def other(msg):
            logger.info(msg)
    """

    assert said(write, source) == set()


def test_a_message_made_of_itself_comes_to_an_end(write: Write) -> None:
    source = """
        def one():
            text = "long text"
            text = text.strip()
            logger.info(text)
    """

    assert said(write, source) == {("info", "long text")}


def test_a_logger_under_another_name_is_heard(write: Write) -> None:
    source = """
        def log(self):
            log_fn = logger.debug if idle else logger.info
            log_fn("Avg prompt throughput: %.1f", x)
    """

    assert said(write, source) == {("debug", "Avg prompt throughput: %.1f")}


def test_what_an_object_says_of_itself_is_heard(write: Write) -> None:
    source = """
        class Result:
            def __repr__(self):
                return f"Memory profiling takes {self.time:.2f} seconds."
    """

    assert said(write, source) == {("repr", "Memory profiling takes {} seconds.")}


def test_only_the_files_asked_for_are_heard(write: Write) -> None:
    package = write({"v1/worker/a.py": 'logger.info("heard here")', "benchmarks/b.py": 'logger.info("not here")'})

    assert [sentence.file for sentence in sentences(package, ("v1/worker/*.py",))] == ["v1/worker/a.py"]
