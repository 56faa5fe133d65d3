"""Delete old logs of deliveries and notices that were read long ago."""

from datetime import timedelta

from apps.common.clock import db_now
from apps.notifications.models import Delivery, Notice, WebhookDelivery

LOG_KEPT = timedelta(days=30)
READ_KEPT = timedelta(days=365)
AT_A_TIME = 5000


def sweep() -> int:
    """Delete at most a few thousand rows of each; returns how many."""
    now = db_now()
    old = (
        (Delivery, {"done_at__lt": now - LOG_KEPT}),
        (WebhookDelivery, {"done_at__lt": now - LOG_KEPT}),
        # A key that tells something once must outlive what it is about: unread notices and young ones stay.
        (Notice, {"read_at__lt": now - READ_KEPT}),
    )
    gone = 0
    for model, due in old:
        keys = list(model.objects.filter(**due).values_list("pk", flat=True)[:AT_A_TIME])
        gone += model.objects.filter(pk__in=keys).delete()[0]
    return gone
