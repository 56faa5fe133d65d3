"""Data of the sign-in limits: failures by account and source, and the browsers that an account knows."""

from django.db import models
from django.db.models.functions import Now

from apps.tenants.models.people import User


class KnownDevice(models.Model):
    """A browser in which a person has signed in. Its cookie holds a secret of which only the SHA-256 is kept.

    `place` is the network that it was seen in last.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    place = models.CharField(max_length=50, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="known_device_once")]
        indexes = [
            models.Index(fields=["digest"], name="known_device_digest"),
            models.Index(fields=["seen_at"], name="known_device_age"),
        ]


class SignInFailures(models.Model):
    """Failed tries for one account from one source; `open_at` is when the next one is looked at.

    `source` is a device, a network, or `strangers` for all that come without a known device.
    """

    account = models.CharField(max_length=80)
    source = models.CharField(max_length=80)
    failures = models.PositiveIntegerField()
    last_at = models.DateTimeField()
    open_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "source"], name="sign_in_failures_once")]
        indexes = [
            models.Index(fields=["source", "last_at"], name="sign_in_failures_by_source"),
            models.Index(fields=["last_at"], name="sign_in_failures_age"),
        ]
