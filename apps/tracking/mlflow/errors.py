"""Errors as clients of MLflow read them: `{"error_code", "message"}`."""

from http import HTTPStatus
from typing import Any

from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from apps.common.api import problem_of
from apps.common.errors import DomainError, Text
from apps.common.formatting import sentences
from apps.tracking.artifacts import RunEnded

CODES = {
    HTTPStatus.BAD_REQUEST: "INVALID_PARAMETER_VALUE",
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "PERMISSION_DENIED",
    HTTPStatus.NOT_FOUND: "RESOURCE_DOES_NOT_EXIST",
    HTTPStatus.CONFLICT: "INVALID_PARAMETER_VALUE",
    HTTPStatus.TOO_MANY_REQUESTS: "REQUEST_LIMIT_EXCEEDED",
    HTTPStatus.SERVICE_UNAVAILABLE: "TEMPORARILY_UNAVAILABLE",
}


class NotSupported(DomainError):
    """A part of MLflow that this platform has not. No fault of the server, which a 501 would be in its logs."""

    code = "not_supported"

    def __init__(self, message: Text, *, hint: Text = "") -> None:
        super().__init__(message, hint=hint)


def mlflow_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """400 where something is in the way: MLflow's clients repeat a 409 or a 5xx, which would not help.

    Those that send files do not repeat a 409, which an ended run is answered with.
    """
    problem = problem_of(error)
    if problem is None:
        return None
    set_rollback()
    status = HTTPStatus(problem["status"])
    known = isinstance(error, DomainError | Http404 | exceptions.APIException)
    code = CODES.get(status, "BAD_REQUEST") if known else "INTERNAL_ERROR"
    if isinstance(error, NotSupported):
        code = "NOT_IMPLEMENTED"
    wrong = "; ".join(f"{name}: {text}" for name, texts in _fields(problem) for text in texts)
    message = sentences(problem["detail"], problem["hint"])
    ended = isinstance(error, RunEnded)
    answered = HTTPStatus.BAD_REQUEST if status is HTTPStatus.CONFLICT and not ended else status
    headers = dict(getattr(error, "headers", None) or {})
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    body = {"error_code": code, "message": f"{wrong}: {message}" if wrong and wrong not in message else message}
    response = Response(body, status=answered, headers=headers)
    response.speaks_protocol = True  # type: ignore[attr-defined]
    return response


def _fields(problem: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(str(name), list(texts)) for name, texts in problem["fields"].items() if isinstance(texts, list)]
