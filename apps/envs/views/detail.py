"""One environment: its page by tabs, the part of it that refreshes, its charts and its log."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing import selectors as funds
from apps.billing.caps.selectors import cap_of
from apps.billing.prepaid.seats import pay_ahead, seat_of
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError, NotFound
from apps.common.feeds import growing
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import selectors, showing, ssh_words
from apps.envs.choices import LIVE_STATES, State
from apps.envs.models import Environment
from apps.envs.services import tools
from apps.envs.views.settings import settings_context
from apps.registry.saving.showing import Shown, shown
from apps.storage import browser
from apps.storage.choices import RootKind
from apps.storage.roots import resolve
from apps.workloads import faults, startup
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.alternatives import would_start_now
from apps.workloads.series import charts_of, series_of
from apps.workloads.waiting import queue_card

VIEW = in_organisation(Permission.ENVIRONMENTS_VIEW)
TABS = ("overview", "files", "snapshots", "ssh", "events", "log", "cost", "settings")
MAX_STARTS = 50
SAVINGS = 3


@requires(VIEW)
@require_GET
def of_workload(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """The page of the environment whose newest start a workload is, for links that know the workload alone."""
    environment = selectors.environments(request.actor).filter(workload_id=workload_id).first()
    if environment is None:
        raise NotFound
    return redirect("envs:detail", environment.pk)


@requires(VIEW)
@require_http_methods(["GET"])
def detail(request: ActorRequest, environment_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab."""
    environment = _get(request.actor, environment_id)
    return render(request, "envs/detail.html", page_context(request, environment))


@requires(VIEW)
@require_GET
def part(request: ActorRequest, environment_id: UUID, name: str) -> HttpResponse:
    """`now`: what changes by itself. Where charts and log would be others than `?shown=`, the whole page is loaded."""
    if name != "now":
        return HttpResponse(status=404)
    context = page_context(request, _get(request.actor, environment_id))
    if request.GET.get("shown", "") != context["shown_key"]:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return render(request, "envs/parts/now.html", context)


def _get(actor: Actor, environment_id: UUID) -> Environment:
    selectors.get(actor, environment_id)
    return selectors.in_list(actor).get(pk=environment_id)


def page_context(request: ActorRequest, environment: Environment) -> dict[str, Any]:
    """The frame of the page and what its tab shows."""
    actor = request.actor
    tab = request.GET.get("tab", "overview")
    own = showing.is_own(actor, environment)
    tab = tab if tab in TABS and (own or tab != "ssh") else "overview"
    workload = environment.workload
    attempt = workloads.current_attempt(workload) if workload else None
    shown = showing.show(environment, db_now())
    context = {
        "env": environment,
        "shown": shown,
        "workload": workload,
        "attempt": attempt,
        "own": own,
        "opens": showing.open_buttons(environment, shown),
        "items": showing.menu(actor, environment, shown)[1:],
        "live": shown.state in LIVE_STATES,
        "startable": shown.state in (State.STOPPED, State.RELEASED, State.FAILED),
        "operation": selectors.operation(environment),
        "tab": tab,
        "tabs": _tabs(environment, tab, own),
        "shown_key": _shown_key(attempt),
        "last_event_id": selectors.last_event_id(actor),
    }
    return context | _LOADERS[tab](request, environment, attempt)


def _shown_key(attempt: Attempt | None) -> str:
    """Whose charts and log there are to see."""
    if attempt is None or attempt.handle is None:
        return ""
    return f"{attempt.pk.hex[:12]}{'+' if attempt.started_at else ''}"


def _tabs(environment: Environment, current: str, own: bool) -> list[dict[str, Any]]:
    """SSH lets nobody but the owner in, so nobody else is shown how."""
    labels = {
        "overview": pgettext("tab", "Overview"),
        "files": _("Files"),
        "snapshots": _("Snapshots"),
        "ssh": "SSH",
        "events": _("Events"),
        "log": _("Log"),
        "cost": _("Cost"),
        "settings": _("Settings"),
    }
    counts = {"snapshots": selectors.snapshots(environment).count()}
    return [
        {"label": label, "url": f"?tab={tab}", "current": tab == current, "count": counts.get(tab)}
        for tab, label in labels.items()
        if own or tab != "ssh"
    ]


def _overview(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    workload, actor = environment.workload, request.actor
    if workload is None:
        return {"wait": None, "failure": None, "steps": [], "charts": [], **_money(actor, environment)}
    waits = workload.status == Status.QUEUED
    return {
        "wait": queue_card(actor, workload) if waits else None,
        "instead": would_start_now(actor, workload, workloads.attempts(workload)) if waits else None,
        "failure": faults.card(workload, attempt),
        "steps": startup.startup_steps(workload, attempt),
        "start_seconds": startup.total_seconds(workload, attempt),
        "charts": charts_of(workload),
        "services": _services(actor, environment),
        "last_snapshot": selectors.snapshots(environment).first(),
        "savings": _savings(actor, environment),
        **_money(actor, environment),
    }


def _savings(actor: Actor, environment: Environment) -> list[Shown]:
    """As images in the registry, the newest few."""
    return shown(actor, selectors.saved_as(environment)[:SAVINGS])


def _services(actor: Actor, environment: Environment) -> dict[str, Any]:
    """What runs inside, for the owner; asked anew each time, an environment that does not answer has none."""
    workload = environment.workload
    if workload is None or workload.status != Status.RUNNING or not showing.is_own(actor, environment):
        return {}
    try:
        return tools.running(actor, environment)
    except DomainError:
        return {}


def _money(actor: Actor, environment: Environment) -> dict[str, Any]:
    if not actor.may(Permission.BILLING_VIEW_OWN) or environment.workload_id is None:
        return {"cost": None}
    return {
        "cost": funds.workload_cost(actor, workload_id=environment.workload_id),
        "cap": cap_of(environment.workload_id),
        **(_live_money(actor, environment.workload) if environment.workload and environment.workload.is_live else {}),
    }


def _live_money(actor: Actor, workload: Workload) -> dict[str, Any]:
    seat = seat_of(workload.pk)
    return {
        "wallet": funds.wallet(actor),
        "seat": seat,
        "ahead": None if seat else pay_ahead(actor, workload.package_id),
        "sees_orders": actor.may(Permission.BILLING_VIEW),
    }


def _files(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    if not request.actor.may(Permission.STORAGE_VIEW):
        return {"files": None}
    root = resolve(request.actor, RootKind.FOLDER, environment.home_id)
    empty = _("The home folder: what you save in it stays between starts. Drop files here to bring them in.")
    return {"files": browser.context(request.actor, root, request.GET, empty_text=empty)}


def _snapshots(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    return {"snapshots": selectors.snapshots(environment)[:200]}


def _ssh(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    return {"ssh": ssh_words.access(request.actor, environment, request.get_host())}


def _events(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    return {"events": selectors.events(environment)[:500]}


def _log(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    return {"log_attempt": attempt}


def _cost(request: ActorRequest, environment: Environment, attempt: Attempt | None) -> dict[str, Any]:
    actor = request.actor
    if not actor.may(Permission.BILLING_VIEW_OWN):
        return {"starts": []}
    starts = list(selectors.past_workloads(environment)[:MAX_STARTS])
    costs = [(each, funds.workload_cost(actor, workload_id=each.pk)) for each in starts]
    return {"starts": costs, "starts_total": sum((cost.exact_fen for _each, cost in costs), start=0)}


_LOADERS: dict[str, Callable[[ActorRequest, Environment, Attempt | None], dict[str, Any]]] = {
    "overview": _overview,
    "files": _files,
    "snapshots": _snapshots,
    "ssh": _ssh,
    "events": _events,
    "log": _log,
    "cost": _cost,
    "settings": settings_context,
}


@growing(every_s=5)
@requires(VIEW)
@require_GET
def metrics(request: ActorRequest, environment_id: UUID, name: str) -> JsonResponse:
    """Points of one chart of the newest start, newer than `?since=` (Unix seconds)."""
    environment = selectors.get(request.actor, environment_id)
    try:
        since = float(request.GET.get("since", 0))
    except ValueError:
        since = 0.0
    chart = series_of(environment.workload, name, since) if environment.workload else None
    return JsonResponse(chart, safe=False) if chart is not None else JsonResponse({}, status=404)


@requires(VIEW)
@require_GET
def enter(request: ActorRequest, environment_id: UUID, port: str) -> HttpResponse:
    """On to the newest start's port: an address that stays the same over restarts."""
    environment = selectors.get(request.actor, environment_id)
    if environment.workload_id is None:
        return redirect("envs:detail", environment.pk)
    return redirect(showing.open_url(environment, port))
