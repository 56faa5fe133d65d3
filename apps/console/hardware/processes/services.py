"""Notify the platform's staff of processes that had to be replaced."""

from django.db import transaction
from django.db.models.functions import Now

from apps.common.actor import Actor
from apps.common.models import ProcessReplacement
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform


def notify_replacements(actor: Actor) -> int:
    """Notify of each once, and of one process at most once an hour; returns how many were new."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    untold = list(ProcessReplacement.objects.filter(told_at__isnull=True).order_by("pk")[:100])
    return sum(_tell(row) for row in untold)


def _tell(row: ProcessReplacement) -> bool:
    with transaction.atomic():
        if not ProcessReplacement.objects.filter(pk=row.pk, told_at__isnull=True).update(told_at=Now()):
            return False
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind="process.replaced",
            data={"kind": row.kind, "instance": row.instance, "silent_s": row.silent_s, "at": row.at.isoformat()},
            dedup=f"process.replaced:{row.kind}:{row.instance}:{row.at:%Y%m%d%H}",
        )
        return True
