"""Models of what the registry holds, as it was last told or read: repositories, manifests, what they name, and tags.

And of what was removed from it: manifests that people deleted, and collections of what nothing points to any more.
"""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.choices import CollectionProblem
from apps.tenants.models import Organisation, User

MAX_DIGEST = 71  # "sha256:" and 64 digits
MAX_TAG = 128


class ImageRepository(TenantModel):
    """Named as in `distribution.names`. `owner`: None for the organisation's own. `shared`: colleagues may pull it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=200, unique=True)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    pushed_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "-pushed_at"], name="repository_newest")]

    def __str__(self) -> str:
        return self.name


class ImageManifest(TenantModel):
    """An image, or an index of images for several platforms. `size`: bytes of all that it names, itself included.

    `platform` is like linux/amd64, of an index that of each of its images. `children`: the digests that an index names.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    repository = models.ForeignKey(ImageRepository, on_delete=models.CASCADE, related_name="manifests")
    digest = models.CharField(max_length=MAX_DIGEST)
    media_type = models.CharField(max_length=120)
    platform = models.CharField(max_length=200, blank=True)
    size = models.BigIntegerField()
    children = models.JSONField(default=list)
    pushed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    pushed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["repository", "digest"], name="image_manifest_once"),
            models.CheckConstraint(condition=models.Q(size__gte=0), name="image_manifest_size_not_negative"),
        ]
        indexes = [models.Index(fields=["organisation", "digest"], name="image_manifest_digest")]

    def __str__(self) -> str:
        return self.digest

    @property
    def platforms(self) -> list[str]:
        """Those of an index for several; empty for a single image."""
        return self.platform.split(", ") if self.children and self.platform else []


class ManifestBlob(TenantModel):
    """One of a manifest's blobs, in its order: the configuration (0), then the layers from the lowest on."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    manifest = models.ForeignKey(ImageManifest, on_delete=models.CASCADE, related_name="blobs")
    position = models.PositiveSmallIntegerField()
    digest = models.CharField(max_length=MAX_DIGEST)
    size = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["manifest", "position"], name="manifest_blob_once"),
            models.CheckConstraint(condition=models.Q(size__gte=0), name="manifest_blob_size_not_negative"),
        ]
        indexes = [models.Index(fields=["organisation", "digest"], name="manifest_blob_digest")]


class ImageTag(TenantModel):
    """A name that leads to a manifest, and may lead to another one tomorrow."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    repository = models.ForeignKey(ImageRepository, on_delete=models.CASCADE, related_name="tags")
    manifest = models.ForeignKey(ImageManifest, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=MAX_TAG)
    pushed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    pushed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["repository", "name"], name="image_tag_once")]
        indexes = [models.Index(fields=["repository", "-pushed_at"], name="image_tag_newest")]

    def __str__(self) -> str:
        return self.name


class RegistryCapacity(TenantModel):
    """How much an organisation may keep, where an operator decided; others have the setting's. `limit`: bytes."""

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, related_name="+")
    limit = models.BigIntegerField()
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    set_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(limit__gte=0), name="registry_capacity_not_negative"),
        ]


class DeletedManifest(TenantModel):
    """What somebody deleted, so that nothing starts in it that was chosen a moment before. Pushed again, it is gone."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    repository_name = models.CharField(max_length=200)
    digest = models.CharField(max_length=MAX_DIGEST)
    deleted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["repository_name", "digest"], name="deleted_manifest_once")]
        indexes = [models.Index(fields=["-deleted_at"], name="deleted_manifest_newest")]

    def __str__(self) -> str:
        return f"{self.repository_name}@{self.digest}"


class Collection(models.Model):
    """One removal of the blobs that nothing points to. `asked_by`: None for the schedule. `problem`: why it failed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=16, choices=CollectionProblem, blank=True, default="")
    blobs = models.PositiveIntegerField(default=0)
    freed = models.PositiveBigIntegerField(default=0)
    # For how long the registry was away meanwhile.
    away_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            # Whatever has not ended has no problem yet: so one at a time.
            models.UniqueConstraint(
                fields=["problem"], condition=models.Q(ended_at__isnull=True), name="one_collection_at_a_time"
            ),
            models.CheckConstraint(
                condition=models.Q(problem="") | models.Q(ended_at__isnull=False), name="collection_with_problem_ended"
            ),
        ]
        indexes = [models.Index(fields=["-asked_at"], name="collection_newest")]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def away_s(self) -> float:
        return self.away_ms / 1000
