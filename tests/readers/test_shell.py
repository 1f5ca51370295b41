import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.errors import UsageError
from oomph.readers.shell import commands, split
from oomph.readers.words import assigned, holes, shown


def read(text: str) -> tuple[list[tuple[str, ...]], list[str]]:
    notes: list[str] = []
    found = list(commands(text, notes=notes))
    return found, notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("a \\\n  b", ["a", "b"]),
        ('a "x\\"y\\$z\\n"', ["a", 'x"y$z\\n']),
        ("a'b'\"c\"", ["abc"]),
        ("a '' b", ["a", "", "b"]),
        ("a # b c", ["a"]),
        ("a b#c", ["a", "b#c"]),
        ("a > out.log 2>&1 b", ["a", "b"]),
        ("a 2 > out.log", ["a", "2"]),
        ("a &>> out.log", ["a"]),
        ("a <in.txt", ["a"]),
        ("(a b)", ["a", "b"]),
        ("serve <model name> -x", ["serve", "<model name>", "-x"]),
        ('-x {"a": [1, 2]} -y', ["-x", '{"a": [1, 2]}', "-y"]),
    ],
)
def test_a_command_is_split_as_a_shell_would(text: str, words: list[str]) -> None:
    assert split(text) == words


def test_operators_and_line_ends_part_commands() -> None:
    found, _ = read("cd x && a 1 | tee log; b 2 & c\nd 'two\nlines'\n")

    assert found == [("cd", "x"), ("a", "1"), ("tee", "log"), ("b", "2"), ("c",), ("d", "two\nlines")]


def test_a_line_that_begins_with_a_flag_goes_on_with_the_command_before() -> None:
    found, notes = read("vllm serve m\n   --a 1\n   -b\nnext")

    assert found == [("vllm", "serve", "m", "--a", "1", "-b"), ("next",)]
    assert notes == ["lines without a backslash at their end were read as one command"]


def test_variables_that_the_text_sets_are_put_in() -> None:
    found, _ = read("A='x y'\nexport B=2\nrun $A \"$A\" ${B}k '$B' \\$B")

    assert found[-1] == ("run", "x", "y", "x y", "2k", "$B", "$B")


@pytest.mark.parametrize(
    ("word", "value"),
    [("${A:-2}", "2"), ("${A-x/y}", "x/y"), ("${A:=3}", "3"), ("${A:-${B:-4}}", "4"), ('"${A:-b c}"', "b c")],
)
def test_a_default_inside_a_variable_is_used_and_told(word: str, value: str) -> None:
    found, notes = read(f"run {word}")

    assert found == [("run", value)]
    assert "was read as the default inside it" in notes[0]


@pytest.mark.parametrize("word", ["$A", "${A}", "${A:?unset}", "$(date +%Y)", "`date`", "$1", "${#A}", "${A[@]}"])
def test_what_only_a_running_shell_knows_is_a_hole(word: str) -> None:
    ((_, found),), _ = read(f"run x{word}")

    assert shown(found) == f"x{word}"
    assert holes(found) == (word,)


def test_the_home_of_the_user_stays_a_tilde() -> None:
    assert split("run $HOME/models") == ["run", "~/models"]


@pytest.mark.parametrize("text", ["a 'b", 'a "b', 'a "$(x'])
def test_an_open_quote_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a quote is never closed"):
        split(text)


def test_an_assignment_has_a_name() -> None:
    assert [assigned(word) for word in ("A=1", "_b+=x=y", "1A=1", "--a=1", "A", "é=1")] == [
        ("A", "1"),
        ("_b", "x=y"),
        None,
        None,
        None,
        None,
    ]


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0\r"), max_size=8), max_size=6))
def test_quoting_then_splitting_gives_back_the_same_words(words: list[str]) -> None:
    assert split(shlex.join(words)) == words


@given(st.text(st.sampled_from("ab \t'\"\\=-")))
def test_plain_text_is_split_as_shlex_splits_it(text: str) -> None:
    try:
        theirs: list[str] | None = shlex.split(text)
    except ValueError:
        theirs = None
    if theirs is not None:
        assert split(text) == theirs
