"""Volumes: named places for files, with a size, that environments and runs mount and that people share."""

from django.db import models
from django.db.models.functions import Lower
from guardian.models import UserObjectPermissionBase

from apps.storage.models.folders import Limited
from apps.storage.models.owned import Owned


class Volume(Owned, Limited):
    """`code` is its name for SFTP and in commands; the folder on the disk is named from the id."""

    code = models.CharField(max_length=16, unique=True)

    class Meta:
        default_permissions = ()
        permissions = [("read_volume", "May read the volume"), ("write_volume", "May write to the volume")]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="volume_newest")]
        constraints = [
            models.UniqueConstraint(
                "owner",
                Lower("name"),
                "organisation",
                condition=models.Q(deleted_at__isnull=True),
                name="volume_name_once",
            ),
            models.CheckConstraint(condition=models.Q(size_mib__gte=1), name="volume_has_a_size"),
            models.CheckConstraint(condition=models.Q(used_bytes__gte=0), name="volume_used_not_negative"),
            models.CheckConstraint(
                condition=models.Q(deleted_at__isnull=True, purge_at__isnull=True)
                | models.Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="volume_bin_has_an_end",
            ),
        ]

    @property
    def relative_path(self) -> str:
        """Below the data root; what a workload's mount names."""
        return f"{self.organisation_id}/volume/{self.pk}"


class VolumeShare(UserObjectPermissionBase):
    """django-guardian's object permission, with a real foreign key: it goes with its volume."""

    content_object = models.ForeignKey(Volume, on_delete=models.CASCADE, related_name="shares")
