"""How far each run was read, and what its log says of its progress."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation
from apps.workloads.models import Workload


class Problem(models.TextChoices):
    """Why less was read than there is. Words: `collecting.words`."""

    NONE = "", "None"
    SLOW_PATTERN = "slow_pattern", "A pattern took too long"
    LIMIT = "limit", "The run is full"
    DAMAGED = "damaged", "A file is damaged"
    UNSEEN = "unseen", "Its machine could not be asked"


class Collection(TenantModel):
    """Of one workload. Positions are written in the transaction of the points before them.

    `attempt`: whose log is read, up to byte `offset`; `files` and `names` by path and by name, the latter with the
    source that said it first: nothing is taken twice from two sources. `done_at`: all was read, to the last byte.
    """

    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, primary_key=True, related_name="collection")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    attempt = models.PositiveIntegerField(db_default=0)
    offset = models.PositiveBigIntegerField(db_default=0)
    log = models.JSONField(default=dict, db_default={})
    files = models.JSONField(default=dict, db_default={})
    names = models.JSONField(default=dict, db_default={})
    walked_at = models.DateTimeField(null=True)
    # What lists show without asking for the points: {done, total, unit, epoch, epochs, fraction, left_s, per_s, at}.
    progress = models.JSONField(null=True)
    headline_name = models.CharField(max_length=250, blank=True, db_default="")
    headline_value = models.FloatField(null=True)
    problem = models.CharField(max_length=20, choices=Problem, blank=True, db_default=Problem.NONE)
    problem_detail = models.CharField(max_length=300, blank=True, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    quiet = models.PositiveSmallIntegerField(db_default=0)  # turns in a row that found nothing
    fence = models.PositiveIntegerField(db_default=0)
    lease_until = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["next_at"], name="collection_due", condition=models.Q(done_at__isnull=True)),
        ]
