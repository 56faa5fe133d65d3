"""What each person wants to be sent, and their confirmed phone number."""

from django.db import models
from django.db.models.functions import Now

from apps.notifications.choices import Channel, Topic
from apps.tenants.models import User


class Preference(models.Model):
    """A choice that differs from the default; no row means the default."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notice_preferences")
    topic = models.CharField(max_length=16, choices=Topic)
    channel = models.CharField(max_length=8, choices=Channel)
    on = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "topic", "channel"], name="preference_once")]


class Phone(models.Model):
    """A number in E.164 and the proof of it: SMS go only to a number whose code was typed back.

    Only a hash of the code is kept. It is good once, for a few minutes and a few tries.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="proved_phone")
    number = models.CharField(max_length=20)
    verified_at = models.DateTimeField(null=True)
    wanted = models.CharField(max_length=20, blank=True, default="")  # the number that the code was sent to
    code_hash = models.CharField(max_length=128, blank=True, default="")
    code_sent_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    sent_count = models.PositiveSmallIntegerField(default=0)  # codes since `counted_from`, against SMS bombing
    counted_from = models.DateTimeField(db_default=Now())
