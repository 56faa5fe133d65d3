"""A condition on the last value of a metric, or on a parameter, as lists and the API take it: `loss<0.3`, `lr=0.1`."""

import re

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from apps.tracking.models import Parameter, Series

_CONDITION = re.compile(
    r"\s*(?:metric:)?(?P<name>[^<>=!]{1,250}?)\s*(?P<op><=|>=|!=|<|>|=)\s*(?P<value>[^<>=!]{1,100}?)\s*"
)
_LOOKUPS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


def metric_validator(text: str) -> None:
    """Several conditions are joined by `and`."""
    for part in _parts(text):
        found = _CONDITION.fullmatch(part)
        if found is None or (found["op"] in _LOOKUPS and _number(found["value"]) is None):
            raise ValidationError(_("Write a metric, a comparison and a number, such as loss<0.3 and acc>0.9."))


def metric_condition(text: str, workload: str) -> Q:
    """Of rows whose column `workload` is the workload's id. An equals sign also finds a parameter of that text."""
    condition = Q()
    for part in _parts(text):
        if found := _CONDITION.fullmatch(part):
            condition &= _one(found["name"].strip(), found["op"], found["value"], workload)
    return condition


def _parts(text: str) -> list[str]:
    return re.split(r"\s+and\s+", text, flags=re.IGNORECASE)


def _one(name: str, sign: str, value: str, workload: str) -> Q:
    number, series = _number(value), Series.objects.filter(run_id=OuterRef(workload), name=name)
    if sign in _LOOKUPS:
        return Q(Exists(series.filter(**{f"last_value__{_LOOKUPS[sign]}": number})))
    parameter = Parameter.objects.filter(run_id=OuterRef(workload), name=name)
    is_equal = Q(Exists(parameter.filter(value=value)))
    if number is not None:
        is_equal |= Q(Exists(series.filter(last_value=number)))
    if sign == "=":
        return is_equal
    return ~is_equal & (Q(Exists(parameter)) | Q(Exists(series)))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None
