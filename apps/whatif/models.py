"""Scenarios, the traces that they may replay, and their results. The platform's own rows: no tenant sees them."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.tenants.models import User
from apps.whatif.choices import OPEN, Hardware, ScenarioStatus, Source


class Trace(models.Model):
    """An uploaded file of arrivals, as it was read and checked. `content`: gzip of UTF-8 CSV in the platform's format.

    `facts`: {"organisations": [...], "users": [...]}, the most frequent first.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=80)
    content = models.BinaryField()
    tasks = models.PositiveIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    facts = models.JSONField(default=dict)
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(last_at__gte=models.F("first_at")), name="trace_ends_after_start"),
            models.CheckConstraint(condition=Q(tasks__gt=0), name="trace_not_empty"),
        ]

    def __str__(self) -> str:
        return self.name


class Scenario(models.Model):
    """Side A, the present state, and side B, with `changes`, over [start, end). `status` is written by `states` alone.

    `fence` rises with each claim, so that only the newest claim counts. `progress` is 0 to 1 over both sides.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    source = models.CharField(max_length=8, choices=Source)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, null=True, related_name="scenarios")
    hardware = models.CharField(max_length=10, choices=Hardware)
    plain_nodes = models.PositiveIntegerField(default=0)
    start = models.DateTimeField()
    end = models.DateTimeField()
    changes = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=ScenarioStatus, default=ScenarioStatus.QUEUED)
    progress = models.FloatField(default=0)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    fence = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["-created_at"], name="scenario_newest"),
            models.Index(fields=["created_at"], name="scenario_open", condition=Q(status__in=sorted(OPEN))),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=sorted(ScenarioStatus)), name="scenario_status_known"),
            models.CheckConstraint(condition=Q(end__gt=models.F("start")), name="scenario_ends_after_start"),
            models.CheckConstraint(condition=Q(progress__range=(0, 1)), name="scenario_progress_0_to_1"),
            models.CheckConstraint(
                condition=Q(trace__isnull=True) | Q(source=Source.TRACE), name="scenario_trace_fits_source"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def simulated(self) -> bool:
        """Whether it is only about simulated hardware."""
        return self.hardware != Hardware.REAL


class ScenarioTasks(models.Model):
    """Every task on both sides, as gzip of UTF-8 CSV: read only when somebody asks for it."""

    scenario = models.OneToOneField(Scenario, on_delete=models.CASCADE, primary_key=True, related_name="tasks")
    content = models.BinaryField()
