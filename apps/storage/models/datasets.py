"""Datasets and their versions."""

import uuid

from django.db import models
from django.db.models.functions import Lower, Now
from guardian.models import UserObjectPermissionBase

from apps.common.scoping import TenantModel
from apps.storage.models.content import Manifest
from apps.storage.models.owned import Versioned
from apps.tenants.models import Organisation, User


class Dataset(Versioned):
    """`draft` holds files that were uploaded for the next version."""

    class Meta:
        default_permissions = ()
        permissions = [("read_dataset", "May read the dataset"), ("write_dataset", "May add versions")]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="dataset_newest")]
        constraints = [
            models.UniqueConstraint(
                "owner",
                Lower("name"),
                "organisation",
                condition=models.Q(deleted_at__isnull=True),
                name="dataset_name_once",
            ),
        ]


class DatasetShare(UserObjectPermissionBase):
    """django-guardian's object permission, with a real foreign key: it goes with its dataset."""

    content_object = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="shares")


class DatasetVersion(TenantModel):
    """Complete when its row appears, and never changed. Its tree on the disk is made of the content store's files."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=200, blank=True)
    manifest = models.OneToOneField(Manifest, on_delete=models.PROTECT, related_name="+")
    file_count = models.PositiveIntegerField()
    total_bytes = models.BigIntegerField()
    # Of these, bytes that an earlier version of the dataset holds too; they take no room again.
    shared_bytes = models.BigIntegerField(default=0)
    reserved_mib = models.PositiveIntegerField(default=0)
    # Of the file that names all of its contents, see `storage.listings`; None while it has none.
    listing_sha256 = models.BinaryField(max_length=32, null=True)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_once")]

    @property
    def relative_path(self) -> str:
        """Below the data root; what a workload's mount names."""
        return f"{self.organisation_id}/version/{self.pk}"
