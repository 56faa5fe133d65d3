"""Webhooks of an organisation: where its events go, what is on its way and how each attempt went."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel
from apps.notifications.choices import DeliveryState, HookFault
from apps.tenants.models import Organisation, User


class Webhook(TenantModel):
    """An address and the kinds of events sent to it (`*`: all). Secrets are sealed; an old one signs beside the new.

    `failing_since` is the first of the consecutive failures; when they last too long the webhook is switched off.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="webhooks")
    name = models.CharField(_("name"), max_length=60)
    url = models.URLField(_("address"), max_length=500)
    kinds = models.JSONField(default=list)
    secret = models.BinaryField()
    old_secret = models.BinaryField(null=True)
    old_secret_until = models.DateTimeField(null=True)
    active = models.BooleanField(default=True)
    switched_off_at = models.DateTimeField(null=True)  # by the platform, after failures
    failing_since = models.DateTimeField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="webhook_name_once")]

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(TenantModel):
    """One event on its way to one webhook; its id is the receiver's key against repeats (`Webhook-Id`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=60)
    data = models.JSONField(default=dict)
    dedup = models.CharField(max_length=160, blank=True, default="")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.QUEUED)
    attempts_made = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(db_default=Now())
    give_up_at = models.DateTimeField()
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["next_try_at"], name="hook_delivery_due", condition=models.Q(state=DeliveryState.QUEUED)
            ),
            models.Index(fields=["webhook", "-created_at"], name="hook_delivery_newest"),
            models.Index(fields=["created_at"], name="hook_delivery_age"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["webhook", "dedup"], condition=~models.Q(dedup=""), name="hook_delivery_once"
            ),
        ]


class WebhookAttempt(TenantModel):
    """The outcome of one attempt: the receiver's status, never its body."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="attempts")
    at = models.DateTimeField(db_default=Now())
    status = models.PositiveSmallIntegerField(null=True)
    milliseconds = models.PositiveIntegerField(default=0)
    fault = models.CharField(max_length=12, choices=HookFault, blank=True, default=HookFault.NONE)

    class Meta:
        ordering = ["-at", "-id"]
