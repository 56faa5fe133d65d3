"""Prices by the day, month and year: immutable versions like those by the hour, set by the platform's finance staff."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.choices import PREPAID_TERMS, Resource, Term
from apps.billing.models import Package, TermPrice
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission

# Ten million yuan for one period of one replica: beyond any machine, far below the column's end.
PRICE_MAX_FEN = 1_000_000_000


def set_term_price(actor: Actor, *, package_id: int, term: Term, price_fen: int | None) -> TermPrice | None:
    """Fen for one period of one replica from now on; None: no longer offered for this term.

    What was bought keeps its price; the next renewal costs what is in force then. Setting the price that is in force
    changes nothing. Raises `Invalid` for a term without periods and for a price that is none.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    if term not in PREPAID_TERMS:
        raise Invalid.field("term", _("Choose day, month or year."))
    if price_fen is not None and not 0 < price_fen <= PRICE_MAX_FEN:
        raise Invalid.field("price", _("A price by the period is more than ¥0 and at most ¥10,000,000."))
    with transaction.atomic():
        package = Package.objects.select_for_update(no_key=True).filter(pk=package_id).first()
        if package is None:
            raise NotFound
        if package.resource != Resource.COMPUTE and price_fen is not None:
            raise Invalid.field("term", _("Storage is paid as it is used."))
        last = TermPrice.objects.filter(package=package, term=term).order_by("-number").first()
        former = last if last and last.effective_to is None else None
        if (former.price_fen if former else None) == price_fen:
            return former
        made = _replace(package, term, last, price_fen)
        record(
            actor,
            action="billing.term_price.set",
            target=Target("package", str(package.pk), package.name_en),
            before=_audit_values(former, term),
            after=_audit_values(made, term),
        )
        return made


def _replace(package: Package, term: Term, last: TermPrice | None, price_fen: int | None) -> TermPrice | None:
    now = db_now()
    if last is not None and last.effective_to is None:
        last.effective_to = now
        last.save(update_fields=["effective_to"])
    if price_fen is None:
        return None
    return TermPrice.objects.create(
        package=package, term=term, number=last.number + 1 if last else 1, price_fen=price_fen, effective_from=now
    )


def _audit_values(price: TermPrice | None, term: Term) -> dict[str, Any]:
    if price is None:
        return {"term": term, "price_fen": None}
    return {"term": term, "number": price.number, "price_fen": price.price_fen}
