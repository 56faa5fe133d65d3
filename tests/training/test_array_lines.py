"""Reading sets of arguments: what each line means, and what is said of one that means nothing."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.training.arrays.lines import Shape, pairs_of, read_lines
from apps.training.command import argv
from apps.training.models import Entry

BASE = (("--epochs", "20"), ("--amp", ""))
WORDS = st.lists(st.text(min_size=1, max_size=12).filter(lambda word: word.strip() and "\0" not in word), max_size=8)


def refusal(text: str, shape: Shape = Shape.WORDS) -> str:
    with pytest.raises(Invalid) as refused:
        read_lines(text, shape, BASE)
    assert set(refused.value.fields) == {"lines"}
    return str(refused.value.message)


@given(WORDS)
def test_the_rows_of_a_line_put_its_words_on_the_command_line(words: list[str]) -> None:
    rows = pairs_of(words)
    assert argv(Entry.PYTHON, "a.py", rows)[3:] == tuple(words)


@given(st.lists(WORDS.filter(bool), min_size=1, max_size=5))
def test_a_quoted_line_is_read_as_it_was_written(lines: list[list[str]]) -> None:
    lines = [[" ".join(word.split()) for word in words] for words in lines]
    found = read_lines("\n".join(shlex.join(words) for words in lines), Shape.WORDS, ())
    assert [argv(Entry.PYTHON, "a.py", line.own)[3:] for line in found] == [tuple(words) for words in lines]


def test_bare_lines_follow_the_common_arguments() -> None:
    (line,) = read_lines("\n  --lr -0.5 data.csv --name='a b' -v\n", Shape.WORDS, BASE)
    assert line.number == 2
    assert line.own == (("--lr", "-0.5"), ("", "data.csv"), ("--name=a b", ""), ("-v", ""))
    assert line.arguments == (*BASE, *line.own)


def test_csv_replaces_what_has_the_name_and_leaves_out_what_is_empty() -> None:
    found = read_lines('--epochs,--lr\n5,0.1\n,"0.2"\n\n', Shape.CSV, BASE)
    assert [line.arguments for line in found] == [
        (("--epochs", "5"), ("--amp", ""), ("--lr", "0.1")),
        (("--epochs", "20"), ("--amp", ""), ("--lr", "0.2")),
    ]
    assert [line.number for line in found] == [2, 3]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_from_spreadsheets(separator: str) -> None:
    text = f"\ufeff--a{separator}--b\r\n1{separator}2\r\n"
    (line,) = read_lines(text, Shape.CSV, ())
    assert line.own == (("--a", "1"), ("--b", "2"))


@pytest.mark.parametrize(
    ("text", "shape", "said"),
    [
        ("", Shape.WORDS, "no line"),
        ("--a,--b\n", Shape.CSV, "no line"),
        ("--a 1\n--b 'x\n", Shape.WORDS, "Line 2: a quotation mark is not closed."),
        ("--a ''\n", Shape.WORDS, "Line 1: an empty argument cannot be passed."),
        ("--a,--a\n1,2\n", Shape.CSV, "Line 1: two columns have the same name."),
        ("--a,\n1,2\n", Shape.CSV, "Line 1: a column has no name."),
        ("--a,--b\n1,2\n1\n1,2,3\n", Shape.CSV, "Line 3: it has 1 values for 2 names. Line 4: it has 3 values"),
        ('--a\n"x', Shape.CSV, "it is no line of a CSV file."),
        ("--a \0\n", Shape.WORDS, "Line 1: A value is too long or holds a character"),
        ("\n".join(["'"] * 9), Shape.WORDS, "4 more lines have problems."),
        ("\n".join(["--a"] * 201), Shape.WORDS, "These are 201 lines; an array has at most 200."),
        ("x" * (256 * 1024 + 1), Shape.WORDS, "more than 256 KiB"),
    ],
)
def test_what_is_wrong_is_said_of_its_line(text: str, shape: Shape, said: str) -> None:
    assert said in refusal(text, shape)


def test_two_hundred_lines_are_taken() -> None:
    assert len(read_lines("\n".join(["--a"] * 200), Shape.WORDS, ())) == 200
