"""What Ctrl K shows for what was typed: a fragment, in the portal and in the console."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import SELF, Access, Realm, on_platform, permitted, requires
from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.common.finding.query import Query
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.scoping import acting
from apps.console.search.selectors import find

FOUND = "components/shell/found.html"


@requires(on_platform(Permission.PLATFORM_OVERVIEW))
@require_GET
def of_console(request: ActorRequest) -> HttpResponse:
    return _answer(request, request.actor)


@requires(SELF)
@require_GET
def of_portal(request: ActorRequest) -> HttpResponse:
    """As a member of the organisation that one acts for; without one, pages only."""
    try:
        actor = permitted(request.actors, Access(Realm.ORGANISATION))  # type: ignore[attr-defined]
    except Denied:
        actor = request.actor
    return _answer(request, actor)


def _answer(request: ActorRequest, actor: Actor) -> HttpResponse:
    query = Query.of(request.GET.get("q", ""))
    with acting(actor):
        groups = find(actor, query)
    return render(request, FOUND, {"groups": groups, "query": query})
