"""Invoices, found by number, by the number of the red one, or by whom they are made out to."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.invoice_choices import InvoiceState
from apps.billing.invoices.selectors import invoices
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.money import yuan
from apps.common.permissions import Permission


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{yuan(row['amount_fen'])} · {InvoiceState(row['state']).label}"
    title = f"{row['number']} {row['title']}" if row["number"] else row["title"]
    if not actor.platform:
        return title, sub, reverse("billing:invoice", args=[row["pk"]])
    return title, f"{row['organisation__name']} · {sub}", reverse("console:invoice", args=[row["pk"]])


INVOICES = Source(
    name="invoices",
    label=_("Invoices"),
    icon="file-invoice",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=invoices,
        hit=_hit,
        fields=("number", "red_number", "title", "tax_number"),
        more=("amount_fen", "state", "organisation__name"),
        owner="requested_by_id",
    ),
)
