"""Parse bodies: unambiguous JSON, and forms within limits."""

import codecs
import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from django.core.exceptions import SuspiciousOperation
from rest_framework import parsers
from rest_framework.exceptions import ParseError

# Deeper than any body of this API, and far below Python's own recursion limit.
DEEPEST = 40


class JSONParser(parsers.JSONParser):
    """UTF-8, each key once, no NaN, no number that is infinite, nothing nested deeper than `DEEPEST`.

    Of two equal keys one would silently win, and a proxy in between may have read the other.
    """

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        try:
            read = codecs.getreader("utf-8")(stream).read()
            found = json.loads(read, object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_constant)
        except (ValueError, RecursionError) as error:
            raise ParseError(f"JSON parse error - {str(error) or 'nested too deeply'}") from error
        if _is_deeper(found, DEEPEST):
            raise ParseError("JSON parse error - nested too deeply")
        return found


class MultiPartParser(parsers.MultiPartParser):
    """Refuses forms with too many parts or bytes as unreadable."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except (SuspiciousOperation, ValueError) as error:
            raise ParseError(f"Multipart form parse error - {error}") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same key twice in one object")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(f"{digits[:20]} is too large")
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)
