import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.proof import Ask, Failure
from oomph.live.load.prompts import Prompts
from oomph.live.load.reply import Reply, words

ASK = Ask(prompt=4, answer=3)
USAGE = {"prompt_tokens": 4, "completion_tokens": 3}


def reply(ask: Ask = ASK) -> Reply:
    return Reply(ask=ask, user=0, turn=0, sent=1.0, begun=lambda: None)


def piece(finish: str | None = None) -> bytes:
    return json.dumps({"choices": [{"index": 0, "text": "w5", "finish_reason": finish}], "usage": None}).encode()


def test_three_pieces_the_usage_and_done_are_an_answer() -> None:
    growing = reply()
    for at in (1.5, 1.75, 2.25):
        growing.add(piece("length" if at == 2.25 else None), at)
    growing.add(json.dumps({"choices": [], "usage": USAGE}).encode(), 2.25)
    growing.add(b"[DONE]", 2.25)

    outcome = growing.outcome(2.5)

    assert (outcome.failure, outcome.first, outcome.gaps, outcome.took) == (None, 1.5, (0.25, 0.5), 1.5)
    assert (outcome.prompt_tokens, outcome.answer_tokens) == (4, 3)


def test_an_error_inside_an_answer_is_a_failure_even_if_done_follows() -> None:
    growing = reply()
    growing.add(piece(), 1.5)
    growing.add(b'{"error": {"message": "EngineCore encountered an issue", "code": 500}}', 1.6)
    growing.add(b"[DONE]", 1.6)

    outcome = growing.outcome(1.7)

    assert (outcome.failure, outcome.said) == (Failure.IN_STREAM, "EngineCore encountered an issue")


def test_an_aborted_answer_is_a_failure() -> None:
    growing = reply()
    growing.add(piece("abort"), 1.5)

    assert growing.outcome(2.0).failure is Failure.ABORTED


@pytest.mark.parametrize("usage", [{"prompt_tokens": 5, "completion_tokens": 3}, {"prompt_tokens": 4}, None])
def test_an_answer_of_another_length_than_asked_is_a_failure(usage: dict[str, int] | None) -> None:
    growing = reply()
    growing.add(json.dumps({"choices": [{"finish_reason": "length"}], "usage": usage}).encode(), 1.5)

    assert growing.outcome(2.0).failure is Failure.INEXACT


def test_a_refusal_is_told_by_its_message_alone() -> None:
    assert words('{"error": {"message": "too busy", "type": "x"}}') == "too busy"
    assert words("<html>\n  Bad Gateway") == "<html> Bad Gateway"
    assert words({"detail": "x"}) == "{'detail': 'x'}"


@given(prompt=st.integers(1, 300), prefix=st.integers(0, 400))
def test_prompts_are_exact_and_share_the_prefix_and_nothing_else(prompt: int, prefix: int) -> None:
    made = Prompts(model="tiny", tokens=tuple(range(100)))
    ask = Ask(prompt=prompt, answer=1, prefix=min(prefix, prompt))
    one, other = made.ids(ask, 1), made.ids(ask, 2)

    assert len(one) == len(other) == prompt
    assert one[: ask.prefix] == other[: ask.prefix]
    if prompt - ask.prefix >= 16:
        assert one[ask.prefix : ask.prefix + 16] != other[ask.prefix : ask.prefix + 16]


def test_two_runs_send_different_prompts_so_that_no_cache_knows_them() -> None:
    ask = Ask(prompt=32, answer=1)
    one, other = (Prompts(model="tiny", tokens=tuple(range(100))) for _ in range(2))

    assert one.ids(ask, 1) != other.ids(ask, 1)


def test_a_body_says_exactly_what_is_wanted() -> None:
    body = json.loads(Prompts(model="tiny", tokens=(7, 8)).body(Ask(prompt=3, answer=2, prompt_logprobs=1), 0))

    assert (len(body["prompt"]), body["max_tokens"], body["ignore_eos"], body["n"]) == (3, 2, True, 1)
    assert body["prompt_logprobs"] == 1
    assert "stream" not in body  # which vLLM refuses together


def test_an_answer_is_asked_for_piece_by_piece_with_its_usage_at_the_end() -> None:
    body = json.loads(Prompts(model="tiny", tokens=(7, 8)).body(ASK, 0))

    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
