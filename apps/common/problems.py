"""Error responses under /api/ that do not come from its views: unknown addresses, refused hosts and forms, crashes."""

import json
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.common.api import PROBLEM, problem_body
from apps.common.middleware import Handler, is_api

READING = {"GET", "HEAD", "OPTIONS"}


class ApiProblems:
    """The outermost middleware, so that whatever others refuse reaches a program as problem+json with its headers."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not is_api(request) or response.streaming:
            return response
        if _loses_a_body(request, response):
            del response.headers["Location"]
            hint = _("Addresses of the API end with a slash.")
            return _problem(response, HTTPStatus.NOT_FOUND, hint)
        if response.status_code >= HTTPStatus.BAD_REQUEST and not _is_explained(response):
            return _problem(response, HTTPStatus(response.status_code))
        return response


def _is_explained(response: HttpResponse) -> bool:
    """`speaks_protocol`: a view that answers in the words of a foreign protocol says so of its response."""
    return response.headers.get("Content-Type") == PROBLEM or getattr(response, "speaks_protocol", False)


def _loses_a_body(request: HttpRequest, response: HttpResponse) -> bool:
    """Whether a redirect to the address with a slash, followed by GET, would drop the body of a POST unnoticed."""
    return response.status_code == HTTPStatus.MOVED_PERMANENTLY and request.method not in READING


def _problem(response: HttpResponse, status: HTTPStatus, hint: str = "") -> HttpResponse:
    code, detail, usual = _words(status)
    response.status_code = status
    response.content = json.dumps(problem_body(status, code, detail, hint or usual))
    response.headers["Content-Type"] = PROBLEM
    response.headers["Content-Length"] = str(len(response.content))
    return response


def _words(status: HTTPStatus) -> tuple[str, str, str]:
    """Code, sentence and what to do next."""
    known = {
        HTTPStatus.BAD_REQUEST: ("bad_request", _("This request cannot be read."), ""),
        HTTPStatus.FORBIDDEN: (
            "csrf_failed",
            _("A request from a browser needs its CSRF token."),
            _("Send the header X-CSRFToken, or sign in with an API token instead of a session."),
        ),
        HTTPStatus.NOT_FOUND: (
            "not_found",
            _("There is nothing at this address."),
            _("The description of the API is at /api/docs/."),
        ),
        HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", _("This address does not take this method."), ""),
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("too_large", _("This request is too large."), ""),
        HTTPStatus.TOO_MANY_REQUESTS: ("throttled", _("Too many requests."), ""),
        HTTPStatus.SERVICE_UNAVAILABLE: ("unavailable", _("The platform cannot answer now."), _("Try again soon.")),
    }
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in known:
        return "error", _("Something broke on our side. It has been logged."), ""
    return known.get(status, (status.phrase.lower().replace(" ", "_"), status.phrase, ""))
