"""Images that work runs in: Python runtimes, built from pinned requirements on first use, and container images."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import get_language

from apps.clusters.architectures import architecture_words
from apps.registry.repositories import Collection as Collection
from apps.registry.repositories import DeletedManifest as DeletedManifest
from apps.registry.repositories import ImageManifest as ImageManifest
from apps.registry.repositories import ImageRepository as ImageRepository
from apps.registry.repositories import ImageTag as ImageTag
from apps.registry.repositories import ManifestBlob as ManifestBlob
from apps.registry.repositories import RegistryCapacity as RegistryCapacity
from apps.registry.saving.models import ImageSaving as ImageSaving
from apps.registry.scanning.models import ImageScan as ImageScan
from apps.registry.scanning.models import ScanException as ScanException
from apps.registry.scanning.models import Scanner as Scanner
from apps.registry.scanning.models import ScanPolicy as ScanPolicy
from apps.registry.sharing.models import RepositoryShare as RepositoryShare
from apps.registry.transfers.models import ImageTransfer as ImageTransfer
from apps.registry.transfers.models import PullSources as PullSources
from apps.tenants.models import Organisation, User
from apps.workloads.references import MAX_REPOSITORY

PUSHED = "pushed-"  # what the keys of images that somebody pushed begin with


class Image(models.Model):
    """The platform's or a person's own. `requirements` are exact pins: what they resolve to is its identity.

    With a `reference` (`registry.lab:5000/team/torch@sha256:…`) it is that container image instead.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(unique=True)
    name = models.CharField(max_length=60)
    description_en = models.CharField(max_length=200)
    description_zh = models.CharField(max_length=200)
    requirements = models.JSONField(default=list)
    reference = models.CharField(max_length=MAX_REPOSITORY + 72, blank=True, default="", db_default="")
    # Architectures of machines (`clusters.architectures`) that it runs on; empty: any, or not known.
    architectures = models.JSONField(default=list)
    # Since when the registry has said what a container image is for; None: it is to be asked.
    platforms_read_at = models.DateTimeField(null=True)
    active = models.BooleanField(default=True)
    # None: an image of the platform, for everybody. Else its owner's, or, once shared, their organisation's.
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    shared = models.BooleanField(default=False)
    # Of one that somebody pushed: where it is, which decides who else may use it.
    repository = models.ForeignKey(ImageRepository, on_delete=models.SET_NULL, null=True, related_name="+")
    base = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    sort = models.PositiveSmallIntegerField(default=100)
    # An image of the platform may be kept for some organisations: then `allowed` lists them.
    restricted = models.BooleanField(default=False)
    allowed = models.ManyToManyField(Organisation, related_name="+")
    # Since when the platform's administrators decide about it; None: it is as the product ships it.
    edited_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["sort", "name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(organisation__isnull=True, owner__isnull=True, shared=False)
                | models.Q(organisation__isnull=False, owner__isnull=False),
                name="image_of_the_platform_or_of_a_person",
            ),
            models.CheckConstraint(
                condition=models.Q(reference="") | models.Q(requirements=[]), name="image_is_a_runtime_or_a_container"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def architecture_words(self) -> str:
        """What it is for, in words; empty for any."""
        return architecture_words(self.architectures)

    def received_from(self, organisation_id: uuid.UUID | None) -> str:
        """The name of the organisation that shares it with this one; "" where it is theirs or the platform's."""
        if self.organisation is None or self.organisation_id == organisation_id:
            return ""
        return self.organisation.name

    @property
    def is_pushed(self) -> bool:
        """Whether it comes from a tag in the registry, which decides about it."""
        return self.key.startswith(PUSHED)

    @property
    def description(self) -> str:
        return self.description_zh if (get_language() or "").startswith("zh") else self.description_en
