"""What runs say of themselves: metrics as points in compressed chunks, parameters and tags.

A batch of points is one row as it arrives; a loop moves batches into chunks of their series. Whoever reads takes both
in one statement, and so misses and doubles nothing while points are on their way.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation
from apps.tracking.choices import RunStatus
from apps.tracking.collecting.models import Collection as Collection
from apps.tracking.points import LONGEST_NAME
from apps.workloads.models import Workload

LONGEST_PARAMETER = 6000  # as MLflow has it
LONGEST_TAG = 8000


class TrackedRun(TenantModel):
    """What is tracked of one workload, under the workload's id; or a run nested in it, which has an id of its own.

    Its row is the lock under which points are written, so that they have one order. `status` is that of a nested run:
    of the other, its workload's counts.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="tracked_runs")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    name = models.CharField(max_length=LONGEST_NAME, blank=True, db_default="")
    status = models.CharField(max_length=10, choices=RunStatus, db_default=RunStatus.RUNNING)
    series_count = models.PositiveIntegerField(db_default=0)
    point_count = models.PositiveBigIntegerField(db_default=0)
    inputs = models.JSONField(default=list, db_default=[])  # data sets, as clients of MLflow describe them
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    # What was tracked is gone with its run; nothing is taken any more.
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["organisation", "-created_at"], name="tracked_run_newest")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(id=models.F("workload")) ^ models.Q(parent__isnull=False),
                name="tracked_run_of_a_workload_or_nested",
            )
        ]


class Series(TenantModel):
    """One metric of a run, with what lists and comparisons ask most. Least and greatest are of finite values alone."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(TrackedRun, on_delete=models.PROTECT, related_name="series", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    count = models.PositiveBigIntegerField(db_default=0)
    odd_count = models.PositiveBigIntegerField(db_default=0)  # NaN and infinite
    first_step = models.BigIntegerField(null=True)
    first_moment = models.BigIntegerField(null=True)  # Unix microseconds
    last_value = models.FloatField(null=True)
    last_step = models.BigIntegerField(null=True)
    last_moment = models.BigIntegerField(null=True)
    min_value = models.FloatField(null=True)
    min_step = models.BigIntegerField(null=True)
    max_value = models.FloatField(null=True)
    max_step = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="series_name_once")]

    def __str__(self) -> str:
        return self.name


class PointBatch(TenantModel):
    """Points of one run as they came, until they are in chunks. `slots`: for each point, which of `series_ids`.

    Ids rise in the order of arrival within a run, since its row is locked while one is given.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(TrackedRun, on_delete=models.PROTECT, related_name="batches")
    series_ids = ArrayField(models.BigIntegerField())
    count = models.PositiveIntegerField()
    slots = models.BinaryField()
    points = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())


class PointChunk(TenantModel):
    """Consecutive points of one series, from number `first` on. `outline`: the extremes of each few dozen of them."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="chunks", db_index=False)
    first = models.PositiveBigIntegerField()
    count = models.PositiveIntegerField()
    odd_count = models.PositiveIntegerField()
    min_step = models.BigIntegerField()
    max_step = models.BigIntegerField()
    min_moment = models.BigIntegerField()  # Unix microseconds
    max_moment = models.BigIntegerField()
    points = models.BinaryField()
    outline = models.BinaryField(default=b"")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "first"], name="chunk_of_a_series_once")]


class Parameter(TenantModel):
    """A setting of a run, written once."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(TrackedRun, on_delete=models.PROTECT, related_name="parameters", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    value = models.CharField(max_length=LONGEST_PARAMETER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="parameter_name_once")]


class TrackingTag(TenantModel):
    """What a program notes about its run. The labels by which people find runs are others: `workloads.tagging`."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(TrackedRun, on_delete=models.PROTECT, related_name="tags", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    value = models.CharField(max_length=LONGEST_TAG)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="tracking_tag_name_once")]


class Sender(TenantModel):
    """A program that numbers what it sends, and the last number that was taken: sent again, it is not taken twice."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(TrackedRun, on_delete=models.PROTECT, related_name="senders", db_index=False)
    key = models.CharField(max_length=64)
    number = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="sender_once")]
