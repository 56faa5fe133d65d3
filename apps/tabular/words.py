"""What the program says in codes, in words."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

Said = Mapping[str, Any]

PROBLEMS: Mapping[str, Promise] = {
    "no_column": gettext_lazy("The table has no column %(column)s."),
    "few_rows": gettext_lazy("Only %(rows)s rows have a value to predict; a search needs at least 20."),
    "few_groups": gettext_lazy("The column %(column)s has too few groups to be divided."),
    "unreadable": gettext_lazy("The file cannot be read as a table: %(said)s"),
    "bad_time": gettext_lazy("The column %(column)s does not hold a time in each row."),
    "no_numbers": gettext_lazy("Most values of the column %(column)s are no numbers: choose classification."),
    "one_value": gettext_lazy("The column %(column)s has the same value in each row; there is nothing to predict."),
    "one_class": gettext_lazy("Fewer than two values of the column %(column)s come in %(least)s rows or more."),
    "many_classes": gettext_lazy(
        "The column to predict has %(classes)s different values; up to %(most)s are told apart."
    ),
    "one_sided": gettext_lazy("The rows to learn from all have the same value in %(column)s: divide them otherwise."),
    "no_columns": gettext_lazy("No column is left to learn from: all are empty, constant, ids or left out."),
    "no_trial": gettext_lazy("No trial gave a score. Its log says why; more time or other learners may help."),
}

NOTES: Mapping[str, Promise] = {
    "target_missing": gettext_lazy("%(rows)s rows without a value to predict were left out."),
    "target_no_number": gettext_lazy("%(rows)s rows whose value to predict is no number were left out."),
    "rare_classes": gettext_lazy("%(classes)s classes with fewer than %(least)s rows were left out."),
}

DONE: Mapping[str, Promise] = {
    "number": pgettext_lazy("step", "Number; missing values become the median"),
    "truth": pgettext_lazy("step", "True or false, as one and zero"),
    "category": pgettext_lazy("step", "Categories; the rare ones together"),
    "date": pgettext_lazy("step", "Date, as its parts"),
    "left_out": pgettext_lazy("step", "Left out"),
}
WHY: Mapping[str, Promise] = {
    "chosen": pgettext_lazy("left out", "as chosen"),
    "empty": pgettext_lazy("left out", "it is empty"),
    "constant": pgettext_lazy("left out", "it is constant"),
    "id_like": pgettext_lazy("left out", "another value in each row"),
}


def problem_words(problem: tuple[str, Said]) -> str:
    return _filled(PROBLEMS, *problem) or _("The search could not begin. Its log says why.")


def note_words(note: Said) -> str:
    return _filled(NOTES, str(note.get("code", "")), note)


def step_words(done: str, why: str) -> str:
    words = str(DONE.get(done, done))
    return f"{words}: {WHY[why]}" if why in WHY else words


def validation_words(said: Said) -> str:
    """How trials are measured."""
    if said["folds"]:
        words = _("%(folds)s folds") % {"folds": said["folds"]}
    else:
        words = _("held-out part of %(share)s%%") % {"share": round(100 * said["holdout"])}
    ways: dict[str, Callable[[], str]] = {
        "group": lambda: _("rows of one %(column)s together") % {"column": said["group"]},
        "time": lambda: _("in the order of %(column)s") % {"column": said["time"]},
    }
    return " · ".join([words, *(way() for name, way in ways.items() if said[name])])


def _filled(table: Mapping[str, Promise], code: str, said: Said) -> str:
    try:
        return str(table[code]) % {name: str(value)[:300] for name, value in said.items()}
    except (KeyError, ValueError, TypeError):
        return ""
