"""One logical cluster: its nodes, and the organisations that it is given to."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.fields import OrganisationField
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)


class GiveForm(forms.Form):
    organisation = OrganisationField(label=gettext_lazy("Organisation"), max_length=80)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    cluster = clusters.cluster(request.actor, cluster_id)
    if cluster.zone_id != zone_id:
        raise NotFound
    context = {
        "cluster": cluster,
        "zone": cluster.zone,
        "nodes": clusters.nodes(request.actor).filter(cluster=cluster).order_by("name"),
        "grants": clusters.organisations_of(request.actor, cluster_id),
        "form": GiveForm(),
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
    }
    return render(request, "console/zones/cluster.html", context)


@requires(MANAGE)
@require_POST
def reserve(request: StaffRequest, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    reserved = request.POST.get("reserved") == "true"
    words = _("Only the organisations below start work here from now on.")
    if not reserved:
        words = _("Every organisation may start work here from now on.")

    def act() -> object:
        return services.reserve_cluster(request.actor, cluster_id=cluster_id, reserved=reserved)

    return _apply(request, zone_id, cluster_id, act, words)


@requires(MANAGE)
@require_POST
def give(request: StaffRequest, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    form = GiveForm(request.POST)

    def act() -> object:
        if not form.is_valid():
            raise Invalid(_("There is no organisation with this name."))
        organisation = form.cleaned_data["organisation"]
        return services.give_cluster(request.actor, cluster_id=cluster_id, organisation_id=organisation.pk)

    return _apply(request, zone_id, cluster_id, act, _("The organisation may use this cluster from now on."))


@requires(MANAGE)
@require_POST
def withdraw(request: StaffRequest, zone_id: UUID, cluster_id: UUID, organisation_id: UUID) -> HttpResponse:
    def act() -> object:
        return services.withdraw_cluster(request.actor, cluster_id=cluster_id, organisation_id=organisation_id)

    words = _("The organisation starts nothing new here. What it runs goes on until it ends.")
    return _apply(request, zone_id, cluster_id, act, words)


def _apply(
    request: StaffRequest, zone_id: UUID, cluster_id: UUID, act: Callable[[], object], words: str
) -> HttpResponse:
    try:
        act()
    except (Conflict, Invalid) as error:
        return _refused(request, error, zone_id, cluster_id)
    return done(request, words, "console:cluster", zone_id, cluster_id)


def _refused(request: StaffRequest, error: DomainError, zone_id: UUID, cluster_id: UUID) -> HttpResponse:
    say_refusal(request, error)
    return redirect("console:cluster", zone_id, cluster_id)
