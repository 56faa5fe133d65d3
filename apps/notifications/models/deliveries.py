"""The outbox: what has to leave the house, written in the transaction of what happened."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.notifications.choices import Channel, DeliveryState
from apps.notifications.models.notices import Notice
from apps.tenants.models import Organisation, User


class Delivery(TenantModel):
    """One notice on its way to one address. `fence` rises with each claim: only the newest claimant's result counts.

    `put_off` by the hourly limit: all that waited so leave in one message, and `digest` names the delivery that
    carried the others.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=60)
    channel = models.CharField(max_length=8, choices=Channel)
    address = models.CharField(max_length=254)
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(db_default=Now())
    put_off = models.BooleanField(default=False)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")
    digest = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="carried")
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_try_at"],
                name="delivery_due",
                condition=models.Q(state__in=[DeliveryState.QUEUED, DeliveryState.SENDING]),
            ),
            models.Index(
                fields=["user", "channel", "kind", "done_at"],
                name="delivery_sent_lately",
                condition=models.Q(state=DeliveryState.SENT),
            ),
            models.Index(fields=["done_at"], name="delivery_done", condition=models.Q(done_at__isnull=False)),
        ]
        constraints = [models.UniqueConstraint(fields=["notice", "channel"], name="delivery_once_per_channel")]
