"""Invoices (发票): whom they are made out to, what was asked for and issued, and the files that are the invoice."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.invoice_choices import INVOICED_STATES, InvoiceKind, InvoiceState, TitleKind
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class Party(TenantModel):
    """Whom an invoice is made out to, as it is printed. A company has its unified social credit code (GB 32100)."""

    title_kind = models.CharField(_("kind of title"), max_length=8, choices=TitleKind)
    title = models.CharField(_("title"), max_length=100)
    tax_number = models.CharField(_("tax number"), max_length=20, blank=True)
    address = models.CharField(_("registered address"), max_length=200, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    bank = models.CharField(_("bank"), max_length=100, blank=True)
    bank_account = models.CharField(_("bank account"), max_length=40, blank=True)

    class Meta:
        abstract = True


class InvoiceTitle(Party):
    """A title (抬头) that an organisation keeps. One that is no longer wanted is put away, never deleted."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    removed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(title_kind=TitleKind.PERSON) | ~Q(tax_number=""), name="title_company_has_number"
            ),
            models.UniqueConstraint(
                fields=["organisation", "title", "tax_number"],
                condition=Q(removed_at__isnull=True),
                name="title_once",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Invoice(Party):
    """A request and what became of it. The party is copied: a title that changes later changes no invoice.

    Only `invoices.requesting` and `invoices.issuing` change the state. `request_key` makes a request that is sent
    twice the same one. Voided (红冲): a red invoice with a number of its own took it back, and the amount is free.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(_("kind"), max_length=8, choices=InvoiceKind)
    amount_fen = models.BigIntegerField()
    note = models.CharField(_("note"), max_length=300, blank=True)
    # What it is for, as it is printed, and where its file goes; empty: whatever finance staff decide.
    content = models.CharField(_("content"), max_length=100, blank=True, db_default="", default="")
    email = models.EmailField(_("receiver's e-mail"), blank=True, db_default="", default="")
    # Of what was issued: the rate in per cent, and what of the amount is net and what is tax.
    tax_percent = models.DecimalField(max_digits=5, decimal_places=2, null=True)
    net_fen = models.BigIntegerField(null=True)
    tax_fen = models.BigIntegerField(null=True)
    request_key = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=InvoiceState, default=InvoiceState.REQUESTED)
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    answer = models.CharField(_("answer"), max_length=500, blank=True)
    number = models.CharField(_("invoice number"), max_length=20, blank=True)
    issued_on = models.DateField(_("date of issue"), null=True)
    issued_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    issued_at = models.DateTimeField(null=True)
    red_number = models.CharField(_("number of the red invoice"), max_length=20, blank=True)
    voided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    voided_at = models.DateTimeField(null=True)
    void_reason = models.CharField(_("reason of voiding"), max_length=500, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["state", "-created_at"], name="invoice_by_state"),
            models.Index(fields=["organisation", "-created_at"], name="invoice_of_organisation"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="invoice_positive"),
            models.CheckConstraint(condition=Q(state__in=list(InvoiceState)), name="invoice_state_known"),
            models.CheckConstraint(
                condition=Q(tax_percent__isnull=True, net_fen__isnull=True, tax_fen__isnull=True)
                | Q(
                    tax_percent__gte=0,
                    tax_percent__lte=100,
                    net_fen__gte=0,
                    tax_fen__gte=0,
                    amount_fen=F("net_fen") + F("tax_fen"),
                    state__in=INVOICED_STATES,
                ),
                name="invoice_amount_is_net_and_tax",
            ),
            models.UniqueConstraint(fields=["organisation", "request_key"], name="invoice_request_once"),
            models.UniqueConstraint(fields=["number"], condition=~Q(number=""), name="invoice_number_once"),
            models.CheckConstraint(
                condition=Q(state=InvoiceState.REQUESTED, decided_at__isnull=True)
                | (~Q(state=InvoiceState.REQUESTED) & Q(decided_at__isnull=False)),
                name="invoice_decided_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state__in=INVOICED_STATES, issued_at__isnull=False, issued_on__isnull=False) & ~Q(number="")
                | (~Q(state__in=INVOICED_STATES) & Q(issued_at__isnull=True, issued_on__isnull=True, number="")),
                name="invoice_issued_has_number_and_date",
            ),
            models.CheckConstraint(
                condition=Q(state=InvoiceState.VOIDED, voided_at__isnull=False) & ~Q(void_reason="")
                | (~Q(state=InvoiceState.VOIDED) & Q(voided_at__isnull=True, void_reason="")),
                name="invoice_voided_has_reason",
            ),
            models.CheckConstraint(
                condition=~Q(kind=InvoiceKind.SPECIAL) | Q(title_kind=TitleKind.COMPANY), name="invoice_special_company"
            ),
        ]


class InvoiceFile(TenantModel):
    """The invoice itself, as the tax bureau's system gave it: PDF, OFD or XML. Never changed, never removed."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="files")
    name = models.CharField(max_length=120)
    media_type = models.CharField(max_length=40)
    digest = models.CharField(max_length=64)  # SHA-256, hexadecimal
    size = models.PositiveIntegerField()
    content = models.BinaryField()
    uploaded_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["invoice", "digest"], name="invoice_file_once")]
