"""Closed sets of values of the reconciliation with Alipay."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class BillState(models.TextChoices):
    """Of one day of Alipay's account. Empty: Alipay has no bill for it, and we know of no payment."""

    WAITING = "waiting", _("Waiting for the bill")
    AGREES = "agrees", _("Matches")
    DIFFERS = "differs", _("Does not match")
    EMPTY = "empty", _("No payments")


class BillSource(models.TextChoices):
    DOWNLOADED = "downloaded", _("Downloaded from Alipay")
    UPLOADED = "uploaded", _("Uploaded by hand")


class BillItemKind(models.TextChoices):
    PAYMENT = "payment", _("Payment")
    REFUND = "refund", _("Refund")


class BillOutcome(models.TextChoices):
    """What comparing one payment or refund with Alipay's bill has shown."""

    MATCHED = "matched", _("Matched")
    OURS_ONLY = "ours_only", _("Only in our books")
    THEIRS_ONLY = "theirs_only", _("Only at Alipay")
    DIFFERS = "differs", _("Amount differs")
