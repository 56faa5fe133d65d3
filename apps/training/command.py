"""Build the command from what a person typed: argument lists, never a shell string."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.storage.safe_open import split_path
from apps.training.models import Entry

CODE = "/workspace/code"
OUTPUT = "/workspace/output"
# Files saved below it are kept with the output, found by the next attempt, and count as work that is not lost.
CHECKPOINTS = f"{OUTPUT}/checkpoints"
MAX_ROWS = 100
MAX_VALUE = 4000
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
RESERVED = "PLSTACK_"

Pairs = Sequence[tuple[str, str]]


def argv(entry: Entry, script: str, arguments: Pairs) -> tuple[str, ...]:
    """The program and its arguments. A row without a value is a switch, one without a name is positional."""
    program = ("python", "-u") if entry is Entry.PYTHON else ("bash",)
    path = "/".join(split_path(script.strip()))
    if not path:
        raise Invalid.field("script", _("Name the file to run."))
    words = [word for name, value in arguments for word in (name, value) if word]
    return (*program, path, *words)


def shell_preview(words: Sequence[str]) -> str:
    """The command as a shell would need it, one option a line; for people only, nothing runs this text."""
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("-") and len(lines[-1]) > 1:
            lines.append([])
        lines[-1].append(shlex.quote(word))
    return " \\\n  ".join(" ".join(line) for line in lines)


def clean_arguments(rows: Pairs) -> list[tuple[str, str]]:
    """The non-empty rows; `Invalid` with the table's field for what cannot be passed to a program."""
    kept = [(name.strip(), value) for name, value in rows if name.strip() or value.strip()]
    _refuse("arguments", kept)
    return kept


def clean_environment(rows: Pairs) -> list[tuple[str, str]]:
    kept = [(name.strip(), value) for name, value in rows if name.strip() or value.strip()]
    _refuse("environment", kept)
    for name, _value in kept:
        if not NAME.match(name):
            raise Invalid.field(
                "environment", _("A variable's name has letters, digits and _ only, and does not start with a digit.")
            )
        if name.startswith(RESERVED):
            raise Invalid.field("environment", _("Names that start with PLSTACK_ are the platform's own."))
    if len({name for name, _value in kept}) < len(kept):
        raise Invalid.field("environment", _("A variable is set twice."))
    return kept


def typed(script: str, arguments: Pairs, environment: Pairs) -> dict[str, Any]:
    """Columns of a run that keep what a person typed."""
    return {
        "script": script.strip(),
        "arguments": [list(row) for row in clean_arguments(arguments)],
        "environment": [list(row) for row in clean_environment(environment)],
    }


def _refuse(field: str, rows: Pairs) -> None:
    if len(rows) > MAX_ROWS:
        raise Invalid.field(field, _("No more than 100 rows."))
    for row in rows:
        if any("\0" in text or len(text) > MAX_VALUE for text in row):
            raise Invalid.field(field, _("A value is too long or holds a character that no program can be given."))
