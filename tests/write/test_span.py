import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from oomph.write.span import Span, ascii_only, cells, joined, shortened, visible, wrapped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
        ("7 × 8 …", "7 × 8 …"),
    ],
)
def test_signs_that_cannot_be_seen_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_span_can_command_a_terminal(text: str) -> None:
    assert all(unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for sign in Span(text).text)


@given(st.text(), st.integers(10, 120))
def test_no_wrapped_line_is_wider_than_asked(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in wrapped(text, width))
    assert cells(shortened(text, width)) <= width


@given(st.text(), st.integers(10, 120))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    assert "".join(wrapped(text, width)).replace(" ", "") == visible(text).replace(" ", "")


@pytest.mark.parametrize("text", ["plain", "模型", "e\u0301", "█▓▒░│┆╳╌·✓✗→×…", "한국어", "ｗｉｄｅ", "ß"])
def test_cells_are_counted_as_rich_counts_them(text: str) -> None:
    assert cells(text) == cell_len(text)


@given(st.text())
def test_ascii_only_is_ascii_and_never_wider(text: str) -> None:
    assert ascii_only(text).isascii()
    assert len(ascii_only(text)) == len(text)


def test_a_line_ends_with_its_last_sign() -> None:
    assert joined((Span("a "), Span("b"), Span("  "))) == "a b"
