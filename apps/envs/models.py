"""Development environments: what a person keeps (files, settings); the newest Workload says what runs of it."""

import uuid
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now

from apps.billing.models import Package
from apps.clusters.models import LogicalCluster
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST, LONGEST_KEY, MOST
from apps.envs.choices import Busy, SnapshotKind, Step, StepStatus
from apps.registry.models import Image
from apps.storage.models import Folder, Manifest
from apps.tenants.models import Organisation, User
from apps.workloads.models import Workload


class Environment(TenantModel):
    """`code` is its name for SSH. `home` is kept between starts; each start is a workload of its own.

    `without_gpu`: the next start takes `cpu_package`. `idle_minutes` None: never released by itself.
    """

    paid_rate: Decimal | None  # fen per hour, of rows that the selectors give: billing.prices.own

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    department_id = models.UUIDField(null=True)
    code = models.CharField(max_length=16, unique=True)
    name = models.CharField(max_length=60)
    note = models.CharField(max_length=200, blank=True)
    # Of its next start too; what a start is metered under are those of its own workload.
    tags = ArrayField(models.CharField(max_length=LONGEST), default=list, db_default=[])
    tag_keys = ArrayField(models.CharField(max_length=LONGEST_KEY), default=list, db_default=[])
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    cpu_package = models.ForeignKey(Package, on_delete=models.PROTECT, null=True, related_name="+")
    without_gpu = models.BooleanField(default=False)
    home = models.OneToOneField(Folder, on_delete=models.PROTECT, related_name="+")
    mounts = models.JSONField(default=list)  # [{"kind", "id", "name", "read_only"}, …]
    vscode = models.BooleanField(default=False)
    idle_minutes = models.PositiveIntegerField(null=True)
    snapshot_minutes = models.PositiveIntegerField(null=True)
    keep_until = models.DateTimeField(null=True)  # not idle before, whatever is measured
    expires_at = models.DateTimeField(null=True)
    # Whether its starts may be asked to give way to other work.
    preemptible = models.BooleanField(default=True)
    # The only logical cluster that its starts may run in; None: any.
    cluster = models.ForeignKey(LogicalCluster, on_delete=models.PROTECT, null=True, related_name="+")
    # Ids of packages that a start may take as well as `package`, whichever has room first.
    also_packages = models.JSONField(default=list)
    # The most that each start may cost; None: no cap.
    cap_fen = models.BigIntegerField(null=True)
    # As each start asks it of the kernel: `Workload` has the same columns.
    expected_s = models.PositiveIntegerField(null=True)
    longest_s = models.PositiveIntegerField(null=True)
    gpu_idle_minutes = models.PositiveIntegerField(null=True)
    # It is saved and stopped then. `shutdown_time`: every day at this time of `shutdown_zone`; None: once.
    shutdown_at = models.DateTimeField(null=True)
    shutdown_time = models.TimeField(null=True)
    shutdown_zone = models.CharField(max_length=64, blank=True, default="", db_default="")
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, null=True, related_name="environment")
    ports = models.JSONField(default=list, db_default=[])  # of its own: [{"name", "number", "label"}, …]
    secrets = models.JSONField(default=list)  # rows of `services.secrets`: ids and places, never values
    starts = models.PositiveIntegerField(default=0)
    submit_key = models.CharField(max_length=64)
    deleted_at = models.DateTimeField(null=True)
    purge_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="environment_newest"),
            models.Index(fields=["-created_at", "-id"], name="environment_newest_of_all"),
            models.Index(
                fields=["expires_at"], name="environment_expires", condition=models.Q(expires_at__isnull=False)
            ),
            models.Index(
                fields=["shutdown_at"], name="environment_shutdown", condition=models.Q(shutdown_at__isnull=False)
            ),
            models.Index(fields=["purge_at"], name="environment_purge", condition=models.Q(purge_at__isnull=False)),
            GinIndex(fields=["tag_keys"], name="environment_tagged"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "submit_key"], name="environment_submitted_once"),
            models.CheckConstraint(
                condition=models.Q(deleted_at__isnull=True, purge_at__isnull=True)
                | models.Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="environment_bin_has_an_end",
            ),
            models.CheckConstraint(
                condition=models.Q(without_gpu=False) | models.Q(cpu_package__isnull=False),
                name="environment_without_gpu_has_a_package",
            ),
            models.CheckConstraint(
                condition=models.Q(cap_fen__isnull=True) | models.Q(cap_fen__gt=0), name="environment_cap_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(shutdown_time__isnull=True)
                | models.Q(shutdown_at__isnull=False) & ~models.Q(shutdown_zone=""),
                name="environment_daily_shutdown_has_a_zone",
            ),
            models.CheckConstraint(
                condition=models.Q(tags__len__lte=MOST, tag_keys__len=models.F("tags__len")),
                name="environment_tags_few",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Snapshot(TenantModel):
    """The home's files at one moment, in the content store. `manifest` None until all of them are stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="snapshots")
    kind = models.CharField(max_length=16, choices=SnapshotKind)
    note = models.CharField(max_length=200, blank=True)
    manifest = models.OneToOneField(Manifest, on_delete=models.PROTECT, null=True, related_name="+")
    size_bytes = models.BigIntegerField(default=0)
    file_count = models.PositiveIntegerField(default=0)
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    ready_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["environment", "-created_at"], name="snapshot_newest")]


class Operation(TenantModel):
    """A running operation that takes longer than a request; at most one for each environment.

    A loop carries it out step by step and may be interrupted and repeated at any point. `fence` rises with each claim.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="operations")
    step = models.CharField(max_length=8, choices=Step)
    status = models.CharField(max_length=8, choices=StepStatus, default=StepStatus.WAITING)
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")  # None: the platform
    # What is kept of it while it goes on: the snapshot taken first, what to restore, whether to start again.
    safety = models.ForeignKey(Snapshot, on_delete=models.SET_NULL, null=True, related_name="+")
    source = models.ForeignKey(Snapshot, on_delete=models.SET_NULL, null=True, related_name="+")
    from_image = models.BooleanField(default=False)
    start_after = models.BooleanField(default=False)
    note = models.CharField(max_length=200, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)
    fence = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="operation_due", condition=models.Q(status=StepStatus.WAITING)),
            models.Index(fields=["environment", "-created_at"], name="operation_newest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["environment"], condition=models.Q(status=StepStatus.WAITING), name="one_operation_at_a_time"
            ),
        ]


class Watch(TenantModel):
    """What the idle detector last saw of the environment's newest workload.

    `busy_at`: the last moment at which it was in use, or could not be seen, which counts the same.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    environment = models.OneToOneField(Environment, on_delete=models.CASCADE, related_name="watch")
    workload_id = models.UUIDField()
    measured_at = models.DateTimeField()
    busy_at = models.DateTimeField()
    cause = models.CharField(max_length=16, choices=Busy, blank=True)
    warned_at = models.DateTimeField(null=True)
    save_failed_at = models.DateTimeField(null=True)
    facts = models.JSONField(default=dict)  # as measured, for the page
