"""Reading the operation log."""

from django.db.models import QuerySet

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.permissions import Permission


def entries(actor: Actor) -> QuerySet[Entry]:
    """Newest first; needs the platform's audit permission."""
    actor.require(Permission.PLATFORM_AUDIT_VIEW)
    queryset: QuerySet[Entry] = Entry.objects.order_by("-at", "-id")
    return queryset
