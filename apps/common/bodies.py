"""Validate request bodies against the route's OpenAPI description before the view sees them.

Serializers ignore fields that they do not know: `{"minutes": 0}` for `notice_minutes` would be answered with success
and have no effect. Here a field that nobody reads is refused by name, and so is what a serializer would bend into a
value: money as text, numbers in other scripts' digits, characters that cannot be seen.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from apps.common import text
from apps.common.verbatim import VerbatimField

METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
CHANGES = frozenset({"PUT", "PATCH"})
CSRF_FIELD = "csrfmiddlewaretoken"
LARGEST = 2**63 - 1
WHOLE = re.compile(r"-?\d+", re.ASCII)
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
# A schema's request serializer when nothing is declared: some bodies are streams or a machine's.
UNDECLARED: Any = object()

Check = Callable[[Any, bool], list[str]]


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with named fields, or (`many`) a list of such; a field is another shape or a check of one value.

    `shown` fields are read only. A client that changes an object may send back everything it read; one that creates may
    not.
    """

    fields: Mapping[str, "Shape | Check"]
    shown: frozenset[str] = frozenset()
    many: bool = False


def check(view: Any, request: Request) -> None:
    """Raise ValidationError with a sentence for each field that is unknown or not a plain value of its type."""
    if request.method not in METHODS:
        return
    shape = shape_of(view, request.method)
    data = request.data
    if shape is None or not isinstance(data, Mapping | list):
        return
    if request.method in CHANGES:
        data = _without(data, shape.shown)
    problems = _problems(shape, data, isinstance(data, QueryDict))
    if problems:
        raise ValidationError(problems)


def _without(data: Any, names: frozenset[str]) -> Any:
    if not isinstance(data, Mapping) or isinstance(data, QueryDict) or not names:
        return data
    return {name: value for name, value in data.items() if name not in names}


def shape_of(view: Any, method: str) -> Shape | None:
    """None if the route does not take fields but, for example, the bytes of a file."""
    route = (view.__class__, method)
    if route not in _shapes:
        _shapes[route] = _declared_shape(view, method)
    return _shapes[route]


# By route, filled by its first request: the description is that of the code.
_shapes: dict[tuple[type, str], Shape | None] = {}


def _declared_shape(view: Any, method: str) -> Shape | None:
    declared = declared_of(view, method)
    if isinstance(declared, Mapping):  # by media type
        declared = next(iter(declared.values()))
    if declared is None:
        return Shape({})
    return _shape(declared) if _is_serializer(declared) else None


def declared_of(view: Any, method: str) -> Any:
    """The request serializer in the description of a view's method; `UNDECLARED` for a view left out of it."""
    handler = getattr(view.__class__, method.lower(), None)
    described = getattr(handler, "kwargs", {}).get("schema") or type(view.__class__.schema)
    schema: Any = described()
    schema.view, schema.method, schema.path = view, method, view.request.path
    return UNDECLARED if schema.is_excluded() else schema.get_request_serializer()


def _is_serializer(declared: Any) -> bool:
    kind = declared if isinstance(declared, type) else declared.__class__
    return issubclass(kind, serializers.BaseSerializer)


def _shape(declared: Any) -> Shape:
    many = isinstance(declared, serializers.ListSerializer)
    one = declared.child if many else declared
    kind: Any = one if isinstance(one, type) else one.__class__
    found: Shape = _shape_of_class(kind)
    return replace(found, many=True) if many else found


@cache
def _shape_of_class(serializer: type[serializers.Serializer[Any]]) -> Shape:
    fields = serializer().fields
    shown = frozenset(name for name, field in fields.items() if field.read_only)
    return Shape({name: _field(field) for name, field in fields.items() if name not in shown}, shown)


def _field(field: Any) -> "Shape | Check":
    if isinstance(field, serializers.BaseSerializer):
        return _shape(field)
    if isinstance(field, serializers.ListField) and isinstance(field.child, serializers.BaseSerializer):
        return replace(_shape(field.child), many=True)
    if isinstance(field, serializers.IntegerField):
        return _money if str(field.field_name).endswith("_fen") else _whole
    if isinstance(field, serializers.DecimalField | serializers.FloatField):
        return _number
    if isinstance(field, VerbatimField):
        return _verbatim
    return _text


def _problems(shape: Shape, data: Any, is_form: bool) -> Any:
    """Errors in the nested form of serializers; empty if there are none."""
    if shape.many:
        if not isinstance(data, Sequence) or isinstance(data, str):
            return {}  # the serializer says so
        found = [_problems(replace(shape, many=False), each, is_form) for each in data]
        return found if any(found) else []
    if not isinstance(data, Mapping):
        return {}
    problems = {
        str(name): _unknown(str(name), shape) for name in data if name not in shape.fields and name != CSRF_FIELD
    }
    for name, value in _values(shape, data, is_form):
        field = shape.fields[name]
        if wrong := _problems(field, value, is_form) if isinstance(field, Shape) else field(value, is_form):
            problems[name] = wrong
    return problems


def _values(shape: Shape, data: Mapping[Any, Any], is_form: bool) -> Iterator[tuple[str, Any]]:
    for name in data:
        if name in shape.fields:
            values = data.getlist(name) if isinstance(data, QueryDict) else [data[name]]
            yield from ((name, value) for value in values)


def _unknown(name: str, shape: Shape) -> list[str]:
    shown = text.reveal_invisible(name[:80])
    near = get_close_matches(name, list(shape.fields), 1)
    if near:
        return [_("There is no field “%(name)s” here. Did you mean “%(near)s”?") % {"name": shown, "near": near[0]}]
    return [_("There is no field “%(name)s” here.") % {"name": shown}]


def _money(value: Any, is_form: bool) -> list[str]:
    """A form has nothing but text: there, plain digits are the integer."""
    if value is None or (isinstance(value, str) and is_form and (WHOLE.fullmatch(value) or not value)):
        return []
    if isinstance(value, int) and not isinstance(value, bool):
        return _whole(value, is_form)
    return [_("Amounts are integers in fen: 1250 for ¥12.50.")]


def _whole(value: Any, is_form: bool) -> list[str]:
    wrong = _number(value, is_form)
    if not wrong and isinstance(value, int | float) and abs(value) > LARGEST:
        return [_("This number is too large.")]
    return wrong


def _number(value: Any, is_form: bool) -> list[str]:
    if isinstance(value, bool) or (isinstance(value, str) and value and NUMBER.fullmatch(value) is None):
        return [_("Write a number with the digits 0 to 9 and nothing between them.")]
    return []


def _text(value: Any, is_form: bool) -> list[str]:
    """Check all text in a value of any field, including lists and the keys of objects."""
    return [words] if any(words := text.text_problem(each) for each in _strings(value)) else []


def _verbatim(value: Any, is_form: bool) -> list[str]:
    return [words] if any(words := text.unstorable(each) for each in _strings(value)) else []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
