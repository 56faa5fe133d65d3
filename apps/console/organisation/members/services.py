"""Acts on members that also affect their running work."""

from django.db import transaction

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.notifications.services import notify_organisation
from apps.tenants.services.members import remove_member
from apps.workloads import services as workloads
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Workload


def remove(actor: Actor, *, user_id: int, stop_running: bool) -> int:
    """End a membership; with `stop_running` also stop the person's work, as far as the actor may.

    Returns how many workloads were asked to stop. Without `stop_running`, running work goes on and is charged; queued
    work does not start. Outputs and the person's volumes stay in the organisation.
    """
    organisation_id = actor.organisation()
    with transaction.atomic():
        user = remove_member(actor, user_id=user_id)
        data = {"person": user.display_name, "by": actor.label}
        notify_organisation(organisation_id=organisation_id, kind="member.removed", data=data)
    if not stop_running:
        return 0
    live = Workload.objects.filter(
        organisation_id=organisation_id, owner_id=user_id, status__in=LIVE - {Status.STOPPING}
    )
    return sum(_stopped(actor, workload) for workload in live)


def _stopped(actor: Actor, workload: Workload) -> bool:
    try:
        workloads.stop(actor, workload)
    except Conflict:  # it ended by itself at this moment
        return False
    return True
