"""Vouchers as they are listed, and what they come to."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, CharField, Q, QuerySet, Sum, Value, When

from apps.billing.choices import VoucherState
from apps.billing.models import Voucher
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission


def vouchers(actor: Actor) -> QuerySet[Voucher]:
    """The organisation's, or everybody's for the platform's finance staff, newest first, with `state`."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    rows: QuerySet[Voucher] = Voucher.objects.annotate(state=_state())
    return rows.select_related("organisation", "package").order_by("-created_at", "-pk")


def vouchers_in(actor: Actor, states: Collection[VoucherState]) -> QuerySet[Voucher]:
    rows: Any = vouchers(actor)  # `state` is no column
    found: QuerySet[Voucher] = rows.filter(state__in=states)
    return found


def voucher(actor: Actor, voucher_id: int) -> Voucher:
    """Raises `NotFound`."""
    found = vouchers(actor).filter(pk=voucher_id).first()
    if found is None:
        raise NotFound
    return found


def _state() -> Case:
    now = db_now()
    return Case(
        When(voided_at__isnull=False, then=Value(VoucherState.VOIDED)),
        When(valid_until__lte=now, then=Value(VoucherState.EXPIRED)),
        When(left_fen=0, then=Value(VoucherState.USED_UP)),
        When(valid_from__gt=now, then=Value(VoucherState.PLANNED)),
        default=Value(VoucherState.VALID),
        output_field=CharField(),
    )


@dataclass(frozen=True, slots=True)
class VoucherSums:
    """Whole fen of vouchers: granted, used, left and usable now or later, gone back unused."""

    granted_fen: int
    used_fen: int
    left_fen: int
    ended_fen: int


def voucher_sums(rows: QuerySet[Voucher]) -> VoucherSums:
    live = Q(voided_at__isnull=True, valid_until__gt=db_now())
    sums = rows.order_by().aggregate(granted=Sum("amount_fen"), used=Sum("used_fen"), left=Sum("left_fen", filter=live))
    granted, used, left = (int(sums[name] or 0) for name in ("granted", "used", "left"))
    return VoucherSums(granted, used, left, granted - used - left)
