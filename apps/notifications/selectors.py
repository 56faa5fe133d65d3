"""Reading notices: each person their own, in the organisation they work in."""

from django.db.models import ExpressionWrapper, Q, QuerySet
from django.db.models.fields import BooleanField

from apps.common.actor import Actor
from apps.notifications.models import Notice


def notices(actor: Actor) -> QuerySet[Notice]:
    """The actor's notices: unread ones first, then by age, the newest first."""
    is_unread = ExpressionWrapper(Q(read_at__isnull=True), output_field=BooleanField())
    rows: QuerySet[Notice] = Notice.objects.filter(user_id=actor.person())
    return rows.order_by(is_unread.desc(), "-created_at", "-pk")


def unread(actor: Actor) -> QuerySet[Notice]:
    rows: QuerySet[Notice] = Notice.objects.filter(user_id=actor.person(), read_at__isnull=True)
    return rows.order_by("-created_at", "-pk")
