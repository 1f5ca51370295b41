from scouting.spans import Span, ordered, spans


def test_releases_are_ordered_as_they_were_published() -> None:
    assert ordered(["0.10.0", "0.9.0.1", "0.6.1.post2", "0.9.0", "0.6.1"]) == [
        "0.6.1",
        "0.6.1.post2",
        "0.9.0",
        "0.9.0.1",
        "0.10.0",
    ]


def test_equal_neighbours_are_one_span_and_the_newest_stays_open() -> None:
    found = spans({"0.2.0": {"u": 0.9}, "0.1.0": {"u": 0.9}, "0.10.0": {"u": 0.92}})

    assert found["u"] == (Span(first="0.1.0", last="0.2.0", said=0.9), Span(first="0.10.0", last=None, said=0.92))


def test_what_vanishes_and_comes_back_has_a_gap() -> None:
    found = spans({"0.1.0": {"x": 1}, "0.2.0": {}, "0.3.0": {"x": 1}, "0.4.0": {}})

    assert found["x"] == (Span(first="0.1.0", last="0.1.0", said=1), Span(first="0.3.0", last="0.3.0", said=1))
