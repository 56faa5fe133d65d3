"""Read sets of arguments from text: lines as on a command line, or CSV whose first line names the arguments. Pure.

What is wrong is told of every line that has something, by its number in the text.
"""

import csv
import io
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.errors import Invalid
from apps.training.command import Pairs, clean_arguments

FIELD = "lines"
MOST_LINES = 200
MOST_TEXT = 256 * 1024
MOST_TOLD = 5
NUMBER = re.compile(r"-\.?\d")

Arguments = tuple[tuple[str, str], ...]


class Shape(models.TextChoices):
    WORDS = "words", gettext_lazy("Each line is added to the arguments above")
    CSV = "csv", gettext_lazy("CSV: the first line names the arguments")


@dataclass(frozen=True, slots=True)
class Line:
    """`number` in the text, from 1; `own`: what the line says; `arguments`: all that its run gets."""

    number: int
    own: Arguments
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Problem:
    number: int
    text: str | Promise

    def __str__(self) -> str:
        return _("Line %(number)s: %(problem)s") % {"number": self.number, "problem": self.text}


def read_lines(text: str, shape: Shape, base: Pairs) -> list[Line]:
    """Raises `Invalid` beside `lines`, naming each line that cannot be used; empty lines are passed over."""
    if len(text) > MOST_TEXT:
        raise Invalid.field(FIELD, _("This is more than 256 KiB of text."))
    common = tuple(clean_arguments(base))
    found, problems = (_from_csv if shape is Shape.CSV else _from_words)(text, common)
    if problems:
        raise Invalid.field(FIELD, _told(problems))
    if not found:
        raise Invalid.field(FIELD, _("There is no line with arguments."))
    if len(found) > MOST_LINES:
        counts = {"count": len(found), "most": MOST_LINES}
        raise Invalid.field(FIELD, _("These are %(count)s lines; an array has at most %(most)s.") % counts)
    return found


def _told(problems: Sequence[Problem]) -> str:
    told = [str(each) for each in problems[:MOST_TOLD]]
    if len(problems) > MOST_TOLD:
        told.append(_("%(count)s more lines have problems.") % {"count": len(problems) - MOST_TOLD})
    return " ".join(told)


def pairs_of(words: Iterable[str]) -> Arguments:
    """Rows of the table of arguments that put exactly these words on the command line."""
    rows: list[tuple[str, str]] = []
    for word in words:
        takes = bool(rows) and rows[-1][0] != "" and rows[-1][1] == "" and "=" not in rows[-1][0]
        if _is_option(word):
            rows.append((word, ""))
        elif takes:
            rows[-1] = (rows[-1][0], word)
        else:
            rows.append(("", word))
    return tuple(rows)


def _is_option(word: str) -> bool:
    """`-1` and `-.5` are values."""
    return word.startswith("-") and word == word.strip() and not NUMBER.match(word)


def _from_words(text: str, common: Arguments) -> tuple[list[Line], list[Problem]]:
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            words = shlex.split(line)
            if not all(word.strip() for word in words):
                problems.append(Problem(number, _("an empty argument cannot be passed.")))
                continue
            own = pairs_of(words)
            found.append(Line(number, own, tuple(clean_arguments((*common, *own)))))
        except ValueError:
            problems.append(Problem(number, _("a quotation mark is not closed.")))
        except Invalid as error:
            problems.append(Problem(number, error.message))
    return found, problems


def _from_csv(text: str, common: Arguments) -> tuple[list[Line], list[Problem]]:
    """Separated by commas, by semicolons or, as copied from a spreadsheet, by tabs: whichever its first line has."""
    text = text.lstrip("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = next((each for each in "\t;" if each in first and "," not in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    names: list[str] | None = None
    found: list[Line] = []
    problems: list[Problem] = []
    try:
        for cells in reader:
            values = [cell.strip() for cell in cells]
            if not any(values):
                continue
            if names is None:
                names, problem = values, _wrong_names(values)
                if problem:
                    return [], [Problem(reader.line_num, problem)]
            else:
                _add_row(found, problems, reader.line_num, names, values, common)
    except csv.Error:
        problems.append(Problem(reader.line_num, _("it is no line of a CSV file.")))
    return found, problems


def _wrong_names(names: Sequence[str]) -> str:
    if not all(names):
        return _("a column has no name.")
    if len(set(names)) < len(names):
        return _("two columns have the same name.")
    return ""


def _add_row(
    found: list[Line], problems: list[Problem], number: int, names: list[str], values: list[str], common: Arguments
) -> None:
    if len(values) != len(names):
        counts = {"found": len(values), "named": len(names)}
        problems.append(Problem(number, _("it has %(found)s values for %(named)s names.") % counts))
        return
    # An empty cell leaves the argument as it stands above, or out.
    own = tuple((name, value) for name, value in zip(names, values, strict=True) if value)
    try:
        found.append(Line(number, own, tuple(clean_arguments(replaced(common, own)))))
    except Invalid as error:
        problems.append(Problem(number, error.message))


def replaced(common: Arguments, own: Arguments) -> Arguments:
    """`common` with the values of `own` where it has these names, the others behind."""
    values = dict(own)
    kept = tuple((name, values.get(name, value)) for name, value in common)
    there = {name for name, _value in common}
    return (*kept, *(pair for pair in own if pair[0] not in there))
