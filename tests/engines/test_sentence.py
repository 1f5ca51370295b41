import pytest

from oomph.engines.history import span
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.notation import NOTATIONS
from oomph.units import GIB, Bounds


def sentence(template: str) -> Sentence:
    return Sentence(name="test", template=template, span=span("0.6.0"), notations=NOTATIONS)


def test_figures_are_read_as_what_they_may_have_been() -> None:
    said = sentence("took {size:gib2} GiB and {seconds:s6} s").read("INFO x.py:1] took 14.99 GiB and 3.140000 seconds")

    assert said is not None
    assert said["seconds"] == 3.14
    assert isinstance(said["size"], Bounds)
    assert 16_060_522_496 + (32 << 20) in said["size"]  # the weights of Llama 3 8B and its rope cache


def test_a_sentence_that_is_not_there_is_not_read() -> None:
    assert sentence("took {size:gib2} GiB").read("took 15 GiB") is None


def test_what_stands_around_the_gaps_is_taken_literally() -> None:
    odd = sentence("(a+b) = {blocks:whole} [x]")

    assert odd.read("(a+b) = 12 [x]") == {"blocks": 12}
    assert odd.read("aab = 12 x") is None


def test_a_notation_that_the_engine_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="furlong"):
        sentence("{length:furlong}")


def test_a_sentence_is_written_as_the_engine_prints_it() -> None:
    pool = sentence("Available KV cache memory: {size:gib} GiB")

    assert pool.write(size=int(7.5 * GIB)) == "Available KV cache memory: 7.5 GiB"
