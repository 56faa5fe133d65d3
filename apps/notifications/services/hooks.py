"""From an event to the webhooks of its organisation: one delivery for each that wants it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.common.clock import db_now
from apps.notifications.kinds import is_hooked
from apps.notifications.models import Webhook, WebhookDelivery

EVERY_KIND = "*"
PRIVATE = "private"
"""In the data of a notice: what is for the person alone, and posted to no webhook."""
KEEP_TRYING = timedelta(days=3)


def queue_webhooks(organisation_id: UUID, kind: str, data: Mapping[str, Any], dedup: str | None) -> None:
    """Queue the event for the organisation's webhooks; the same `dedup` key reaches each of them once."""
    if not is_hooked(kind):
        return
    wanted = Q(kinds__contains=[kind]) | Q(kinds__contains=[EVERY_KIND])
    hooks = list(Webhook.objects.filter(wanted, organisation_id=organisation_id, active=True))
    if not hooks:
        return
    until = db_now() + KEEP_TRYING
    WebhookDelivery.objects.bulk_create(
        [
            WebhookDelivery(
                organisation_id=organisation_id,
                webhook=hook,
                kind=kind,
                data={name: value for name, value in data.items() if name != PRIVATE},
                dedup=dedup or "",
                give_up_at=until,
            )
            for hook in hooks
        ],
        ignore_conflicts=True,
    )
