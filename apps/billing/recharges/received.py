"""What is known of a payment that the platform's staff record: when it arrived, from whom, by which way."""

from dataclasses import asdict, dataclass
from datetime import date
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.choices import PaymentMethod
from apps.billing.days import billing_day
from apps.billing.models import ReceivedPayment, Transfer
from apps.billing.organisations import find_organisation
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission

PAYER_MAX = 120


@dataclass(frozen=True, slots=True)
class Received:
    """`paid_on`: the day of the billing zone on which the bank had the money (the value date)."""

    paid_on: date
    payer: str
    method: PaymentMethod


def check_received(received: Received) -> Received:
    """Without blanks around the payer; raises `Invalid` with the field that is wrong."""
    payer = received.payer.strip()
    if not 1 <= len(payer) <= PAYER_MAX:
        raise Invalid.field("payer", _("Say in up to 120 characters who paid: the name on the account."))
    if received.paid_on > billing_day(db_now()):
        raise Invalid.field("paid_on", _("This day is still to come."))
    if received.paid_on.year < 2000:
        raise Invalid.field("paid_on", _("This day is too long ago."))
    return Received(received.paid_on, payer, received.method)


def keep_received(actor: Actor, *, organisation_id: UUID, reference: str, received: Received) -> ReceivedPayment:
    """Keep it beside the recharge, or the request for one, that this reference names.

    It can be put right until the money is credited; afterwards other details are a `Conflict`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    values, reference = asdict(check_received(received)), reference.strip()
    organisation = find_organisation(organisation_id)
    with transaction.atomic():
        rows = ReceivedPayment.objects.select_for_update(of=("self",))
        known = rows.filter(organisation=organisation, reference=reference).first()
        before = {name: getattr(known, name) for name in values} if known else {}
        if known is not None and before == values:
            return known
        if known is not None and _is_credited(organisation_id, reference):
            raise Conflict(_("This payment was recorded with another day, payer or way of payment."))
        kept = known or ReceivedPayment(organisation=organisation, reference=reference)
        for name, value in values.items():
            setattr(kept, name, value)
        kept.save()
        record(
            actor,
            action="billing.payment_received",
            target=Target("payment", reference, reference),
            organisation_id=organisation_id,
            before=_said(before),
            after=_said(values),
        )
        return kept


def _is_credited(organisation_id: UUID, reference: str) -> bool:
    return Transfer.objects.filter(idem=f"topup:offline:{organisation_id}:{reference}").exists()


def _said(values: dict[str, object]) -> dict[str, object]:
    return {name: str(value) for name, value in values.items()}
