"""What every API view shares: a declared access, the actor's scope, problem+json errors (RFC 9457)."""

from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from apps.common.access import Access, Realm, actor_for
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.scoping import acting


class ScopedView(APIView):
    """Declares `access` as one `Access` for all methods or as {method or action: Access}."""

    access: ClassVar[Access | dict[str, Access]]

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
        super().initial(request, *args, **kwargs)
        access = self.declared_access()
        if access is not None and access.realm is not Realm.PUBLIC:
            request._request.user = request.user
            self._scope.enter_context(acting(actor_for(request._request, access)))

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        with ExitStack() as self._scope:
            return super().dispatch(request, *args, **kwargs)


def problem_json(error: Exception, context: dict[str, Any]) -> Response | None:
    """`{"type", "title", "status", "code", "detail", "hint", "fields"}` for every error that has words."""
    problem = _problem(error)
    if problem is None:
        return None
    set_rollback()
    headers = dict(getattr(error, "headers", None) or {})
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    wait = getattr(error, "wait", None)  # of a throttled request, in seconds
    if wait is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    return Response(problem, status=problem["status"], content_type="application/problem+json", headers=headers)


def _problem(error: Exception) -> dict[str, Any] | None:
    if isinstance(error, DomainError):
        told = {name: [str(text)] for name, text in error.fields.items()}
        return _body(error.status, error.code, str(error.message), str(error.hint), told)
    if isinstance(error, Http404):
        return _body(HTTPStatus.NOT_FOUND, "not_found", _("This does not exist, or you cannot see it."))
    if isinstance(error, exceptions.ValidationError):
        fields: Any = error.detail if isinstance(error.detail, dict) else {"": error.detail}
        return _body(HTTPStatus.BAD_REQUEST, "invalid", _("Some values cannot be accepted."), "", fields)
    if isinstance(error, exceptions.APIException):
        return _body(HTTPStatus(error.status_code), str(error.default_code), str(error.detail))
    return None


def _body(status: HTTPStatus, code: str, detail: str, hint: str = "", fields: Any = None) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "code": code,
        "detail": detail,
        "hint": hint,
        "fields": fields or {},
    }
