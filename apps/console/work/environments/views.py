"""Environments of all organisations: the list, and what the platform's staff may do with one."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit import live as overview
from apps.console.kit.requests import StaffRequest
from apps.console.work.environments.bulk_acts import ENVIRONMENTS
from apps.console.work.environments.listing import ConsoleEnvironmentTable
from apps.envs import selectors
from apps.envs.models import Environment
from apps.envs.services import recycle_bin, running
from apps.envs.tables import EnvironmentFilter
from apps.envs.views.questions import QUESTIONS

VIEW = on_platform(P.PLATFORM_WORKLOADS_VIEW)
MANAGE = on_platform(P.PLATFORM_WORKLOADS_MANAGE)


@requires(VIEW)
@require_GET
def environment_list(request: StaffRequest) -> HttpResponse:
    filtered = EnvironmentFilter(request.GET, queryset=selectors.in_list(request.actor), request=request)
    table = paged(
        request, ConsoleEnvironmentTable(filtered.qs, request=request, bulk=bulk.offered(request, ENVIRONMENTS))
    )
    context = {"table": table, "filter": filtered, "last_event_id": overview.newest_event_id()}
    return render(request, "console/environments/list.html", context)


@requires(MANAGE)
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, ENVIRONMENTS)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def act(request: StaffRequest, environment_id: UUID, name: str) -> HttpResponse:
    """GET: the question for the dialog. POST: stop, delete (into the bin), restore or purge."""
    environment = selectors.get(request.actor, environment_id)
    if name not in _ACTS:
        raise Http404
    if request.method != "POST":
        action = reverse("console:environment_act", args=[environment.pk, name])
        context = {**QUESTIONS[name](request.actor, environment, request.GET), "action": action}
        return render(request, context.pop("template", "components/confirm_body.html"), context)
    service, words = _ACTS[name]
    try:
        service(request.actor, environment)
    except DomainError as error:
        say_refusal(request, error)
        return done_nothing()
    return done(request, words() % {"name": environment.name}, "console:environments")


def done_nothing() -> HttpResponse:
    return HttpResponse(status=302, headers={"Location": reverse("console:environments")})


Act = Callable[[Actor, Environment], Any]
_ACTS: dict[str, tuple[Act, Callable[[], str]]] = {
    "stop": (running.stop, lambda: _("%(name)s is asked to stop.")),
    "delete": (recycle_bin.delete, lambda: _("%(name)s is in the recycle bin.")),
    "restore": (recycle_bin.restore, lambda: _("%(name)s is back, stopped, with all its files.")),
    "purge": (recycle_bin.purge, lambda: _("%(name)s is gone for good.")),
}
