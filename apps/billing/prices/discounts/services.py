"""Discounts of organisations, set by the platform's finance staff and logged with before and after."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.ledger.services import lock_wallet
from apps.billing.models import Discount
from apps.billing.models.discounts import OFF_PLACES
from apps.billing.organisations import find_organisation
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants.models import Organisation

NOTE_MAX = 300


def set_discount(
    actor: Actor,
    *,
    organisation_id: UUID,
    off: Decimal,
    effective_from: datetime | None = None,
    effective_to: datetime | None = None,
    note: str = "",
) -> Discount:
    """A new version from `effective_from` (now) until `effective_to` (without an end); the former one ends there.

    `off` is the share that is taken off every price, above 0 and up to 1 (free), with four places. It applies to what
    starts from then on. The same terms again return the existing version. Raises Invalid with the field that is wrong,
    Conflict when a later discount is already planned.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    organisation = find_organisation(organisation_id)
    _check(off, note)
    with transaction.atomic():
        lock_wallet(organisation_id)  # serialises two versions of one organisation
        former = _last(organisation_id)
        if former is not None and _is_same(former, off, effective_from, effective_to, note):
            return former
        start = _checked_span(effective_from, effective_to)
        before = _audit_values(former)
        _close(former, start)
        discount: Discount = Discount.objects.create(
            organisation=organisation,
            number=former.number + 1 if former else 1,
            off=off,
            effective_from=start,
            effective_to=effective_to,
            note=note.strip(),
            made_by=actor.label[:200],
        )
        _log(actor, "billing.discount.set", organisation, before, _audit_values(discount))
        return discount


def end_discount(actor: Actor, *, discount_id: int) -> Discount:
    """End it now; one that has not begun never will. Does nothing if it is over already."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        found: Discount | None = Discount.objects.select_related("organisation").filter(pk=discount_id).first()
        if found is None:
            raise NotFound
        lock_wallet(found.organisation_id)
        found.refresh_from_db(fields=["effective_to"])
        end = max(db_now(), found.effective_from)
        if found.effective_to is not None and found.effective_to <= end:
            return found
        before = _audit_values(found)
        found.effective_to = end
        found.save(update_fields=["effective_to"])
        _log(actor, "billing.discount.end", found.organisation, before, _audit_values(found))
        return found


def _check(off: Decimal, note: str) -> None:
    if not off.is_finite() or not 0 < off <= 1:
        raise Invalid.field("off", _("A discount is more than 0 and at most 100 per cent."))
    exponent = off.normalize().as_tuple().exponent
    if isinstance(exponent, int) and exponent < -OFF_PLACES:
        raise Invalid.field("off", _("A discount has at most two decimal places of a per cent."))
    if len(note.strip()) > NOTE_MAX:
        raise Invalid.field("note", _("At most 300 characters."))


def _checked_span(effective_from: datetime | None, effective_to: datetime | None) -> datetime:
    now = db_now()
    start = effective_from or now
    if start < now:
        raise Invalid.field("effective_from", _("A discount cannot begin in the past."))
    if effective_to is not None and effective_to <= start:
        raise Invalid.field("effective_to", _("It must end after it has begun."))
    return start


def _last(organisation_id: UUID) -> Discount | None:
    found: Discount | None = Discount.objects.filter(organisation_id=organisation_id).order_by("-number").first()
    return found


def _is_same(
    former: Discount, off: Decimal, effective_from: datetime | None, effective_to: datetime | None, note: str
) -> bool:
    """Whether the same form was submitted twice. Without a beginning: compared with the one in force now."""
    begins = former.effective_from <= db_now() if effective_from is None else former.effective_from == effective_from
    return begins and (former.off, former.effective_to, former.note) == (off, effective_to, note.strip())


def _close(former: Discount | None, at: datetime) -> None:
    if former is None or (former.effective_to is not None and former.effective_to <= at):
        return
    if former.effective_from > at:
        raise Conflict(_("A later discount is already planned for this organisation."))
    former.effective_to = at
    former.save(update_fields=["effective_to"])


def _audit_values(discount: Discount | None) -> dict[str, Any]:
    if discount is None:
        return {}
    return {
        "number": discount.number,
        "off": str(discount.off),
        "effective_from": discount.effective_from.isoformat(),
        "effective_to": discount.effective_to.isoformat() if discount.effective_to else None,
        "note": discount.note,
    }


def _log(actor: Actor, action: str, organisation: Organisation, before: dict[str, Any], after: dict[str, Any]) -> None:
    target = Target("organisation", str(organisation.pk), organisation.name)
    record(actor, action=action, target=target, organisation_id=organisation.pk, before=before, after=after)
