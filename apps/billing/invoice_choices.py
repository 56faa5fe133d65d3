"""Closed sets of values of invoices."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class TitleKind(models.TextChoices):
    COMPANY = "company", _("Company or institution")
    PERSON = "person", pgettext_lazy("invoice title", "Person")


class InvoiceKind(models.TextChoices):
    """Only a company can deduct the tax of a special invoice, so only a company gets one."""

    ORDINARY = "ordinary", _("Ordinary VAT invoice")
    SPECIAL = "special", _("Special VAT invoice")


class InvoiceState(models.TextChoices):
    REQUESTED = "requested", _("Waiting for a decision")
    APPROVED = "approved", _("Approved, not issued yet")
    ISSUED = "issued", pgettext_lazy("invoice", "Issued")
    DENIED = "denied", _("Denied")
    WITHDRAWN = "withdrawn", pgettext_lazy("request", "Withdrawn")
    VOIDED = "voided", _("Voided by a red invoice")


# Their amounts are spoken for.
CLAIMING = (InvoiceState.REQUESTED, InvoiceState.APPROVED, InvoiceState.ISSUED)
# They have a number.
INVOICED_STATES = (InvoiceState.ISSUED, InvoiceState.VOIDED)
