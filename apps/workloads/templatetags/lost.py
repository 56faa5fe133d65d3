"""`{% load lost %}`: what became of work whose machine or platform failed, and what was given back for it."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from apps.workloads.choices import CREDITED, Fault, Status
from apps.workloads.faults import credited_words
from apps.workloads.models import Attempt, Workload

register = template.Library()


@register.inclusion_tag("workloads/lost.html")
def lost_notice(workload: Workload | None) -> dict[str, Any]:
    """The note after a loss, until the next try has ended too; nothing otherwise. A failure has a card of its own."""
    attempt = _lost(workload) if workload is not None else None
    if workload is None or attempt is None:
        return {"attempt": None}
    return {"attempt": attempt, "now": _now(workload), "credited": credited_words(attempt)}


def _lost(workload: Workload) -> Attempt | None:
    if workload.status == Status.FAILED:
        return None
    rows = Attempt.objects.filter(workload=workload, ended_at__isnull=False).select_related("node")
    newest = rows.order_by("-number").first()
    wanted = newest is not None and newest.fault in CREDITED and newest.started_at is not None
    return newest if wanted else None


def _now(workload: Workload) -> str:
    if workload.status == Status.STOPPED:
        return _("It was to stop anyway, so it is not started again.")
    if workload.status == Status.QUEUED:
        return _("It is queued again, first of its priority, and goes on from its last checkpoint.")
    return _("It was queued again and goes on from its last checkpoint.")


@register.filter
def lost_title(attempt: Attempt) -> str:
    if attempt.fault == Fault.NODE:
        return _("The machine %(node)s failed") % {"node": attempt.node.name}
    return _("The platform failed")
