"""Development environments: what a person keeps (files, settings); the newest Workload says what runs of it."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.billing.models import Package
from apps.common.scoping import TenantModel
from apps.registry.models import Image
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User
from apps.workloads.models import Workload


class Environment(TenantModel):
    """`code` is its name for SSH. `home` is kept between starts; each start is a workload of its own.

    `without_gpu`: the next start takes `cpu_package`. `idle_minutes` None: never released by itself.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    department_id = models.UUIDField(null=True)
    code = models.CharField(max_length=16, unique=True)
    name = models.CharField(max_length=60)
    note = models.CharField(max_length=200, blank=True)
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
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, null=True, related_name="environment")
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
            models.Index(fields=["purge_at"], name="environment_purge", condition=models.Q(purge_at__isnull=False)),
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
        ]

    def __str__(self) -> str:
        return self.name
