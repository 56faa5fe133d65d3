"""The API's description of what every route shares: idempotency keys, and problems as RFC 9457 has them."""

import inspect
from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

Direction = Literal["request", "response"]
KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": 64},
    OpenApiParameter.HEADER,
    description="The same key again within 24 hours is answered with the first answer (`Idempotency-Replayed: true`) "
    "and does nothing. 422 where the key was used for another request, 409 while the first is being worked on.",
)


class ProblemSerializer(serializers.Serializer[Any]):
    """What went wrong, in words: `code` is stable, `hint` says what to do, `fields` what is wrong with each input.

    429, and 503 where too many requests wait, come with Retry-After (seconds); every answer but that 503 tells
    RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset.
    """

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField(min_value=400, max_value=599)
    code = serializers.CharField()
    detail = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)
    fields = serializers.DictField()  # type: ignore[assignment]


class Schema(AutoSchema):
    """Adds the shared parts to each operation."""

    def get_description(self) -> str:  # type: ignore[override]  # the library's own class differs from its base too
        """An operation's own description. Docstrings of abstract bases are for programmers and are left out."""
        words: str = super().get_description() or ""
        view = type(self.view)
        told = next(base for base in view.__mro__ if base.__doc__)
        handles = told is view or self.method.lower() in vars(told)
        return words if handles or words != inspect.getdoc(view) else ""

    def get_override_parameters(self) -> list[Any]:
        own = list(super().get_override_parameters())
        named = {parameter.name for parameter in own if isinstance(parameter, OpenApiParameter)}
        return [*own, KEY] if self.method == "POST" and KEY.name not in named else own

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Any:
        """A body may hold no other fields than these, as `bodies` has it."""
        described = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        return {**described, "additionalProperties": False} if direction == "request" else described

    def _get_response_bodies(self, direction: Direction = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        media = ["application/problem+json"]
        problem = self._get_response_for_code(ProblemSerializer, "default", media, direction)  # type: ignore[no-untyped-call]
        return {**bodies, "default": {**problem, "description": "A problem, in words."}}
