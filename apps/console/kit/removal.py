"""Ending somebody's membership, with what they run: for an organisation's people and for staff."""

from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation
from apps.tenants.authority import organisation_for
from apps.tenants.models import Membership
from apps.tenants.services.members import remove_member
from apps.workloads import services as workloads
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Workload

STOP = OpenApiParameter("stop", bool, description="Also stop what the person runs.")


def stop_asked(request: Request) -> bool:
    return request.query_params.get("stop", "").lower() in ("1", "true", "yes")


def live_work(organisation_id: UUID, user_id: int) -> QuerySet[Workload]:
    """What somebody has in the organisation that has not ended."""
    rows: QuerySet[Workload] = Workload.objects.filter(organisation_id=organisation_id, owner_id=user_id)
    return rows.filter(status__in=LIVE)


def may_stop(actor: Actor) -> bool:
    """Whether the actor may stop what others run: staff need a right for it, an organisation's people have theirs."""
    return not actor.platform or actor.may(Permission.PLATFORM_WORKLOADS_MANAGE)


def remove(actor: Actor, *, user_id: int, stop_running: bool, organisation_id: UUID | None = None) -> int:
    """End a membership; with `stop_running` also stop the person's work, as far as the actor may.

    `organisation_id` is named by staff. Returns how many workloads were asked to stop. Without `stop_running`, running
    work goes on and is charged; queued work does not start. Outputs and the person's volumes stay in the organisation.
    """
    organisation_id = organisation_for(actor, organisation_id)
    if stop_running and actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    with transaction.atomic():
        user = remove_member(actor, user_id=user_id, organisation_id=organisation_id)
        data = {"person": user.display_name, "by": actor.label}
        notify_organisation(organisation_id=organisation_id, kind="member.removed", data=data)
    if not stop_running:
        return 0
    running = live_work(organisation_id, user_id).exclude(status=Status.STOPPING)
    return sum(_stopped(actor, workload) for workload in running)


def _stopped(actor: Actor, workload: Workload) -> bool:
    try:
        workloads.stop(actor, workload)
    except Conflict:  # it ended by itself at this moment
        return False
    return True


def removed_words(member: Membership, stopped: int) -> str:
    words = _("%(name)s is no longer a member.") % {"name": member.user.display_name}
    if not stopped:
        return words
    told = ngettext("%(count)s workload is being stopped.", "%(count)s workloads are being stopped.", stopped)
    return f"{words} {told % {'count': stopped}}"
