"""Files with many rows, made in the background and kept for some days."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.export_choices import OPEN_EXPORTS, ExportFormat, ExportKind, ExportStatus
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class Export(TenantModel):
    """Somebody's file. Without an organisation it is one of the platform's staff, over all of them.

    Only `apps.billing.exports.states` changes the status. `fence` rises with each claim, so that only the newest
    claimant is believed; `beat_at` is its last sign of life. `wanted` is a digest of what was asked for: the same
    again, while it is under way, is the same export. `amount_fen` is the sum that the file's last row states.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=ExportKind)
    format = models.CharField(max_length=4, choices=ExportFormat)
    filters = models.JSONField(default=dict)
    language = models.CharField(max_length=10)
    wanted = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=ExportStatus, default=ExportStatus.QUEUED)
    # Whether its rows are more than the owner's own: then the right to see them all is asked for again to fetch it.
    covers_all = models.BooleanField(default=True)
    done_rows = models.BigIntegerField(default=0)
    total_rows = models.BigIntegerField(null=True)
    amount_fen = models.BigIntegerField(null=True)
    size = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)  # SHA-256, hexadecimal
    error = models.CharField(max_length=300, blank=True)
    fence = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="export_of_owner"),
            models.Index(fields=["created_at"], name="export_open", condition=Q(status__in=OPEN_EXPORTS)),
            models.Index(fields=["expires_at"], name="export_to_expire", condition=Q(status=ExportStatus.READY)),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=list(ExportStatus)), name="export_status_known"),
            models.CheckConstraint(
                condition=~Q(status=ExportStatus.READY) | (~Q(digest="") & Q(expires_at__isnull=False)),
                name="export_ready_has_a_file",
            ),
            models.UniqueConstraint(
                fields=["owner", "wanted"], condition=Q(status__in=OPEN_EXPORTS), name="export_once_under_way"
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_EXPORTS

    @property
    def percent(self) -> int:
        """How much of it is written, 0 to 100; 0 while nobody knows how much there is."""
        return min(100, self.done_rows * 100 // self.total_rows) if self.total_rows else 0


class ExportPart(TenantModel):
    """A piece of an export's file, in order: read and written one at a time, so that memory stays flat.

    In the database because whoever writes it and whoever sends it need not share a disk.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="export_part_once")]
