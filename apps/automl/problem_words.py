"""Words for the contradictions of a space or an algorithm, which `search` names by code."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from apps.automl.search.space import Problem

_WORDS: Mapping[tuple[str, str], Promise] = {
    ("name", "missing"): lazy("Name the parameter."),
    ("name", "bad_name"): lazy("A name has letters, digits, _, . and -, and starts with a letter or _."),
    ("name", "duplicate"): lazy("Another parameter has this name."),
    ("low", "log_not_positive"): lazy("On a logarithmic scale the smallest value is above 0."),
    ("high", "low_above_high"): lazy("The largest value is below the smallest, %(low)g."),
    ("step", "not_positive"): lazy("A step is above 0."),
    ("step", "larger_than_range"): lazy("The step is larger than the range, %(range)g."),
    ("step", "too_small"): lazy("The step is too small for this range."),
    ("step", "with_log"): lazy("A logarithmic scale has no steps."),
    ("choices", "missing"): lazy("Name at least one value."),
    ("choices", "too_many"): lazy("At most %(most)s values."),
    ("choices", "duplicate"): lazy("%(choice)s stands here twice."),
    ("choices", "not_a_number"): lazy("%(choice)s is no number."),
    ("choices", "too_long"): lazy("One of the values is too long."),
    ("condition", "unknown_parameter"): lazy("There is no parameter %(parameter)s."),
    ("condition", "later_parameter"): lazy("%(parameter)s has to stand above this parameter."),
    ("condition", "itself"): lazy("A parameter does not depend on itself."),
    ("condition", "not_countable"): lazy("%(parameter)s has too many values for that. It needs steps, or choices."),
    ("condition", "no_values"): lazy("Name the values of %(parameter)s with which this one counts."),
    ("condition", "not_a_value"): lazy("%(value)s is no value of %(parameter)s."),
    ("parameters", "missing"): lazy("Name at least one parameter to search."),
    ("parameters", "too_many"): lazy("At most %(most)s parameters."),
    ("parameters", "one_point"): lazy("There is only one point to try: give a parameter more values."),
    ("algorithm", "grid_infinite"): lazy(
        "A grid needs steps or choices for every parameter. Give one to: %(parameters)s."
    ),
    ("algorithm", "grid_too_large"): lazy("The grid has %(points)s points; at most %(most)s are gone through."),
    ("algorithm", "categorical"): lazy("This algorithm takes numbers alone, not choices of words."),
    ("algorithm", "conditions"): lazy("This algorithm takes no parameters that depend on others."),
    ("algorithm", "one_parameter"): lazy("This algorithm needs at least two parameters."),
    ("algorithm", "two_objectives"): lazy("This algorithm searches by one metric alone."),
    ("objectives", "missing"): lazy("Name the metric to search by."),
    ("objectives", "too_many"): lazy("Search by one metric, or by two."),
    ("objectives", "duplicate"): lazy("This is the same metric again."),
    ("max_resource", "not_above_min_resource"): lazy("This has to be more than the least, %(least)s."),
    ("parameters", "too_entangled"): lazy("The conditions depend on too many values at once."),
}
_OF_ANY_FIELD: Mapping[str, Promise] = {
    "missing": lazy("A number is missing here."),
    "not_finite": lazy("This is no number that can be searched."),
    "too_large": lazy("This is too large."),
    "fractional": lazy("A whole number is needed here."),
    "not_for_kind": lazy("This kind of parameter has none."),
    "not_a_number": lazy("This is no number."),
    "out_of_bounds": lazy("From %(low)g to %(high)g."),
    "unknown_setting": lazy("The algorithm has no such setting."),
}


def words_of(problem: Problem) -> str:
    """A sentence in the reader's language; one that always fits for a code that is not known here."""
    found = _WORDS.get((problem.field, problem.code)) or _OF_ANY_FIELD.get(problem.code)
    if found is None:
        return _("This contradicts itself.")
    return str(found) % {name: _text(value) for name, value in problem.params.items()}


def _text(value: Any) -> Any:
    return ", ".join(str(each) for each in value) if isinstance(value, (list, tuple)) else value
