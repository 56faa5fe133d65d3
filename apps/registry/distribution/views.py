"""The registry's token service, as distribution's "Token Authentication Specification" has it."""

import base64
import binascii
import datetime as dt
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.common.access import PUBLIC, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.requests import address_of
from apps.registry.distribution import bearer, issuing, scopes
from apps.registry.distribution.issuing import Login
from apps.tenants.models import User
from apps.tenants.sign_in_limits import TooManyTries

LONGEST = 4096


@requires(PUBLIC)
@require_GET
def token(request: HttpRequest) -> HttpResponse:
    """A token of the registry for an API token (HTTP Basic: user name, token). Nobody gets one without."""
    login = _login(request)
    if login is None:
        return _unauthorized(_("Sign in with your user name and an API token."))
    try:
        wanted = scopes.parse(request.GET.getlist("scope"))
        actor = issuing.signed_in(login)
        grants = issuing.granted(actor, wanted)
    except scopes.BadScope as error:
        return _refusal(HTTPStatus.BAD_REQUEST, "UNSUPPORTED", str(error))
    except issuing.SignInRefused:
        return _unauthorized(_("User name and API token do not fit, or the token has ended."))
    except TooManyTries as error:
        return _refusal(error.status, "TOOMANYREQUESTS", error.sentences, {"Retry-After": str(error.wait_s)})
    except DomainError as error:
        return _refusal(HTTPStatus.FORBIDDEN, "DENIED", error.sentences)
    subject = User.objects.values_list("username", flat=True).get(pk=actor.person())
    made, now = bearer.issue(subject, grants), db_now().astimezone(dt.UTC)
    answer = {"token": made, "access_token": made, "expires_in": bearer.LIFETIME_S}
    return _private(JsonResponse(answer | {"issued_at": now.isoformat(timespec="seconds").replace("+00:00", "Z")}))


def _login(request: HttpRequest) -> Login | None:
    kind, _space, coded = request.headers.get("Authorization", "").strip().partition(" ")
    if kind.lower() != "basic" or len(coded) > LONGEST:
        return None
    try:
        text = base64.b64decode(coded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    username, colon, secret = text.partition(":")
    if not colon or not username or not secret or "\0" in text:
        return None
    return Login(username, secret, address_of(request))


def _unauthorized(message: str) -> HttpResponse:
    realm = {"WWW-Authenticate": 'Basic realm="PLStack", charset="UTF-8"'}
    return _refusal(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED", message, realm)


def _refusal(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> HttpResponse:
    """An error as clients of registries show them."""
    body = {"errors": [{"code": code, "message": message}]}
    return _private(JsonResponse(body, status=status, headers=headers or {}))


def _private(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = "no-store"
    return response
