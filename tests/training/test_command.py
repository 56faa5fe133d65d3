"""What a person typed becomes an argument list: never a shell string, never outside the code."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.training import command
from apps.training.models import Entry

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


def test_python_is_unbuffered_so_that_the_log_is_live() -> None:
    words = command.argv(Entry.PYTHON, "train.py", [("--epochs", "3")])
    assert words == ("python", "-u", "train.py", "--epochs", "3")


def test_a_shell_script_is_run_by_bash() -> None:
    assert command.argv(Entry.SHELL, "run.sh", []) == ("bash", "run.sh")


def test_a_row_without_a_value_is_a_switch_and_one_without_a_name_is_positional() -> None:
    assert command.argv(Entry.PYTHON, "a.py", [("--fast", ""), ("", "data.csv")])[3:] == ("--fast", "data.csv")


@pytest.mark.parametrize(
    "script", ["", "  ", "../a.py", "a/../../b.py", "/etc/passwd", "C:\\a.py", "a\0.py", "x" * 2000]
)
def test_an_entry_file_outside_the_code_is_refused(script: str) -> None:
    with pytest.raises(Invalid):
        command.argv(Entry.PYTHON, script, [])


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_whatever_is_typed_stays_one_argument(rows: list[tuple[str, str]]) -> None:
    words = command.argv(Entry.PYTHON, "a.py", rows)
    assert list(words[3:]) == [word for row in rows for word in row if word]


@given(st.lists(TEXT.filter(bool), min_size=1, max_size=6))
def test_the_preview_reads_back_as_the_same_words(words: list[str]) -> None:
    assert shlex.split(command.shell_preview(words).replace(" \\\n", " ")) == words


def test_empty_rows_are_left_out() -> None:
    assert command.clean_arguments([("", ""), (" --a ", "1")]) == [("--a", "1")]


@pytest.mark.parametrize("rows", [[("x", "a\0b")], [("--a", "1" * 4001)], [("--a", "1")] * 101])
def test_arguments_that_no_program_can_be_given_are_refused(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(Invalid) as caught:
        command.clean_arguments(rows)
    assert set(caught.value.fields) == {"arguments"}


@pytest.mark.parametrize("name", ["1A", "A-B", "A B", "é", "PLSTACK_OUTPUT", "A" * 101])
def test_variables_with_impossible_or_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        command.clean_environment([(name, "1")])
    assert set(caught.value.fields) == {"environment"}


def test_a_variable_is_set_once() -> None:
    with pytest.raises(Invalid):
        command.clean_environment([("A", "1"), ("A", "2")])
