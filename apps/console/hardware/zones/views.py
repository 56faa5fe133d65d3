"""Zones and their clusters; the simulated zone, which comes and goes with a click."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.models import ZonePackage
from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, Invalid
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.hardware.zones.forms import NameForm
from apps.console.hardware.zones.kubernetes import cluster_card
from apps.console.hardware.zones.storage import storage_card
from apps.console.kit.requests import StaffRequest
from apps.workloads.hardware import holding, removal, simulation

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
PRICES = on_platform(P.PLATFORM_PRICES_MANAGE)


@requires(VIEW)
@require_GET
def zone_list(request: StaffRequest) -> HttpResponse:
    zones = list(clusters.zones(request.actor))
    context = {
        "zones": zones,
        "form": NameForm(),
        "has_simulated": any(zone.simulated for zone in zones),
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
    }
    return render(request, "console/zones/list.html", context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    zone = clusters.zone(request.actor, zone_id)
    context: dict[str, Any] = {
        "zone": zone,
        "clusters": clusters.clusters_of(request.actor, zone_id),
        "form": NameForm(),
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
        "may_price": request.actor.may(P.PLATFORM_PRICES_MANAGE),
        "may_stop": request.actor.may(P.PLATFORM_WORKLOADS_MANAGE),
    }
    if not zone.simulated:
        context |= storage_card(zone) | cluster_card(zone)
    if zone.simulated:
        context |= {
            "offers": ZonePackage.objects.filter(zone=zone, package__active=True).count(),
            "living": holding.workloads_of_zone(zone).count(),
        }
    return render(request, "console/zones/detail.html", context)


@requires(MANAGE)
@require_POST
def create(request: StaffRequest) -> HttpResponse:
    return _named(request, lambda name: services.create_zone(request.actor, name=name), _("Zone made."), "zones")


@requires(MANAGE)
@require_POST
def rename(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    def act(name: str) -> object:
        return services.rename_zone(request.actor, zone_id=zone_id, name=name)

    return _named(request, act, _("Zone renamed."), "zone", zone_id)


@requires(MANAGE)
@require_POST
def delete(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    try:
        zone = services.delete_zone(request.actor, zone_id=zone_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone", zone_id)
    return done(request, _("%(name)s is deleted.") % {"name": zone.name}, "console:zones")


@requires(MANAGE)
@require_POST
def cluster_create(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    def act(name: str) -> object:
        return services.create_cluster(request.actor, zone_id=zone_id, name=name)

    return _named(request, act, _("Cluster made."), "zone", zone_id)


@requires(MANAGE)
@require_POST
def cluster_rename(request: StaffRequest, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    def act(name: str) -> object:
        return services.rename_cluster(request.actor, cluster_id=cluster_id, name=name)

    return _named(request, act, _("Cluster renamed."), "zone", zone_id)


@requires(MANAGE)
@require_POST
def cluster_delete(request: StaffRequest, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    try:
        services.delete_cluster(request.actor, cluster_id=cluster_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone", zone_id)
    return done(request, _("Cluster deleted."), "console:zone", zone_id)


def _named(request: StaffRequest, act: Callable[[str], object], words: str, page: str, *args: object) -> HttpResponse:
    """Carry out something that needs a name; what is wrong with it is said on the page that one goes back to."""
    try:
        act(request.POST.get("name", ""))
    except (Conflict, Invalid) as error:
        say_refusal(request, error)
        return redirect(f"console:{page}", *args)
    return done(request, words, f"console:{page}", *args)


@requires(MANAGE)
@require_POST
def simulate(request: StaffRequest) -> HttpResponse:
    try:
        zone = simulation.add_zone(request.actor)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zones")
    words = _("Four nodes with 32 cards are there, as far as simulated hardware can be. Now offer packages for them.")
    return done(request, words, "console:zone", zone.pk)


@requires(PRICES)
@require_POST
def offer(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    count = services.offer_packages(request.actor, zone_id=zone_id)
    words = ngettext("%(count)s package is on offer.", "%(count)s packages are on offer.", count) % {"count": count}
    return done(request, words, "console:zone", zone_id)


@requires(PRICES)
@require_POST
def bill(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    billed = request.POST.get("billed") == "true"
    try:
        services.set_billed(request.actor, zone_id=zone_id, billed=billed)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone", zone_id)
    words = _("Charged from now on.") if billed else _("Free of charge from now on.")
    return done(request, words, "console:zone", zone_id)


@requires(MANAGE)
@require_POST
def network(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    trusted = request.POST.get("trusted") == "true"
    try:
        services.set_trusted_network(request.actor, zone_id=zone_id, trusted=trusted)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone", zone_id)
    words = _("Gangs may span its nodes from now on.") if trusted else _("New gangs stay on one node from now on.")
    return done(request, words, "console:zone", zone_id)


@requires(on_platform(P.PLATFORM_WORKLOADS_MANAGE))
@require_POST
def stop(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    count = removal.stop_zone(request.actor, zone_id=zone_id)
    words = ngettext("%(count)s workload was asked to end.", "%(count)s workloads were asked to end.", count)
    return done(request, words % {"count": count}, "console:zone", zone_id)


@requires(MANAGE)
@require_POST
def remove(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    try:
        removal.remove_simulated_zone(request.actor, zone_id=zone_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone", zone_id)
    return done(request, _("The simulated zone is gone, and its packages are withdrawn."), "console:zones")
