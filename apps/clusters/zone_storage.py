"""Where the machines of a zone have the platform's files from; in a module of its own, and one of `clusters.models`."""

from django.db import models

from apps.clusters.choices import StorageKind


class ZoneStorage(models.Model):
    """Of a zone about which it was said; of all others nothing is known but what their nodes tell.

    `source`: of NFS, what every joined machine mounts at its data folder, `server:/path`; empty for other kinds.
    `dataset_cache_gib`: the most that each joined machine keeps of copies of datasets; 0: they are read where they are.
    """

    zone = models.OneToOneField("clusters.Zone", on_delete=models.CASCADE, primary_key=True, related_name="storage")
    kind = models.CharField(max_length=8, choices=StorageKind, default=StorageKind.FOLDER)
    source = models.CharField(max_length=200, blank=True)
    dataset_cache_gib = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind=StorageKind.NFS) & ~models.Q(source="")
                | models.Q(kind=StorageKind.FOLDER, source=""),
                name="zone_storage_nfs_has_source",
            ),
        ]
