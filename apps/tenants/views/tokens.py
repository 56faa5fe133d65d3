"""One's own API tokens."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import IN_PERSON, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.requests import ActorRequest
from apps.tenants import tokens
from apps.tenants.forms.credentials import TokenForm, places_of
from apps.tenants.models import ApiToken
from apps.tenants.permission_words import words_for
from apps.tenants.views.shared import page, user_of

ENDED_SHOWN = 20
NEW = "tenants/token_new.html"


@requires(IN_PERSON)
@require_GET
def token_list(request: ActorRequest) -> HttpResponse:
    """Live tokens, and the last ones that ended."""
    mine = tokens.own_tokens(request.actor)
    alive = list(tokens.live_tokens(mine))
    ended = list(mine.exclude(pk__in=[token.pk for token in alive])[:ENDED_SHOWN])
    context = {"live": [_row(token) for token in alive], "ended": [_row(token) for token in ended]}
    return render(request, "tenants/tokens.html", page("tokens", **context, may_make=bool(_places(request))))


def _row(token: ApiToken) -> dict[str, Any]:
    left = token.expires_at - db_now() if token.expires_at else None
    return {
        "id": str(token.pk),
        "token": token,
        "words": [words_for(name) for name in token.permissions],
        "soon": left is not None and left.days < 7,
    }


def _places(request: ActorRequest) -> list[tuple[str, Any]]:
    return places_of(user_of(request))


@requires(IN_PERSON)
@require_http_methods(["GET", "POST"])
def token_new(request: ActorRequest) -> HttpResponse:
    form = TokenForm(request.POST or None, user=user_of(request), place=request.GET.get("place", ""))
    if request.method != "POST":
        return render(request, NEW, page("tokens", form=form))
    if form.is_valid():
        try:
            token, secret = tokens.create(request.actor, draft=form.draft())
        except DomainError as error:
            show_error(form, error)
        else:
            return _made(request, token, secret)
    return render(request, NEW, page("tokens", form=form), status=REFUSED)


def _made(request: ActorRequest, token: ApiToken, secret: str) -> HttpResponse:
    """The secret is in this one response only: not in the session, not in a cache, nowhere else."""
    example = f'curl -H "Authorization: Bearer {secret}" {request.build_absolute_uri("/api/v1/me/")}'
    context = page("tokens", token=token, secret=secret, example=example)
    response = render(request, "tenants/token_made.html", context)
    response.headers["Cache-Control"] = "no-store"
    return response


@requires(IN_PERSON)
@require_POST
def token_revoke(request: ActorRequest, token_id: UUID) -> HttpResponse:
    token = tokens.revoke(request.actor, token_id=token_id)
    messages.success(request, _("The token “%(name)s” lets nobody in any more.") % {"name": token.name})
    return redirect("account:tokens")
