"""Models of transfers into the registry, and of where an organisation may pull from."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.choices import OPEN_TRANSFERS, TransferKind, TransferProblem, TransferStatus
from apps.registry.repositories import MAX_DIGEST, MAX_TAG
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User

MAX_SOURCE = 400


class ImageTransfer(TenantModel):
    """One image on its way into the registry, under `repository_name`:`tag`. `status` is written by `states` alone.

    `platform`: like linux/amd64, "" for all that an index has. `digest`: what the address led to when it was first
    asked, so that whoever goes on copies the same. Bytes are those of all layers and configurations; `added_bytes`:
    what the organisation does not keep yet, reserved of its capacity while this is open.

    `source`: an address, or the name of the archive's file once it came. `archive`: the folder that it came into, until
    it is cleared up. `image`: which of the archive's images was chosen; `offered`: between which, while that is open.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=TransferKind, default=TransferKind.ADDRESS)
    source = models.CharField(max_length=MAX_SOURCE, blank=True)
    archive = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    image = models.CharField(max_length=MAX_SOURCE, blank=True)
    offered = models.JSONField(default=list)
    repository_name = models.CharField(max_length=200)
    tag = models.CharField(max_length=MAX_TAG)
    platform = models.CharField(max_length=60, blank=True)
    # User and password of the source, sealed; forgotten once it has ended.
    credential = models.BinaryField(null=True)
    digest = models.CharField(max_length=MAX_DIGEST, blank=True)
    status = models.CharField(max_length=10, choices=TransferStatus, default=TransferStatus.QUEUED)
    problem = models.CharField(max_length=20, choices=TransferProblem, blank=True, default="")
    problem_params = models.JSONField(default=dict)
    total_bytes = models.BigIntegerField(default=0)
    done_bytes = models.BigIntegerField(default=0)
    added_bytes = models.BigIntegerField(default=0)
    layers = models.PositiveIntegerField(default=0)
    layers_done = models.PositiveIntegerField(default=0)
    # How often it was begun since the last layer that came whole.
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    # Since when it waits for a person, where it does.
    waiting_since = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="image_transfer_newest"),
            models.Index(
                fields=["created_at"], name="image_transfer_open", condition=models.Q(status__in=sorted(OPEN_TRANSFERS))
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=sorted(TransferStatus)), name="image_transfer_status_known"
            ),
            models.UniqueConstraint(
                fields=["repository_name", "tag"],
                condition=models.Q(status__in=sorted(OPEN_TRANSFERS)),
                name="one_image_transfer_to_a_tag",
            ),
            models.CheckConstraint(
                condition=models.Q(credential__isnull=True) | models.Q(status__in=sorted(OPEN_TRANSFERS)),
                name="image_transfer_forgets_its_credential",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=TransferKind.ARCHIVE)
                | (models.Q(kind=TransferKind.ADDRESS, archive__isnull=True) & ~models.Q(source="")),
                name="image_transfer_from_address_or_archive",
            ),
            models.CheckConstraint(
                condition=models.Q(total_bytes__gte=0, done_bytes__gte=0, added_bytes__gte=0),
                name="image_transfer_bytes_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository_name}:{self.tag}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_TRANSFERS

    @property
    def is_of_archive(self) -> bool:
        return self.kind == TransferKind.ARCHIVE

    @property
    def title(self) -> str:
        """Where it comes from; where it goes while nothing has come."""
        return self.source or str(self)

    @property
    def may_be_cancelled(self) -> bool:
        return self.is_open and self.status != TransferStatus.FINISHING


class PullSources(TenantModel):
    """From which registries an organisation may pull, where an operator decided; others have the setting's.

    `hosts`: as `transfers.sources` reads them; an empty list lets it pull from nowhere.
    """

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, related_name="+")
    hosts = models.JSONField(default=list)
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    set_at = models.DateTimeField(db_default=Now())
