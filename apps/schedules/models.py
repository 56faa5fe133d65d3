"""Schedules, and each start that they have made or skipped."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.schedules.choices import LONGEST_NAME, Cause, Overlap, PauseReason, ScheduleStatus, StartStatus, Why
from apps.schedules.targets import RUN
from apps.tenants.models import Organisation, User
from apps.training.models import Run


class Schedule(TenantModel):
    """When `run`, or what `target` and `target_id` name, is started again.

    `next_at`: the next moment; None while it is not active or nothing comes any more.
    `refusals`: how many starts in a row could not be submitted.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=LONGEST_NAME)
    target = models.CharField(max_length=16, default=RUN, db_default=RUN)  # a name of `targets.targets`
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, related_name="schedules")
    target_id = models.UUIDField(null=True)  # of what is no run
    cron = models.CharField(max_length=100)
    from_at = models.DateTimeField(null=True)
    until_at = models.DateTimeField(null=True)
    overlap = models.CharField(max_length=8, choices=Overlap, default=Overlap.SKIP)
    status = models.CharField(max_length=8, choices=ScheduleStatus, default=ScheduleStatus.ACTIVE)
    status_since = models.DateTimeField(db_default=Now())
    pause_reason = models.CharField(max_length=10, choices=PauseReason, blank=True, default="")
    next_at = models.DateTimeField(null=True)
    refusals = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="schedule_newest"),
            models.Index(fields=["target_id"], name="schedule_by_target", condition=models.Q(target_id__isnull=False)),
            models.Index(fields=["next_at"], name="schedule_due", condition=models.Q(next_at__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(next_at__isnull=True) | models.Q(status=ScheduleStatus.ACTIVE),
                name="schedule_next_only_while_active",
            ),
            models.CheckConstraint(
                condition=models.Q(target=RUN, run__isnull=False, target_id__isnull=True)
                | (~models.Q(target=RUN) & models.Q(run__isnull=True, target_id__isnull=False)),
                name="schedule_starts_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def object_id(self) -> uuid.UUID:
        """Of what it starts."""
        found: uuid.UUID | None = self.run_id or self.target_id
        assert found is not None  # noqa: S101  the database forbids another
        return found


class ScheduledStart(TenantModel):
    """One moment of a schedule, and what became of it. `key`: what it is for; each is written once.

    `missed`: moments before it that passed while nothing looked, for which it stands. `detail`: what the service said
    to a refusal, as the owner was told. `run`, or `started_id` where it is none: what was started.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="starts")
    key = models.CharField(max_length=100)
    cause = models.CharField(max_length=8, choices=Cause)
    moment = models.DateTimeField()
    missed = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=8, choices=StartStatus, default=StartStatus.WAITING)
    why = models.CharField(max_length=16, choices=Why, blank=True, default="")
    detail = models.CharField(max_length=500, blank=True, default="")
    run = models.OneToOneField(Run, on_delete=models.PROTECT, null=True, related_name="scheduled_start")
    started_id = models.UUIDField(null=True, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-moment", "-pk"]
        indexes = [
            models.Index(fields=["schedule", "-moment"], name="start_of_schedule"),
            models.Index(fields=["moment"], name="start_waiting", condition=models.Q(status=StartStatus.WAITING)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["schedule", "key"], name="start_once"),
            models.CheckConstraint(
                condition=models.Q(status=StartStatus.STARTED, run__isnull=False, started_id__isnull=True)
                | models.Q(status=StartStatus.STARTED, run__isnull=True, started_id__isnull=False)
                | (~models.Q(status=StartStatus.STARTED) & models.Q(run__isnull=True, started_id__isnull=True)),
                name="start_names_what_it_started",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.moment:%Y-%m-%d %H:%M}"
