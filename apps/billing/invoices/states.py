"""The one place that writes an invoice's state: its transition table, and the log and the notices of each step."""

from collections.abc import Mapping
from uuid import UUID

from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.invoice_choices import InvoiceState
from apps.billing.models import Invoice
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.notifications.services import notify_user

S = InvoiceState
# To each state, from which it can be reached. What was approved can still be denied: the tax bureau may refuse it.
FROM: Mapping[InvoiceState, tuple[InvoiceState, ...]] = {
    S.APPROVED: (S.REQUESTED,),
    S.DENIED: (S.REQUESTED, S.APPROVED),
    S.WITHDRAWN: (S.REQUESTED,),
    S.ISSUED: (S.APPROVED,),
    S.VOIDED: (S.ISSUED,),
}


def locked(invoice_id: UUID, to: InvoiceState) -> Invoice:
    """The invoice, locked until the transaction ends. `NotFound` outside the scope, `Conflict` for an illegal step."""
    rows = Invoice.objects.select_for_update(of=("self",)).select_related("organisation")
    found: Invoice | None = rows.filter(pk=invoice_id).first()
    if found is None:
        raise NotFound
    if found.state not in FROM[to]:
        raise Conflict(_("This invoice is in the state “%(state)s”.") % {"state": found.get_state_display()})
    return found


def move(actor: Actor, found: Invoice, to: InvoiceState, columns: Mapping[str, object]) -> None:
    """Write the new state with the columns that belong to it; log it, and notify the requester unless it was they."""
    before = found.state
    found.state = to
    for name, value in columns.items():
        setattr(found, name, value)
    found.save(update_fields=["state", *columns])
    told = {name: value for name, value in columns.items() if isinstance(value, str) and value}
    after = {"state": to.value, **told}
    log(actor, found, to.value, before={"state": before}, after=after)
    if to is not S.WITHDRAWN:
        notify_user(
            organisation_id=found.organisation_id,
            user_id=found.requested_by_id,
            kind=f"invoice.{to.value}",
            data={**audit_values(found), "reason": found.void_reason or found.answer, "number": found.number},
            dedup=f"invoice:{found.pk}:{to}",
        )


def audit_values(found: Invoice) -> dict[str, object]:
    """What notices and the log say about an invoice."""
    return {
        "invoice": str(found.pk),
        "kind": found.kind,
        "amount_fen": found.amount_fen,
        "title": found.title,
        "tax_number": found.tax_number,
        "organisation": found.organisation.name,
    }


def log(
    actor: Actor, found: Invoice, verb: str, *, before: Mapping[str, object] | None, after: Mapping[str, object]
) -> None:
    record(
        actor,
        action=f"billing.invoice.{verb}",
        target=Target("invoice", str(found.pk), found.title),
        organisation_id=found.organisation_id,
        before=before,
        after=after,
    )
