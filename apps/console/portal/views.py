"""The portal's first page: what runs, what it costs, what needs me, what is free."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing import selectors as funds
from apps.billing.choices import BLOCKING
from apps.billing.consumption.spending import spending
from apps.billing.selectors import Wallet
from apps.common.access import SELF, actor_for, in_organisation, requires
from apps.common.actor import Actor
from apps.common.formatting import cores, estimated_moment, memory
from apps.common.money import yuan, yuan_rate
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.scoping import acting
from apps.console.portal import capacity, environments, runs, todo
from apps.tenants import registration
from apps.tenants.actors import platform_permissions
from apps.training import selectors as training
from apps.workloads.choices import Status

VIEW = in_organisation(Permission.TRAINING_VIEW)


@requires(SELF)
@require_GET
def overview(request: ActorRequest) -> HttpResponse:
    """`?whose=all` shows everybody's runs, to those who may see them.

    People without an organisation are told so; staff among them work in the console.
    """
    if request.actor.organisation_id is None:
        if Permission.PLATFORM_OVERVIEW in platform_permissions(request.user):  # type: ignore[arg-type]
            return redirect("console:overview")
        context = {"must_prove": registration.waits_for_email(request.actor)}
        return render(request, "portal/no_organisation.html", context)
    actor = actor_for(request, VIEW)
    with acting(actor):
        return render(request, "portal/overview.html", _page(actor, everyones=request.GET.get("whose") == "all"))


def _page(actor: Actor, *, everyones: bool) -> dict[str, Any]:
    wallet = funds.wallet(actor)
    needs = todo.items(actor, wallet)
    sees_all = actor.may(Permission.TRAINING_MANAGE_ALL)
    live = runs.live(actor)
    return {
        "strip": [
            _running(live),
            _cost(wallet),
            _needs(needs),
            _free(capacity.free(actor)),
        ],
        "environments": environments.rows(actor, everyones=everyones and sees_all),
        "rows": runs.rows(actor, everyones=everyones),
        "everyones": everyones and sees_all,
        "sees_all": sees_all,
        "mine_count": live.mine_count,
        "all_count": live.count,
        "needs": needs,
        "wallet": wallet,
        "spent": spending(actor),
        "may_start": actor.may(Permission.TRAINING_SUBMIT),
        "may_open": actor.may(Permission.ENVIRONMENTS_USE),
        "sees_money": actor.may(Permission.BILLING_VIEW),
        "last_event_id": str(training.last_event_id(actor)),
    }


def _running(live: runs.Live) -> dict[str, Any]:
    """All that the actor may see: for who manages the organisation's work, what its burn comes from."""
    counts = live.everyones
    names = {
        "mine": live.mine.get(Status.RUNNING, 0),
        "starting": counts.get(Status.STARTING, 0) + counts.get(Status.PLACED, 0),
        "queued": counts.get(Status.QUEUED, 0),
    }
    sub = _("%(starting)s starting · %(queued)s queued") % names
    if live.count != live.mine_count:
        sub = _("%(mine)s of them mine · %(starting)s starting · %(queued)s queued") % names
    return {"label": _("Running"), "value": counts.get(Status.RUNNING, 0), "sub": sub}


def _cost(wallet: Wallet) -> dict[str, Any]:
    sub = _("Nothing that costs runs now; %(amount)s are available") % {"amount": yuan(wallet.available_fen)}
    if wallet.runs_until:
        sub = _("The balance lasts until %(time)s") % {"time": estimated_moment(wallet.runs_until)}
    return {"label": _("Cost per hour, organisation"), "value": yuan_rate(wallet.burn_fen_per_hour), "sub": sub}


def _needs(needs: dict[str, Any]) -> dict[str, Any]:
    sub = needs["summary"] or _("Nothing waits for you")
    return {"label": _("Needs me"), "value": needs["count"], "sub": sub}


def _free(found: capacity.Free) -> dict[str, Any]:
    """Whole cards where there are any, CPU otherwise."""
    rest = _("%(cores)s cores · %(memory)s") % {"cores": cores(found.cpu_milli), "memory": memory(found.memory_mib)}
    if not found.nodes:
        return {"label": _("Free now"), "value": "—", "sub": _("No machine takes work at the moment")}
    if found.cards_total:
        models = " · ".join(f"{model} {count}" for model, count in found.cards_by_model[:3])
        unit = _("of %(total)s cards") % {"total": found.cards_total}
        return {"label": _("Whole cards free now"), "value": found.cards, "unit": unit, "sub": models or rest}
    unit = _("of %(total)s cores") % {"total": cores(found.cpu_total_milli)}
    sub = _("and %(memory)s of memory") % {"memory": memory(found.memory_mib)}
    return {"label": _("Free now"), "value": cores(found.cpu_milli), "unit": unit, "sub": sub}


@requires(VIEW)
@require_GET
def free(request: ActorRequest) -> HttpResponse:
    """The card of packages with how many of each could start now: a fragment, because it takes a dry pass for each."""
    actor = request.actor
    wallet = funds.wallet(actor)
    context = {
        "offered": capacity.offered(actor),
        "may_start": actor.may(Permission.TRAINING_SUBMIT),
        "may_open": actor.may(Permission.ENVIRONMENTS_USE),
        "blocked": wallet.status in BLOCKING,
    }
    return render(request, "portal/parts/free.html", context)
