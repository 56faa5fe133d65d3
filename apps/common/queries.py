"""Validate the query parameters of lists: unknown ones are the caller's mistake and are refused instead of ignored."""

from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request

METHOD = "GET"


def check(view: Any, request: Request) -> None:
    """Raise ValidationError for unknown parameters and for an invalid page size."""
    if request.method != METHOD or not isinstance(view, ListModelMixin):
        return
    unknown = set(request.query_params) - known_parameters(view)
    if unknown:
        raise ValidationError({name: [_("There is no such parameter here.")] for name in sorted(unknown)})
    pager = view.paginator  # type: ignore[attr-defined]
    name = getattr(pager, "page_size_query_param", None)
    if name and name in request.query_params:
        _check_size(name, request.query_params[name], pager.max_page_size)


def known_parameters(view: Any) -> frozenset[str]:
    """Filters, paging, and what the view's description declares."""
    view_class: type = view.__class__
    return _declared(view_class) | _filters(view) | _paging(view)


def _check_size(name: str, text: str, largest: int | None) -> None:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= (largest or int(text)):
        raise ValidationError({name: [_("A number from 1 to %(largest)s.") % {"largest": largest}]})


def _filters(view: Any) -> frozenset[str]:
    fields = getattr(view, "filterset_class", None)
    return frozenset(fields.base_filters) if fields is not None else frozenset(getattr(view, "filterset_fields", ()))


def _paging(view: Any) -> frozenset[str]:
    pager = view.paginator
    if pager is None:
        return frozenset()
    names = (getattr(pager, name, None) for name in ("cursor_query_param", "page_size_query_param"))
    return frozenset(name for name in names if name)


@cache
def _declared(view_class: type) -> frozenset[str]:
    """The query parameters of `extend_schema` on the view's `get` or on the view."""
    handler = getattr(view_class, METHOD.lower(), None)
    described = getattr(handler, "kwargs", {}).get("schema") or type(vars(view_class).get("schema"))
    if not isinstance(described, type) or not issubclass(described, AutoSchema):
        return frozenset()
    schema: Any = described()
    schema.view, schema.method = _Versionless(), METHOD
    return frozenset(name for parameter in schema.get_override_parameters() for name in _names(parameter))


def _names(parameter: Any) -> frozenset[str]:
    """The name of a declared parameter, or the fields of a serializer that declares several."""
    if isinstance(parameter, OpenApiParameter):
        return frozenset({parameter.name}) if parameter.location == OpenApiParameter.QUERY else frozenset()
    serializer = parameter() if isinstance(parameter, type) else parameter
    return frozenset(getattr(serializer, "fields", ()))


class _Versionless:
    """Stand-in for the view when a description asks for its version: there are none here."""

    request = None
    kwargs: dict[str, Any] = {}

    def determine_version(self, request: object, **kwargs: Any) -> tuple[None, None]:
        return None, None
