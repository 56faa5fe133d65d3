"""Reading the operation log."""

from django.db.models import QuerySet

from apps.audit.models import CONCERNS_MONEY, Entry
from apps.common.actor import Actor
from apps.common.permissions import Permission


def entries(actor: Actor) -> QuerySet[Entry]:
    """Newest first; needs the platform's audit permission."""
    actor.require(Permission.PLATFORM_AUDIT_VIEW)
    queryset: QuerySet[Entry] = Entry.objects.order_by("-at", "-id")
    return queryset


def money_entries(actor: Actor) -> QuerySet[Entry]:
    """Those that concern money, newest first; needs the permission for these."""
    actor.require(Permission.PLATFORM_AUDIT_MONEY)
    queryset: QuerySet[Entry] = Entry.objects.filter(CONCERNS_MONEY).order_by("-at", "-id")
    return queryset
