"""Closed sets of values of exports."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ExportKind(models.TextChoices):
    """What stands in the rows."""

    CHARGES = "charges", _("Consumption")
    RECHARGES = "recharges", _("Recharges")
    TOP_UPS = "top_ups", _("Payments by Alipay")
    TRANSFERS = "transfers", _("Ledger entries")
    STATEMENTS = "statements", _("Statements")
    LIST = "list", _("List")


class ExportFormat(models.TextChoices):
    CSV = "csv", "CSV"
    XLSX = "xlsx", "XLSX"


class ExportStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Being made")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    EXPIRED = "expired", _("Expired")


OPEN_EXPORTS = (ExportStatus.QUEUED, ExportStatus.RUNNING)
