"""Every wording of every release is written with known figures and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.history import Release, release
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.lines import SENTENCES, spoken
from oomph.engines.vllm.notation import NOTATIONS
from oomph.engines.vllm.releases import HISTORY
from oomph.units import GIB, Bounds

SIZES = st.integers(0, 1 << 42)


def fixed(decimals: int) -> st.SearchStrategy[float]:
    return st.integers(0, 10**6).map(lambda number: round(number / 10**decimals, decimals))


FIGURES: dict[str, st.SearchStrategy[object]] = {
    **dict.fromkeys(("gib", "gib2", "gib4", "mib2", "raw_gib", "bytes"), SIZES),
    **dict.fromkeys(("whole", "count"), st.integers(0, 10**12)),
    "share": st.floats(0.01, 1.0),
    **{f"f{decimals}": fixed(decimals) for decimals in (1, 2, 4)},
    **{f"s{decimals}": fixed(decimals) for decimals in (0, 2, 6)},
    **dict.fromkeys(("word", "words", "rest"), st.from_regex(r"[A-Za-z0-9_=]{1,20}", fullmatch=True)),
}


@given(st.sampled_from(SENTENCES), st.data())
def test_what_was_written_is_read_back(sentence: Sentence, data: st.DataObject) -> None:
    kinds = {name: next(key for key, known in NOTATIONS.items() if known is gap) for name, gap in sentence.gaps.items()}
    figures = {name: data.draw(FIGURES[kind], label=name) for name, kind in kinds.items()}
    said = sentence.read(f"(EngineCore_DP0 pid=7) INFO 11-15 01:02:03 [x.py:1] {sentence.write(**figures)}")

    assert said is not None
    for name, figure in figures.items():
        read = said[name]
        if isinstance(read, Bounds):
            assert figure in read
        elif name == "device" and kinds[name] == "words":
            assert str(read).endswith(str(figure))  # a leading gap takes what stands before the sentence too
        else:
            assert read == figure


def test_every_notation_is_tried() -> None:
    assert set(FIGURES) == set(NOTATIONS)


@pytest.mark.parametrize("known", HISTORY.releases, ids=str)
@pytest.mark.parametrize("name", ["weights", "no pool"])
def test_every_release_says_what_the_weights_took_and_that_there_is_no_pool(name: str, known: Release) -> None:
    assert spoken(name, known)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("0.6.0", {"# GPU blocks: 1, # CPU blocks: 2"}),
        ("0.9.0", {"# cuda blocks: 1, # CPU blocks: 2", "GPU KV cache size: 81,920 tokens"}),
        ("0.19.1", {"GPU KV cache size: 81,920 tokens"}),
        ("0.28.0", {"GPU KV cache size: 81,920 tokens, Maximum concurrency for 32,768 tokens per request: 2.50x"}),
        ("0.32.0", {"GPU KV cache size: 81,920 tokens, Maximum concurrency for 32,768 tokens per request: 2.50x"}),
    ],
)
def test_the_size_of_the_pool_is_said_in_the_words_of_the_release(text: str, sentences: set[str]) -> None:
    asked = release(text)
    device = "cuda" if text == "0.9.0" else "GPU"
    written = {
        sentence.write(blocks=1, swapped=2, device=device, tokens=81920, length=32768, times=2.5)
        for name in ("blocks", "tokens")
        for sentence in spoken(name, asked)
    }

    assert written == sentences


def test_the_refusal_of_one_request_gives_both_sides() -> None:
    (refusal,) = spoken("pool below request", release("0.32.0"))
    said = refusal.read(refusal.write(length=131072, needed=16 * GIB, size=round(9.37 * GIB)))

    assert said is not None
    assert said["length"] == 131072
    assert isinstance(said["needed"], Bounds)
    assert said["needed"].likely == 16 * GIB
