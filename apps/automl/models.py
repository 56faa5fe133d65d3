"""Experiments and their trials. What is searched is fixed at the start; how long and how wide may change."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.automl.choices import LIVE, OPEN, EndReason, ExperimentStatus, Hurdle, ResumePolicy, TrialStatus
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import MetricStrategy
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User
from apps.training.models import Run

LONGEST_NAME = 80


class Experiment(TenantModel):
    """One search. `status` and what goes with it are written by `states` alone.

    `template`: the run whose code, image, package and settings each trial has. `parameters`, `objectives`,
    `early_stopping`: as `search` has them in JSON; `placements`: by parameter, {"as": PlacedAs, "name": …}.
    `study_attrs`: what the algorithm keeps beside its trials. `most_failed`: so many failed trials are borne.
    `fence` rises with each claim of the loop: only the newest claimant writes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=LONGEST_NAME)
    note = models.CharField(max_length=200, blank=True)
    key = models.CharField(max_length=64)
    template = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="experiments")
    objectives = models.JSONField()
    strategy = models.CharField(max_length=8, choices=[(each.value, each.value) for each in MetricStrategy])
    extra_metrics = models.JSONField(default=list)
    algorithm = models.CharField(max_length=12, choices=[(each.value, each.value) for each in Algorithm])
    algorithm_settings = models.JSONField(default=dict)
    early_stopping = models.JSONField(default=dict)
    parameters = models.JSONField()
    placements = models.JSONField()
    seed = models.BigIntegerField()
    study_attrs = models.JSONField(default=dict)
    # Its search knows what this one had found until then.
    begins_with = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="successors")
    parallel = models.PositiveIntegerField()
    most_trials = models.PositiveIntegerField()
    most_failed = models.PositiveIntegerField()
    budget_fen = models.BigIntegerField(null=True)
    resume_policy = models.CharField(max_length=12, choices=ResumePolicy)
    status = models.CharField(max_length=10, choices=ExperimentStatus, db_default=ExperimentStatus.RUNNING)
    reason = models.CharField(max_length=16, choices=EndReason, blank=True, db_default=EndReason.NONE)
    reason_data = models.JSONField(default=dict, db_default={})
    hurdle = models.CharField(max_length=12, choices=Hurdle, blank=True, db_default=Hurdle.NONE)
    # No new trials meanwhile; those that run go on.
    paused_at = models.DateTimeField(null=True)
    fence = models.PositiveIntegerField(db_default=0)
    lease_until = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="experiment_newest"),
            models.Index(fields=["next_at"], name="experiment_due", condition=Q(status__in=sorted(OPEN))),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "key"], name="experiment_key_once"),
            models.CheckConstraint(
                condition=Q(status__in=sorted(OPEN)) ^ Q(ended_at__isnull=False), name="experiment_ended_has_end"
            ),
            models.CheckConstraint(condition=Q(parallel__gt=0, most_trials__gt=0), name="experiment_tries_something"),
            models.CheckConstraint(
                condition=Q(budget_fen__isnull=True) | Q(budget_fen__gt=0), name="experiment_budget"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Trial(TenantModel):
    """One point of the space. `run`: what tries it; None until it is started.

    `objectives`: what it reached, one number for each of the experiment's. `attrs`: what the algorithm keeps of it.
    `asked`: why the experiment asked its run to end, before it has ended.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="trials")
    number = models.PositiveIntegerField()
    values = models.JSONField()
    attrs = models.JSONField(default=dict)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    run = models.OneToOneField(Run, on_delete=models.PROTECT, null=True, related_name="trial")
    status = models.CharField(max_length=10, choices=TrialStatus, db_default=TrialStatus.WAITING)
    asked = models.CharField(max_length=10, choices=TrialStatus, blank=True, db_default="")
    objectives = models.JSONField(null=True)
    curve = models.JSONField(default=list)  # [[step, value], …] of the first objective, once it has ended
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "number"], name="trial_number_once"),
            models.CheckConstraint(
                condition=Q(status__in=sorted(LIVE)) ^ Q(ended_at__isnull=False), name="trial_ended_has_end"
            ),
            models.CheckConstraint(
                condition=~Q(status=TrialStatus.SUCCEEDED) | Q(objectives__isnull=False), name="trial_success_measured"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"
