"""What one person of the staff may grant without a second, at once and over a day.

Many small acts add up to a large one: all that a clerk grants alone within a day of the billing zone counts against the
limit of a single act. Whoever grants calls `may_alone` first, which locks the clerk's own row until the end of the
transaction, and `note_alone` once it is done, so that two acts of one clerk at the same moment see each other.
"""

from enum import StrEnum
from uuid import UUID

from django.db.models import Sum

from apps.billing.change_choices import AloneKind
from apps.billing.days import billing_day
from apps.billing.models import AloneAct
from apps.billing.payments.settings import PaymentSettings
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.tenants import settings
from apps.tenants.models import User


class Why(StrEnum):
    """Why an act needs a second person."""

    AMOUNT = "amount"  # more than one person may grant
    DAY = "day"  # with what the same person has granted today
    RECEIPT = "receipt"  # the receipt is booked for another organisation
    DISCOUNT = "discount"  # more per cent off than one person may give
    PRICE = "price"  # lower by more per cent than one person may
    LIMITS = "limits"  # it loosens these rules


def alone_fen() -> int:
    return settings.get(PaymentSettings).alone_fen


def granted_today(actor: Actor) -> int:
    """Fen that the actor has granted alone since midnight of the billing zone."""
    rows = AloneAct.objects.filter(user_id=actor.person(), day=billing_day(db_now()))
    return int(rows.aggregate(fen=Sum("amount_fen"))["fen"] or 0)


def why_second(actor: Actor, amount_fen: int) -> Why | None:
    """Why this amount is not the actor's to grant alone; None where it is. The platform itself has no day's sum."""
    limit = alone_fen()
    if amount_fen > limit:
        return Why.AMOUNT
    if actor.user_id is not None and granted_today(actor) + amount_fen > limit:
        return Why.DAY
    return None


def may_alone(actor: Actor, amount_fen: int) -> bool:
    """Whether the actor may grant it now; nobody else acts in their name until the transaction ends."""
    if actor.user_id is not None:
        list(User.objects.select_for_update(no_key=True).filter(pk=actor.user_id).values_list("pk"))
    return why_second(actor, amount_fen) is None


def note_alone(actor: Actor, *, kind: AloneKind, organisation_id: UUID, amount_fen: int) -> None:
    """Count what was granted; what the platform itself does counts for nobody."""
    if actor.user_id is not None and amount_fen > 0:
        AloneAct.objects.create(
            user_id=actor.user_id,
            organisation_id=organisation_id,
            day=billing_day(db_now()),
            kind=kind,
            amount_fen=amount_fen,
        )
