"""The content store: each organisation's files by what they hold, and lists of them that make up a tree."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class StoredObject(TenantModel):
    """One content of one organisation. Its file lies under the hash; whoever refers to it holds this row's lock."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "sha256"], name="stored_object_once")]


class Manifest(TenantModel):
    """A tree of files at one moment. Rows are added until it is `complete`; afterwards nothing of it changes."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    complete = models.BooleanField(default=False)
    file_count = models.PositiveIntegerField(default=0)
    total_bytes = models.BigIntegerField(default=0)
    # Sockets, pipes and names that are no text: what a tree may hold but a manifest cannot.
    skipped = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    touched_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["touched_at"], name="manifest_open", condition=models.Q(complete=False))]


class EntryKind(models.TextChoices):
    FILE = "f"
    FOLDER = "d"
    LINK = "l"


class ManifestEntry(TenantModel):
    """One file, folder or link of a manifest. `stamp` tells whether the file is still the one that was read."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    manifest = models.ForeignKey(Manifest, on_delete=models.CASCADE, related_name="entries")
    path = models.TextField()
    kind = models.CharField(max_length=1, choices=EntryKind)
    mode = models.PositiveSmallIntegerField(default=0o644)
    size = models.BigIntegerField(default=0)
    sha256 = models.BinaryField(max_length=32, null=True)
    target = models.TextField(blank=True)
    stamp = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["manifest", "path"], name="manifest_path_once"),
            models.CheckConstraint(
                condition=models.Q(kind=EntryKind.FILE, sha256__isnull=False)
                | (~models.Q(kind=EntryKind.FILE) & models.Q(sha256__isnull=True)),
                name="manifest_files_have_content",
            ),
        ]
        indexes = [models.Index(fields=["organisation", "sha256"], name="manifest_refers")]
