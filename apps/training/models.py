"""Training runs: what a person requested; the kernel's Workload records what became of it."""

import uuid
from decimal import Decimal

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel
from apps.registry.models import Image
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User
from apps.training.launchers.names import LauncherName
from apps.workloads.models import Workload


class Entry(models.TextChoices):
    PYTHON = "python", _("Python script")
    SHELL = "shell", _("Shell script")


class RunArray(TenantModel):
    """One run started with several sets of arguments. `at_once`: the most of its runs that live together; None: as many
    as quota and balance let.

    `waits`: why its next line has not started yet, as the owner was told; asked again at `next_try_at`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    key = models.CharField(max_length=64)
    at_once = models.PositiveSmallIntegerField(null=True)
    waits = models.CharField(max_length=500, blank=True, default="")
    next_try_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["organisation", "owner", "key"], name="run_array_once")]

    def __str__(self) -> str:
        return self.name


class ArrayLine(TenantModel):
    """One set of arguments. `due`: a run of it is to be started. `refused`: why none was, as the owner was told."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    array = models.ForeignKey(RunArray, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveSmallIntegerField()
    arguments = models.JSONField()  # [[name, value], …], all that the run gets
    due = models.BooleanField(default=True)
    refused = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        ordering = ["number"]
        indexes = [models.Index(fields=["array", "number"], name="array_line_due", condition=models.Q(due=True))]
        constraints = [models.UniqueConstraint(fields=["array", "number"], name="array_line_once")]

    def __str__(self) -> str:
        return f"{self.number}"


class Run(TenantModel):
    """One version of a training job. A rerun or an edited clone is the next version of its family.

    It never changes, but for `code_shared`, and but for being archived and deleted: see `archiving` and `deletion`.
    """

    paid_rate: Decimal  # fen per hour, of rows that the selectors give: billing.prices.own

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, related_name="training_run")
    name = models.CharField(max_length=80)
    family = models.UUIDField()
    version = models.PositiveIntegerField(default=1)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    note = models.CharField(max_length=200, blank=True)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    entry = models.CharField(max_length=8, choices=Entry)
    script = models.CharField(max_length=200)
    arguments = models.JSONField(default=list)  # [[name, value], …] as typed
    environment = models.JSONField(default=list)  # [[name, value], …]
    launcher = models.CharField(max_length=20, choices=LauncherName, default=LauncherName.NONE)
    metric_settings = models.JSONField(default=dict, db_default={})  # `collecting.settings.MetricSettings`
    code = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    output = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    # Made by a colleague from its passport: another family, which keeps its seed.
    forked_from = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="forks")
    # Whether colleagues who fork it get its code; what was forked before keeps it.
    code_shared = models.BooleanField(default=False, db_default=False)
    # Of a trial, the experiment whose trial it is (`apps.automl`): lists leave it out unless they are asked for trials.
    trial_of = models.UUIDField(null=True, db_index=True)
    # Of a step of a pipeline, the pipeline's run that it belongs to (`apps.pipelines`), which tells of its end.
    step_of = models.UUIDField(null=True, db_index=True)
    # Of which line of an array it is; runs of one line are tries at the same arguments.
    array_line = models.ForeignKey(ArrayLine, on_delete=models.PROTECT, null=True, related_name="runs")
    created_at = models.DateTimeField(db_default=Now())
    # Out of the list's sight; all else is as before.
    archived_at = models.DateTimeField(null=True)
    # Its files are gone and nobody sees it any more. The row stays: bills and later versions refer to it.
    deleted_at = models.DateTimeField(null=True)
    # When machines are next asked to remove what they keep of a deleted one, its logs; None: nothing is left to ask.
    clear_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="run_newest"),
            models.Index(fields=["clear_at"], name="run_to_clear", condition=models.Q(clear_at__isnull=False)),
        ]
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="run_version_once")]

    def __str__(self) -> str:
        return self.name


class Continuation(TenantModel):
    """From which checkpoint of which run a run goes on. `folder` holds what was taken, and is never written to.

    `checkpoint`: its key among those of `source`, as `checkpoints` has it. `step` None: its name has no number.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="continuation")
    source = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="continuations")
    folder = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    checkpoint = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    step = models.BigIntegerField(null=True)
    saved_at = models.DateTimeField()
    size_bytes = models.BigIntegerField()
    file_count = models.PositiveIntegerField()


class GitHostKey(TenantModel):
    """The key by which an organisation knows a Git server that it reaches over SSH, as a person confirmed it.

    `host`: as files of known hosts name it. `key`: algorithm and base64.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    host = models.CharField(max_length=270)
    key = models.TextField()
    fingerprint = models.CharField(max_length=60)
    confirmed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "host"], name="git_host_once")]

    def __str__(self) -> str:
        return self.host


class ViewSubject(models.TextChoices):
    COMPARISON = "comparison", _("Comparison")
    LIST = "list", _("List of runs")


class Report(TenantModel):
    """Text about runs, with charts and tables of them (`training.reports.blocks`). `runs`: their ids, in order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    text = models.TextField()
    runs = models.JSONField()
    shared = models.BooleanField(default=False, db_default=False)  # with the organisation; else it is its owner's alone
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "-changed_at"], name="report_newest")]

    def __str__(self) -> str:
        return self.name


class SavedView(TenantModel):
    """What the address of a page says, under a name: which runs, columns, axes, filters and smoothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=12, choices=ViewSubject)
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True)
    shared = models.BooleanField(default=False, db_default=False)  # with the organisation; else it is its owner's alone
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "subject", "name"], name="saved_view_name_once")
        ]

    def __str__(self) -> str:
        return self.name
