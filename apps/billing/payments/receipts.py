"""Bank receipts: one payment is booked for one organisation."""

from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.billing.choices import RechargeKind, RequestState, TransferKind
from apps.billing.models import RechargeRequest, Transfer
from apps.tenants.models import Organisation


def lock_receipt(reference: str) -> None:
    """Until the transaction ends, nobody else books this receipt: what two clerks enter at once comes one by one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"receipt {reference.casefold()}"])


def receipt_written_otherwise(organisation_id: UUID, reference: str) -> str | None:
    """How the same receipt stands in the organisation's books in other letters (`bank-1` for `BANK-1`)."""
    alike = _booked(reference).filter(organisation_id=organisation_id).exclude(ref=reference)
    asked = _asked(reference).filter(organisation_id=organisation_id).exclude(reference=reference)
    found: str | None = alike.values_list("ref", flat=True).first() or asked.values_list("reference", flat=True).first()
    return found


def receipt_elsewhere(organisation_id: UUID, reference: str) -> Organisation | None:
    """Another organisation for which staff booked this receipt, or asked to; what was reversed since is free again."""
    owners = Q(pk__in=_booked(reference).values("organisation_id")) | Q(
        pk__in=_asked(reference).values("organisation_id")
    )
    found: Organisation | None = Organisation.objects.filter(owners).exclude(pk=organisation_id).first()
    return found


def booked_elsewhere_since(organisation_id: UUID, reference: str, since: datetime) -> Organisation | None:
    """Another organisation for which staff booked this receipt after `since`."""
    rows = _booked(reference).filter(at__gt=since).exclude(organisation_id=organisation_id)
    found: Transfer | None = rows.select_related("organisation").first()
    return found.organisation if found else None


def _booked(reference: str) -> QuerySet[Transfer]:
    """What staff booked of this receipt and nobody has reversed."""
    reversed_since = RechargeRequest.objects.filter(
        kind=RechargeKind.REVERSAL, state=RequestState.APPROVED, reverses=OuterRef("pk")
    )
    rows: QuerySet[Transfer] = Transfer.objects.filter(
        kind=TransferKind.TOP_UP, idem__startswith="topup:offline:", ref__iexact=reference
    )
    return rows.exclude(Exists(reversed_since)).order_by("pk")


def _asked(reference: str) -> QuerySet[RechargeRequest]:
    """Requests for recharges by this receipt that wait for a second person."""
    rows: QuerySet[RechargeRequest] = RechargeRequest.objects.filter(
        kind=RechargeKind.RECHARGE, state=RequestState.PENDING, reference__iexact=reference
    )
    return rows.order_by("created_at")
