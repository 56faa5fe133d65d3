"""Words for the contradictions of a space or an algorithm, which `search` names by code."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.automl.search.space import Problem

_WORDS: Mapping[tuple[str, str], Promise] = {
    ("name", "missing"): gettext_lazy("Name the parameter."),
    ("name", "bad_name"): gettext_lazy("A name has letters, digits, _, . and -, and starts with a letter or _."),
    ("name", "duplicate"): gettext_lazy("Another parameter has this name."),
    ("low", "log_not_positive"): gettext_lazy("On a logarithmic scale the smallest value is above 0."),
    ("high", "low_above_high"): gettext_lazy("The largest value is below the smallest, %(low)g."),
    ("step", "not_positive"): gettext_lazy("A step is above 0."),
    ("step", "larger_than_range"): gettext_lazy("The step is larger than the range, %(range)g."),
    ("step", "too_small"): gettext_lazy("The step is too small for this range."),
    ("step", "with_log"): gettext_lazy("A logarithmic scale has no steps."),
    ("choices", "missing"): gettext_lazy("Name at least one value."),
    ("choices", "too_many"): gettext_lazy("At most %(most)s values."),
    ("choices", "duplicate"): gettext_lazy("%(choice)s stands here twice."),
    ("choices", "not_a_number"): gettext_lazy("%(choice)s is no number."),
    ("choices", "too_long"): gettext_lazy("One of the values is too long."),
    ("condition", "unknown_parameter"): gettext_lazy("There is no parameter %(parameter)s."),
    ("condition", "later_parameter"): gettext_lazy("%(parameter)s has to stand above this parameter."),
    ("condition", "itself"): gettext_lazy("A parameter does not depend on itself."),
    ("condition", "not_countable"): gettext_lazy(
        "%(parameter)s has too many values for that. It needs steps, or choices."
    ),
    ("condition", "no_values"): gettext_lazy("Name the values of %(parameter)s with which this one counts."),
    ("condition", "not_a_value"): gettext_lazy("%(value)s is no value of %(parameter)s."),
    ("parameters", "missing"): gettext_lazy("Name at least one parameter to search."),
    ("parameters", "too_many"): gettext_lazy("At most %(most)s parameters."),
    ("parameters", "one_point"): gettext_lazy("There is only one point to try: give a parameter more values."),
    ("algorithm", "grid_infinite"): gettext_lazy(
        "A grid needs steps or choices for every parameter. Give one to: %(parameters)s."
    ),
    ("algorithm", "grid_too_large"): gettext_lazy("The grid has %(points)s points; at most %(most)s are gone through."),
    ("algorithm", "categorical"): gettext_lazy("This algorithm takes numbers alone, not choices of words."),
    ("algorithm", "conditions"): gettext_lazy("This algorithm takes no parameters that depend on others."),
    ("algorithm", "one_parameter"): gettext_lazy("This algorithm needs at least two parameters."),
    ("algorithm", "two_objectives"): gettext_lazy("This algorithm searches by one metric alone."),
    ("objectives", "missing"): gettext_lazy("Name the metric to search by."),
    ("objectives", "too_many"): gettext_lazy("Search by one metric, or by two."),
    ("objectives", "duplicate"): gettext_lazy("This is the same metric again."),
    ("max_resource", "not_above_min_resource"): gettext_lazy("This has to be more than the least, %(least)s."),
    ("parameters", "too_entangled"): gettext_lazy("The conditions depend on too many values at once."),
}
_OF_ANY_FIELD: Mapping[str, Promise] = {
    "missing": gettext_lazy("A number is missing here."),
    "not_finite": gettext_lazy("This is no number that can be searched."),
    "too_large": gettext_lazy("This is too large."),
    "fractional": gettext_lazy("A whole number is needed here."),
    "not_for_kind": gettext_lazy("This kind of parameter has none."),
    "not_a_number": gettext_lazy("This is no number."),
    "out_of_bounds": gettext_lazy("From %(low)g to %(high)g."),
    "unknown_setting": gettext_lazy("The algorithm has no such setting."),
}


def words_of(problem: Problem) -> str:
    """A sentence in the reader's language; one that always fits for a code that is not known here."""
    found = _WORDS.get((problem.field, problem.code)) or _OF_ANY_FIELD.get(problem.code)
    if found is None:
        return _("This contradicts itself.")
    return str(found) % {name: _text(value) for name, value in problem.params.items()}


def _text(value: Any) -> Any:
    return ", ".join(str(each) for each in value) if isinstance(value, (list, tuple)) else value
