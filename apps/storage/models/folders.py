"""Folders of files that belong to an organisation: the code of a run, what it wrote, the home of an environment."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.storage.choices import FolderKind
from apps.tenants.models import Organisation, User

MIB = 1 << 20
# Files and folders that fit in: as many as a disk of that size usually has inodes for, with one for every 8 KiB.
MIB_FILES = 128
LEAST_FILES = 200_000


class Limited(TenantModel):
    """A tree of files with a limit. `used_bytes` and `file_count` (files and folders) count what the platform writes as
    it is written, and what programs write at the next measurement."""

    size_mib = models.PositiveIntegerField(null=True)  # None: no limit of its own
    used_bytes = models.BigIntegerField(default=0)
    file_count = models.PositiveIntegerField(default=0)
    measured_at = models.DateTimeField(null=True)
    measuring_ms = models.PositiveIntegerField(default=0)
    # Something was written through the platform since; a program's writes leave no such trace.
    touched_at = models.DateTimeField(db_default=Now())
    over_since = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def limit_bytes(self) -> int | None:
        return None if self.size_mib is None else self.size_mib * MIB

    @property
    def limit_files(self) -> int:
        """Files and folders that may be in it, also where its bytes have no limit."""
        return max(LEAST_FILES, (self.size_mib or 0) * MIB_FILES)

    @property
    def is_over_size(self) -> bool:
        return self.limit_bytes is not None and self.used_bytes > self.limit_bytes

    @property
    def is_over(self) -> bool:
        return self.is_over_size or self.file_count > self.limit_files


class Folder(Limited):
    """A folder on the platform's disk, named from its id. Code is never changed once a run uses it (`sealed`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=FolderKind)
    sealed = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    # What it held in the end, once nobody writes to it any more: see `digests`.
    digest = models.JSONField(null=True)
    # Of code that is a commit of a repository: which one, as `apps.training.git.origin` has it.
    origin = models.JSONField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(used_bytes__gte=0), name="folder_used_not_negative")]
        indexes = [
            models.Index(
                fields=["created_at"],
                name="folder_to_digest",
                condition=models.Q(digest__isnull=True)
                & (
                    models.Q(kind=FolderKind.OUTPUT)
                    | models.Q(kind__in=[FolderKind.CODE, FolderKind.RESUME], sealed=True)
                ),
            )
        ]

    @property
    def relative_path(self) -> str:
        """Below the data root; what a workload's mount names."""
        return f"{self.organisation_id}/{self.kind}/{self.pk}"
