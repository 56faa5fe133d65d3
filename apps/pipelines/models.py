"""Pipelines, their versions, which never change, and what was run of them."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.pipelines.choices import LIVE, LONGEST_NAME, OPEN, Cause, EndReason, Hurdle, RunStatus, StepStatus, Why
from apps.storage.models import Dataset, DatasetVersion
from apps.tenants.models import Organisation, User
from apps.training.models import Run


class Pipeline(TenantModel):
    """A name with versions. `newest`: the number of the version that is started.

    `dataset`: each version of it that comes after `seen_version` starts the pipeline once. `hook_digest`: of the token
    that starts it over its webhook, of which `hook_tail` is shown; empty while it has none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=LONGEST_NAME)
    note = models.CharField(max_length=200, blank=True)
    key = models.CharField(max_length=64)
    newest = models.PositiveIntegerField(default=1)
    dataset = models.ForeignKey(Dataset, on_delete=models.SET_NULL, null=True, related_name="pipelines")
    seen_version = models.PositiveIntegerField(default=0)
    hook_digest = models.CharField(max_length=64, blank=True, default="")
    hook_tail = models.CharField(max_length=8, blank=True, default="")
    hook_made_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="pipeline_newest"),
            models.Index(fields=["dataset"], name="pipeline_by_dataset", condition=Q(dataset__isnull=False)),
        ]
        constraints = [models.UniqueConstraint(fields=["organisation", "owner", "key"], name="pipeline_key_once")]

    def __str__(self) -> str:
        return self.name


class PipelineVersion(TenantModel):
    """`graph`: as `graph.steps.Graph` has it in JSON."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    pipeline = models.ForeignKey(Pipeline, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    graph = models.JSONField()
    budget_fen = models.BigIntegerField(null=True)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["pipeline", "number"], name="pipeline_version_once"),
            models.CheckConstraint(condition=Q(budget_fen__isnull=True) | Q(budget_fen__gt=0), name="pipeline_budget"),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"


class StepTemplate(TenantModel):
    """Which run a step of a version is like, so that the run is not deleted while it is."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(PipelineVersion, on_delete=models.PROTECT, related_name="templates")
    step = models.CharField(max_length=40)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="step_templates")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "step"], name="step_template_once")]

    def __str__(self) -> str:
        return self.step


class PipelineRun(TenantModel):
    """One time that a version was started. `key`: what it was started for; each starts it once.

    `parameters`: their values, all of them. `dataset_version`: what its steps mount in the place of other versions of
    that dataset. `fence` rises with each claim of the loop: only the newest claimant writes. `round`: how often it was
    run again, plus one.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    pipeline = models.ForeignKey(Pipeline, on_delete=models.PROTECT, related_name="runs")
    version = models.ForeignKey(PipelineVersion, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    cause = models.CharField(max_length=8, choices=Cause)
    parameters = models.JSONField(default=dict)
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    round = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=10, choices=RunStatus, db_default=RunStatus.RUNNING)
    reason = models.CharField(max_length=16, choices=EndReason, blank=True, db_default=EndReason.NONE)
    reason_data = models.JSONField(default=dict, db_default={})
    hurdle = models.CharField(max_length=12, choices=Hurdle, blank=True, db_default=Hurdle.NONE)
    fence = models.PositiveIntegerField(db_default=0)
    lease_until = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="pipeline_run_newest"),
            models.Index(fields=["next_at"], name="pipeline_run_due", condition=Q(status__in=sorted(OPEN))),
        ]
        constraints = [
            models.UniqueConstraint(fields=["pipeline", "key"], name="pipeline_start_once"),
            models.UniqueConstraint(fields=["pipeline", "number"], name="pipeline_run_number_once"),
            models.CheckConstraint(
                condition=Q(status__in=sorted(OPEN)) ^ Q(ended_at__isnull=False), name="pipeline_run_ended_has_end"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class StepRun(TenantModel):
    """One attempt at a step. `run`: what does it; None until it is started, and of one that never is.

    `retries_left`: further attempts that follow if it fails. `due_at`: not before. `asked`: its run was asked to end.
    `why`, `detail`: see `choices.Why`; the detail names what it is about.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    pipeline_run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="steps")
    step = models.CharField(max_length=40)
    attempt = models.PositiveIntegerField(default=1)
    run = models.OneToOneField(Run, on_delete=models.PROTECT, null=True, related_name="pipeline_step")
    status = models.CharField(max_length=10, choices=StepStatus, db_default=StepStatus.WAITING)
    retries_left = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    asked = models.BooleanField(default=False, db_default=False)
    why = models.CharField(max_length=12, choices=Why, blank=True, db_default=Why.NONE)
    detail = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["pipeline_run", "step", "attempt"], name="step_attempt_once"),
            models.UniqueConstraint(
                fields=["pipeline_run", "step"], name="step_lives_once", condition=Q(status__in=sorted(LIVE))
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(LIVE)) ^ Q(ended_at__isnull=False), name="step_run_ended_has_end"
            ),
            models.CheckConstraint(
                condition=~Q(status=StepStatus.RUNNING) | Q(run__isnull=False), name="step_runs_with_a_run"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.attempt}"
