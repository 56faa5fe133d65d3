"""Acts on one node: cordon, drain, remove, change labels and card modes."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.choices import AcceleratorMode, DrainAction
from apps.clusters.models import Node
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, Invalid, NotFound
from apps.common.formatting import moment
from apps.common.forms import key_value_rows
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.hardware.nodes.forms import DrainForm, ModeForm, MoveForm
from apps.console.kit.requests import StaffRequest
from apps.workloads.hardware import drains, lost, modes, moving, removal, simulation, sources, strays

MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)


@requires(MANAGE)
@require_POST
def cordon(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, partial(services.cordon, cordoned=True), _("%(name)s takes no new work."))


@requires(MANAGE)
@require_POST
def uncordon(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, partial(services.cordon, cordoned=False), _("%(name)s takes work again."))


@requires(MANAGE)
@require_POST
def trust(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, services.trust, _("%(name)s takes work again."))


@requires(MANAGE)
@require_POST
def drain(request: StaffRequest, node_id: UUID) -> HttpResponse:
    form = DrainForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(_("Give notice in minutes, seven days at most."))
        action = DrainAction(form.cleaned_data["action"])
        node = drains.drain(request.actor, node_id=node_id, action=action, notice=form.notice)
    except DomainError as error:
        return _refused(request, error, node_id)
    if not lost.is_well(node):
        words = _("%(name)s takes no new work. It does not answer, so nothing on it ends: declare it lost instead.")
        return done(request, words % {"name": node.name}, "console:node", node_id)
    words = _("%(name)s takes no new work and is empty by %(at)s.")
    return done(request, words % {"name": node.name, "at": moment(node.drain_until)}, "console:node", node_id)


@requires(MANAGE)
@require_POST
def drain_cancel(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, drains.cancel, _("%(name)s takes work again."))


@requires(MANAGE)
@require_POST
def declare_lost(request: StaffRequest, node_id: UUID) -> HttpResponse:
    words = _("%(name)s is lost. Its work is fenced and queued again within seconds.")
    return _apply(request, node_id, lost.declare, words)


@requires(MANAGE)
@require_POST
def switch_off(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, partial(simulation.switch, on=False), _("%(name)s is silent from now on."))


@requires(MANAGE)
@require_POST
def switch_on(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, partial(simulation.switch, on=True), _("%(name)s answers again."))


@requires(MANAGE)
@require_POST
def ask_sources(request: StaffRequest, node_id: UUID) -> HttpResponse:
    return _apply(request, node_id, sources.ask_again, _("%(name)s is asked within a minute."))


def _apply(request: StaffRequest, node_id: UUID, act: Callable[..., Node], words: str) -> HttpResponse:
    """Carry out the act and show `words` with the node's name, or the refusal, on the node's page."""
    try:
        node = act(request.actor, node_id=node_id)
    except DomainError as error:
        return _refused(request, error, node_id)
    return done(request, words % {"name": node.name}, "console:node", node_id)


@requires(MANAGE)
@require_POST
def remove(request: StaffRequest, node_id: UUID) -> HttpResponse:
    """`lost=yes`: it is declared lost first."""
    try:
        node = removal.remove_node(request.actor, node_id=node_id, declare_lost=request.POST.get("lost") == "yes")
    except DomainError as error:
        return _refused(request, error, node_id)
    return done(request, _("%(name)s is removed.") % {"name": node.name}, "console:nodes")


@requires(MANAGE)
@require_POST
def labels(request: StaffRequest, node_id: UUID) -> HttpResponse:
    given = {name: value for name, value in key_value_rows(request.POST, "label") if name.strip()}
    try:
        services.set_labels(request.actor, node_id=node_id, labels=given)
    except DomainError as error:
        return _refused(request, error, node_id)
    return done(request, _("Labels saved."), "console:node", node_id)


@requires(MANAGE)
@require_POST
def mode(request: StaffRequest, node_id: UUID) -> HttpResponse:
    form = ModeForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(_("Choose a mode."))
        wanted = AcceleratorMode(form.cleaned_data["mode"])
        count = modes.set_node_mode(request.actor, node_id=node_id, mode=wanted)
    except DomainError as error:
        return _refused(request, error, node_id)
    words = ngettext("%(count)s card switched.", "%(count)s cards switched.", count) % {"count": count}
    return done(request, words, "console:node", node_id)


@requires(MANAGE)
@require_POST
def stray_stop(request: StaffRequest, node_id: UUID, ref: UUID) -> HttpResponse:
    try:
        strays.stop_stray(request.actor, node_id=node_id, ref=ref)
    except DomainError as error:
        return _refused(request, error, node_id)
    return done(request, _("It was asked to end."), "console:node", node_id)


@requires(MANAGE)
@require_POST
def move(request: StaffRequest, node_id: UUID) -> HttpResponse:
    form = MoveForm(request.POST, node=clusters.node(request.actor, node_id))
    try:
        if not form.is_valid():
            raise Invalid(_("Choose another logical cluster of the node's zone."))
        cluster = form.cleaned_data["cluster"]
        node = moving.move_node(request.actor, node_id=node_id, cluster_id=cluster.pk)
    except DomainError as error:
        return _refused(request, error, node_id)
    words = _("%(name)s is in the cluster %(cluster)s now.") % {"name": node.name, "cluster": cluster.name}
    return done(request, words, "console:node", node_id)


def _refused(request: StaffRequest, error: DomainError, node_id: UUID) -> HttpResponse:
    if isinstance(error, NotFound):
        raise error
    say_refusal(request, error)
    return redirect("console:node", node_id)
