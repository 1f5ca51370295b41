"""A size that could not be had, explained by what asks for it; and not explained where anything would fit."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.grounds.arithmetic import (
    COMMON,
    RARE,
    Term,
    asked,
    embedding,
    expert_workspace,
    explained,
    pool_tensor,
    prompt_logprobs,
    sampler,
)
from oomph.diagnose.grounds.vocabularies import family, vocabularies
from oomph.engines.pytorch import NOTATIONS, printed
from oomph.units import GIB, MIB

rows = st.integers(min_value=128, max_value=4096)
words = st.integers(min_value=30_000, max_value=300_000)


def as_printed(size: int) -> str:
    return NOTATIONS["size"].write(asked(size))


@pytest.mark.parametrize(
    ("tried", "sequences", "vocabulary", "told"),
    [
        ("1.74 GiB", 1024, 152064, "1.74 GiB = 1024 × 152064 × 12 B: the sampler's sort for 1,024 sequences"),
        ("1.47 GiB", 1024, 128256, "1.47 GiB = 1024 × 128256 × 12 B: the sampler's sort for 1,024 sequences"),
        ("1.16 GiB", 1024, 152064, "1.16 GiB = 1024 × 152064 × 8 B: the sampler's sorted order for 1,024 sequences"),
        (
            "786.00 MiB",
            1024,
            201088,
            (
                "786.00 MiB = 1024 × 201088 × 4 B, rounded up to 2 MiB: "
                "the sampler's logits in 32 bits for 1,024 sequences"
            ),
        ),
        (
            "304.00 MiB",
            256,
            154880,
            "304.00 MiB = 256 × 154880 × 8 B, rounded up to 2 MiB: the sampler's sorted order for 256 sequences",
        ),
    ],
)
def test_what_the_sampler_asks_for_is_told_as_a_product(tried: str, sequences: int, vocabulary: int, told: str) -> None:
    match = explained(printed(tried), sampler([sequences], [vocabulary]))

    assert str(match) == told


def test_an_embedding_is_as_wide_as_the_model_and_as_long_as_its_vocabulary() -> None:
    match = explained(printed("1002.00 MiB"), embedding([128256], [4096]))

    assert str(match) == "1002.00 MiB = 128256 × 4096 × 2 B: the embedding or the head of 128,256 words"


def test_probabilities_of_a_prompt_take_six_bytes_for_every_word_of_every_token() -> None:
    match = explained(printed("6.96 GiB"), prompt_logprobs([8192], [152064]))

    assert match is not None
    assert match.term.formula == "8192 × 152064 × 6 B"


def test_experts_take_each_token_once_for_every_expert_it_goes_through() -> None:
    terms = list(expert_workspace(8192, chosen=8, inner=768, hidden=2048))

    assert [term.size for term in terms] == [8192 * 8 * width * 2 for width in (2048, 768, 1536)]
    assert explained(printed("256.00 MiB"), terms) is not None


def test_a_tensor_of_a_pool_is_its_blocks_times_its_page() -> None:
    match = explained(printed("1.56 GiB"), [pool_tensor(512, 3_268_608, tensors=17)])

    assert str(match) == "1.56 GiB = 512 blocks × 3,268,608 B: one of 17 tensors of the pool"


@pytest.mark.parametrize(
    ("size", "segment"),
    [
        (1, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 1, 20 * MIB),
        (10 * MIB - 1, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 1, 12 * MIB),
        (GIB, GIB),
    ],
)
def test_the_allocator_asks_for_whole_segments(size: int, segment: int) -> None:
    assert asked(size) == segment


@given(rows, words, st.sampled_from([4, 8, 12]))
def test_what_was_asked_for_is_found_again_however_it_was_rounded(rows: int, words: int, width: int) -> None:
    size = rows * words * width
    match = explained(printed(as_printed(size)), sampler([rows], [words]))

    assert match is not None
    assert match.term.size == size
    assert match.chance < RARE


@given(rows, words, st.lists(words, max_size=8))
def test_more_guesses_never_make_a_fit_rarer(rows: int, words: int, others: list[int]) -> None:
    tried = printed(as_printed(rows * words * 8))
    few, many = (explained(tried, sampler([rows], guesses)) for guesses in ([words], [words, *others]))

    assert few is not None
    assert many is None or many.chance >= few.chance


def test_a_figure_that_is_printed_exactly_still_stands_for_a_segment() -> None:
    match = explained(printed("786.00 MiB"), sampler([1024], [201088]))

    assert match is not None
    assert match.chance == pytest.approx(2 * 2 / (1.5 * 786), rel=0.01)  # two darts near it, each 2 MiB wide


@pytest.mark.parametrize("size", ["512.00 MiB", "1.00 GiB", "768.00 MiB", "1.75 GiB", "3.50 GiB"])
def test_a_round_size_is_less_of_a_proof_than_an_odd_one(size: str) -> None:
    tried = printed(size)
    match = explained(tried, [Term(size=int(tried.likely), formula=size, reason="exactly that")])

    assert match is not None
    assert match.chance == COMMON


def test_a_size_that_many_guesses_crowd_around_is_explained_by_none() -> None:
    crowd = [Term(size=GIB + step * 8 * MIB, formula=f"guess {step}", reason="a guess") for step in range(64)]

    assert explained(printed("1.00 GiB"), crowd[:1]) is not None
    assert explained(printed("1.00 GiB"), crowd) is None


def test_a_size_that_three_different_things_have_is_explained_by_none() -> None:
    terms = [Term(size=GIB, formula="1 GiB", reason=reason) for reason in ("one", "another", "a third")]

    assert explained(printed("1.00 GiB"), terms[:2]) is not None
    assert explained(printed("1.00 GiB"), terms) is None


def test_small_tensors_share_segments_and_explain_nothing() -> None:
    assert explained(printed("20.00 MiB"), sampler([4], [152064])) is None
    assert explained(printed("2.00 MiB"), [Term(size=2000, formula="2000 B", reason="anything")]) is None


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Qwen/Qwen2.5-32B-Instruct-AWQ", 152064),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 152064),
        ("deepseek-ai/DeepSeek-R1", 129280),
        ("meta-llama/Llama-3.1-8B-Instruct", 128256),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", 128256),
        ("cyankiwi/Qwen3.6-27B-AWQ-INT4", 248320),
        ("openai/gpt-oss-120b", 201088),
    ],
)
def test_a_name_tells_its_family_and_that_its_vocabulary(name: str, first: int) -> None:
    assert vocabularies(name)[0] == first


def test_a_name_that_tells_nothing_leaves_all_vocabularies_open() -> None:
    everything = vocabularies(None)

    assert vocabularies("someone/something-7b") == everything
    assert len(everything) == len(set(everything)) > 20
    assert set(chain.from_iterable(vocabularies(family(size)) for size in everything)) >= {152064, 128256, 32000}
