"""What the console's endpoints share: checking, paging by what each list is ordered by, names of fields in errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework import serializers

from apps.common.errors import DomainError
from apps.common.pagination import CreatedCursor


class ByName(CreatedCursor):
    ordering = "name"


class NewestFirst(CreatedCursor):
    """For rows with an `at`; the cursor counts past equal instants."""

    ordering = "-at"


class OldestFirst(CreatedCursor):
    ordering = "id"


class ByNumber(CreatedCursor):
    ordering = "-number"


class ByKey(CreatedCursor):
    ordering = "-id"


@contextmanager
def fields_named(**names: str) -> Iterator[None]:
    """Services name fields as forms do (`rate`); the caller of the API hears of the name that it sent."""
    try:
        yield
    except DomainError as error:
        error.fields = {names.get(name, name): text for name, text in error.fields.items()}
        raise


class Named(serializers.Serializer[object]):
    """A row that others point to."""

    id = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)


class Person(serializers.Serializer[object]):
    id = serializers.IntegerField(read_only=True)
    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)


def checked(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """Its data once they are valid; `ValidationError` otherwise."""
    serializer.is_valid(raise_exception=True)
    found: dict[str, Any] = serializer.validated_data
    return found
