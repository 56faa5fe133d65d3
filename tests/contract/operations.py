"""The operations of the API's description, and what to ask of their answers."""

from enum import StrEnum
from functools import cache
from typing import Any

import schemathesis
from drf_spectacular.generators import SchemaGenerator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@schemathesis.serializer("application/offset+octet-stream")
def part_of_a_file(context: Any, value: Any) -> Any:
    """A part of an upload is bytes as they are."""
    return value if isinstance(value, bytes) else str(value).encode()


class Role(StrEnum):
    MEMBER = "member"
    ADMIN = "admin"
    SUPER = "super"


@cache
def operations() -> dict[str, Any]:
    """By "METHOD /path", as drawn from the code."""
    generator: Any = SchemaGenerator
    description = generator().get_schema(request=None, public=True)
    found: Any = schemathesis.openapi.from_dict(description).get_all_operations()
    return {operation.ok().label: operation.ok() for operation in found}


def strategy(operation: Any, values: dict[str, Any]) -> Any:
    """Requests that follow the description, and some that break it, to objects that are there."""
    named = [parameter.name for parameter in operation.path_parameters]
    fixed = {name: values[name] for name in named if name in values}
    options = {"path_parameters": fixed} if fixed else {}
    good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE, **options)
    if not operation.body and not operation.query:
        return good
    return good | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE, **options)
