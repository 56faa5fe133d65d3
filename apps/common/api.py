"""What every API view shares: a declared access, the actor's scope, problem+json errors (RFC 9457)."""

from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import Http404
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from apps.common import bodies, idempotency, queries
from apps.common.access import Access, Realm, actor_for, bind_stream
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.common.throttling import Allowance

PROBLEM = "application/problem+json"


class ScopedView(APIView):
    """Declares `access` as one `Access` for all methods or as {method or action: Access}.

    A POST with an Idempotency-Key runs once in 24 hours; every request counts towards a rate limit. `body_is_secret`:
    the digest kept of it is keyed, so that it cannot be guessed.
    """

    access: ClassVar[Access | dict[str, Access]]
    body_is_secret: ClassVar[bool] = False
    _scope: ExitStack
    _once: idempotency.FirstAnswer | None

    def declared_access(self) -> Access | None:
        declared = getattr(self, "access", None)
        if not isinstance(declared, dict):
            return declared
        method = (self.request.method or "").lower()
        return declared.get(getattr(self, "action", None) or method, declared.get(method))

    @property
    def actor(self) -> Actor:
        actor: Actor = self.request._request.actor  # type: ignore[attr-defined]
        return actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if self.declared_access() is None and (request.method or "") not in self.allowed_methods:
            raise exceptions.MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        access = self.declared_access()
        if access is None or access.realm is Realm.PUBLIC:
            return
        request._request.user = request.user
        actor = actor_for(request._request, access)
        self._scope.enter_context(acting(actor))
        queries.check(self, request)
        key = idempotency.key_of(request._request) if request.method == "POST" else ""
        asked = idempotency.identify(request._request, actor, key, keyed=self.body_is_secret) if key else None
        bodies.check(self, request)
        if asked is not None:
            self._once = self._scope.enter_context(idempotency.answer_once(asked))

    def perform_authentication(self, request: Request) -> None:
        try:
            super().perform_authentication(request)
        except exceptions.AuthenticationFailed:
            super().check_throttles(request)
            raise

    def check_permissions(self, request: Request) -> None:
        """Refused requests count towards the rate limit too, so that guessing is limited."""
        super().check_throttles(request)
        super().check_permissions(request)

    def check_throttles(self, request: Request) -> None:
        """Does nothing: `check_permissions` has counted the request already."""

    def handle_exception(self, exc: Exception) -> Any:
        return exc.response if isinstance(exc, idempotency.Replayed) else super().handle_exception(exc)

    def _remember(self, response: HttpResponseBase) -> None:
        if self._once is not None:
            self._once.remember(response)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        self._once = None
        with ExitStack() as self._scope:
            response = super().dispatch(request, *args, **kwargs)
            self._remember(response)
        access = self.declared_access()
        if access is not None and access.realm is not Realm.PUBLIC:
            bind_stream(request, access, response)
        allowance: Allowance | None = getattr(request, "allowance", None)
        for name, value in allowance.headers().items() if allowance else ():
            response.headers[name] = value
        return response


def problem_json(error: Exception, context: dict[str, Any]) -> Response | None:
    """`{"type", "title", "status", "code", "detail", "hint", "fields"}` for every error that has words."""
    problem = problem_of(error)
    if problem is None:
        return None
    set_rollback()
    headers = dict(getattr(error, "headers", None) or {})
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    wait = getattr(error, "wait", None)  # of a throttled request, in seconds
    if wait is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    return Response(problem, status=problem["status"], content_type=PROBLEM, headers=headers)


def problem_of(error: Exception) -> dict[str, Any] | None:
    """The body in the active language; None for an error that is not a response to the client."""
    if isinstance(error, DomainError):
        told = {name: [str(text)] for name, text in error.fields.items()}
        return problem_body(error.status, error.code, str(error.message), str(error.hint), told)
    if isinstance(error, Http404):
        return problem_body(HTTPStatus.NOT_FOUND, "not_found", _("This does not exist, or you cannot see it."))
    if isinstance(error, exceptions.ValidationError):
        fields: Any = error.detail if isinstance(error.detail, dict) else {"": error.detail}
        return problem_body(HTTPStatus.BAD_REQUEST, "invalid", _("Some values cannot be accepted."), "", fields)
    if isinstance(error, exceptions.APIException):
        return problem_body(HTTPStatus(error.status_code), str(error.default_code), str(error.detail))
    return None


def problem_body(status: HTTPStatus, code: str, detail: str, hint: str = "", fields: Any = None) -> dict[str, Any]:
    """A body as in RFC 9457; `fields` says what is wrong with each input."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "code": code,
        "detail": detail,
        "hint": hint,
        "fields": fields or {},
    }
