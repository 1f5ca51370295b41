"""Who guesses ahead, as vLLM tells it from flags."""

import pytest

from oomph.engines.vllm.speculation import Guesser, Speculation, speculation
from oomph.errors import UsageError
from oomph.ledger.settings import Flags, Value


@pytest.mark.parametrize(
    ("flags", "guesser"),
    [
        ({}, Guesser.NOBODY),
        ({"speculative_config": '{"method": "mtp", "num_speculative_tokens": 1}'}, Guesser.OWN_LAYERS),
        ({"speculative_config": '{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}'}, Guesser.OWN_LAYERS),
        ({"spec_method": "eagle", "spec_model": "a/b", "spec_tokens": 2}, Guesser.HEAD),
        ({"speculative_config": '{"model": "a/EAGLE3-b", "num_speculative_tokens": 2}'}, Guesser.HEAD),
        ({"speculative_config": '{"model": "a/b-0.5B", "num_speculative_tokens": 2}'}, Guesser.MODEL),
        ({"speculative_model": "[ngram]", "num_speculative_tokens": 4}, Guesser.TEXT),
        ({"speculative_config": '{"method": "suffix", "num_speculative_tokens": 8}'}, Guesser.TEXT),
    ],
)
def test_the_guesser_is_told_by_method_or_by_name(flags: dict[str, Value], guesser: Guesser) -> None:
    found = speculation(Flags(flags))

    assert found.guesser is guesser
    assert found.by_own_layers is (guesser is Guesser.OWN_LAYERS)


def test_the_config_outdoes_the_flags_beside_it() -> None:
    flags = Flags({"speculative_config": '{"method": "ngram", "num_speculative_tokens": 5}', "spec_tokens": 2})

    assert speculation(flags) == Speculation(tokens=5, method="ngram")


def test_a_method_alone_guesses_as_far_as_it_does_by_itself() -> None:
    assert speculation(Flags({"speculative_config": '{"method": "mtp"}'})).tokens == 1
    assert speculation(Flags({"speculative_config": '{"method": "suffix"}'})).tokens == 24
    assert speculation(Flags({"speculative_config": '{"model": "a/b"}'})).tokens == 0


@pytest.mark.parametrize("text", ["x", "[1]", '{"num_speculative_tokens": -1}', '{"num_speculative_tokens": true}'])
def test_what_is_no_speculation_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--speculative-config"):
        speculation(Flags({"speculative_config": text}))
