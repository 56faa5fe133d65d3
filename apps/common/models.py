"""State of the API between requests. Code that every route passes lives in this app, so its rows do too.

They hold ids instead of foreign keys, because people and organisations belong to a higher layer.
"""

from django.db import models
from django.db.models.functions import Now


class IdempotentAnswer(models.Model):
    """The first answer to a request with an Idempotency-Key, for repetitions.

    The body is sealed: some answers hold a secret that is shown only once.
    """

    user_id = models.BigIntegerField()
    organisation_id = models.UUIDField(null=True)
    key = models.CharField(max_length=64)
    path = models.CharField(max_length=64)  # SHA-256 of method, path and query
    request = models.CharField(max_length=64)  # SHA-256 of what was asked
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user_id", "organisation_id", "key", "path"],
                name="idempotent_answer_once",
                nulls_distinct=False,
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_answer_age")]


class RequestCount(models.Model):
    """Requests that somebody made in the present minute; one row each, overwritten every new minute."""

    who = models.CharField(primary_key=True, max_length=80)
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField()


class ProcessHeartbeat(models.Model):
    """One process of the platform and the last proof that it did its work; written by itself (`heartbeats`)."""

    kind = models.CharField(max_length=16)  # web, gateway, worker, scheduler, beat, ssh, supervisor ...
    instance = models.CharField(max_length=120)  # which of several of its kind: the host, or the container
    pid = models.PositiveIntegerField()
    beats = models.PositiveBigIntegerField(default=1)  # whoever watches compares this, and no clocks
    started_at = models.DateTimeField(db_default=Now())
    beat_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "instance"], name="process_heartbeat_once")]


class ProcessReplacement(models.Model):
    """A process that was alive but did no work, and was killed to be restarted."""

    kind = models.CharField(max_length=16)
    instance = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    silent_s = models.FloatField()
    at = models.DateTimeField(db_default=Now())
    told_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["at"], name="process_replacement_age")]
