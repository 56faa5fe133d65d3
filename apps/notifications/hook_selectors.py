"""Reading an organisation's webhooks."""

from django.db.models import Count, Q, QuerySet

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.notifications.choices import DeliveryState
from apps.notifications.models import Webhook, WebhookDelivery


def hooks(actor: Actor) -> QuerySet[Webhook]:
    actor.require(Permission.WEBHOOKS_MANAGE)
    rows: QuerySet[Webhook] = Webhook.objects.order_by("-created_at", "-pk")
    return rows


def with_waiting(rows: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """Adds `waiting`: events on their way. An organisation has few webhooks, so counting is cheap."""
    return rows.annotate(waiting=Count("deliveries", filter=Q(deliveries__state=DeliveryState.QUEUED)))


def deliveries(actor: Actor, hook: Webhook) -> QuerySet[WebhookDelivery]:
    """Of one webhook, newest first."""
    actor.require(Permission.WEBHOOKS_MANAGE)
    rows: QuerySet[WebhookDelivery] = WebhookDelivery.objects.filter(webhook=hook)
    return rows.order_by("-created_at", "-pk")
