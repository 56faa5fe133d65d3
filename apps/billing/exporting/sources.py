"""What stands in the files: for each kind its columns, its rows and how a row becomes cells.

Money is in yuan as a decimal number. Columns that can be added have a sum in the last row of the file; the first of
them is the export's amount.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.alipay import orders
from apps.billing.choices import AccountKind
from apps.billing.exporting.choices import ExportKind
from apps.billing.exporting.wanted import Wanted
from apps.billing.models import Charge, TopUpOrder, Transfer
from apps.billing.selectors.spending import BILLING_ZONE
from apps.common.actor import Actor
from apps.common.money import FEN_PER_YUAN
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell


class Look(StrEnum):
    """How a spreadsheet shows a column."""

    TEXT = "text"
    WHOLE = "whole"
    YUAN = "yuan"
    EXACT = "exact"
    DAY = "day"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class Column:
    """`width` in characters; `adds`: the last row states its sum."""

    label: str | Promise
    look: Look = Look.TEXT
    width: int = 14
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """`permission` is what one needs inside an organisation; the platform's staff need PLATFORM_FINANCE_VIEW."""

    permission: Permission
    columns: Sequence[Column]
    rows: Callable[[Actor, Wanted], QuerySet[Any]]
    cells: Callable[[Any], list[Cell]]


def yuan_of(fen: int | Decimal) -> Decimal:
    """Two places for whole fen, as many as there are for exact ones."""
    found = Decimal(fen) / FEN_PER_YUAN
    return found.quantize(Decimal("0.01")) if isinstance(fen, int) else found.normalize()


ORGANISATION = Column(_("Organisation"), width=24)


def _charges(actor: Actor, wanted: Wanted) -> QuerySet[Charge]:
    filters = funds.ChargeFilter(wanted.since, wanted.until, organisation_id=wanted.organisation_id)
    rows = funds.charges(actor, filters=filters).select_related("organisation", "session__user", "price_version")
    if wanted.text:
        rows = rows.filter(
            Q(session__label__icontains=wanted.text)
            | Q(session__user__username__icontains=wanted.text)
            | Q(session__user__name__icontains=wanted.text)
        )
    return rows


def _charge(charge: Charge) -> list[Cell]:
    session = charge.session
    return [
        charge.day,
        session.label,
        str(session.workload_id),
        session.user.username,
        charge.start,
        charge.end,
        charge.seconds.normalize(),
        charge.replicas,
        yuan_of(charge.rate),
        charge.price_version.number,
        yuan_of(charge.exact_fen),
        yuan_of(charge.amount_fen),
        charge.key,
    ]


CHARGES = Source(
    Permission.BILLING_VIEW_OWN,
    (
        Column(_("Day"), Look.DAY, 11),
        Column(_("Run"), width=30),
        Column(_("Run ID"), width=38),
        Column(_("Member"), width=18),
        Column(_("From"), Look.MOMENT, 20),
        Column(_("To"), Look.MOMENT, 20),
        Column(_("Seconds"), Look.EXACT, adds=True),
        Column(_("Replicas"), Look.WHOLE, 9),
        Column(_("Price ¥/h"), Look.EXACT, 11),
        Column(_("Price version"), Look.WHOLE, 12),
        Column(_("Exact ¥"), Look.EXACT, 18, adds=True),
        Column(_("Charged ¥"), Look.YUAN, 14, adds=True),
        Column(_("Key"), width=70),
    ),
    _charges,
    _charge,
)


def between(rows: QuerySet[Any], wanted: Wanted, column: str) -> QuerySet[Any]:
    """Rows of the days wanted, by the instant in `column`."""
    if wanted.since:
        rows = rows.filter(**{f"{column}__gte": datetime.combine(wanted.since, time(), BILLING_ZONE)})
    if wanted.until:
        end = datetime.combine(wanted.until + timedelta(days=1), time(), BILLING_ZONE)
        rows = rows.filter(**{f"{column}__lt": end})
    if wanted.organisation_id:
        rows = rows.filter(organisation_id=wanted.organisation_id)
    return rows


def _recharges(actor: Actor, wanted: Wanted) -> QuerySet[Transfer]:
    rows = between(funds.recharges(actor), wanted, "at")
    if wanted.text:
        rows = rows.filter(
            Q(ref__icontains=wanted.text) | Q(note__icontains=wanted.text) | Q(actor_label__icontains=wanted.text)
        )
    return rows


def _recharge(transfer: Any) -> list[Cell]:
    return [
        transfer.at,
        transfer.get_kind_display(),
        transfer.ref,
        transfer.note,
        transfer.actor_label,
        yuan_of(transfer.into_wallet_fen),
        transfer.pk,
        transfer.idem,
    ]


RECHARGES = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("When"), Look.MOMENT, 20),
        Column(_("What"), width=12),
        Column(_("Reference"), width=30),
        Column(_("Note"), width=30),
        Column(_("By"), width=18),
        Column(_("Into the wallet ¥"), Look.YUAN, 16, adds=True),
        Column(_("Ledger entry"), Look.WHOLE, 12),
        Column(_("Key"), width=60),
    ),
    _recharges,
    _recharge,
)


def _top_ups(actor: Actor, wanted: Wanted) -> QuerySet[TopUpOrder]:
    rows = between(orders.orders(actor), wanted, "created_at")
    if wanted.text:
        rows = rows.filter(Q(out_trade_no__icontains=wanted.text) | Q(trade_no__icontains=wanted.text))
    return rows


def _top_up(order: TopUpOrder) -> list[Cell]:
    paid = order.amount_fen if order.transfer_id else 0
    return [
        order.created_at,
        order.out_trade_no,
        order.trade_no,
        order.user.username,
        order.get_status_display(),
        order.paid_at,
        yuan_of(order.amount_fen),
        yuan_of(paid),
        yuan_of(order.refunded_fen),
        yuan_of(paid - order.refunded_fen),
    ]


TOP_UPS = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("When"), Look.MOMENT, 20),
        Column(_("Order number"), width=38),
        Column(_("Alipay's number"), width=32),
        Column(_("By"), width=18),
        Column(_("State"), width=14),
        Column(_("Paid at"), Look.MOMENT, 20),
        Column(_("Amount ¥"), Look.YUAN),
        Column(_("Paid ¥"), Look.YUAN, adds=True),
        Column(_("Given back ¥"), Look.YUAN, adds=True),
        Column(_("Kept ¥"), Look.YUAN, adds=True),
    ),
    _top_ups,
    _top_up,
)


def _transfers(actor: Actor, wanted: Wanted) -> QuerySet[Transfer]:
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    # The kinds by a join that knows no scope: to an organisation the platform's own accounts are out of reach.
    rows: QuerySet[Transfer] = Transfer.objects.annotate(from_kind=F("debit__kind"), to_kind=F("credit__kind"))
    rows = between(rows.select_related("organisation"), wanted, "at")
    return rows.filter(Q(ref__icontains=wanted.text) | Q(note__icontains=wanted.text)) if wanted.text else rows


def _transfer(transfer: Any) -> list[Cell]:
    into = transfer.amount_fen if transfer.to_kind == AccountKind.CASH else 0
    out_of = transfer.amount_fen if transfer.from_kind == AccountKind.CASH else 0
    return [
        transfer.pk,
        transfer.at,
        transfer.get_kind_display(),
        str(AccountKind(transfer.from_kind).label),
        str(AccountKind(transfer.to_kind).label),
        yuan_of(transfer.amount_fen),
        yuan_of(into - out_of),
        transfer.ref,
        transfer.note,
        transfer.actor_label,
        transfer.idem,
    ]


TRANSFERS = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("Ledger entry"), Look.WHOLE, 12),
        Column(_("When"), Look.MOMENT, 20),
        Column(_("What"), width=22),
        Column(_("Out of"), width=22),
        Column(_("Into"), width=22),
        Column(_("Amount ¥"), Look.YUAN, adds=True),
        Column(_("Change of the wallet ¥"), Look.YUAN, 18, adds=True),
        Column(_("Reference"), width=30),
        Column(_("Note"), width=30),
        Column(_("By"), width=18),
        Column(_("Key"), width=60),
    ),
    _transfers,
    _transfer,
)

SOURCES: Mapping[ExportKind, Source] = {
    ExportKind.CHARGES: CHARGES,
    ExportKind.RECHARGES: RECHARGES,
    ExportKind.TOP_UPS: TOP_UPS,
    ExportKind.TRANSFERS: TRANSFERS,
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A source as one actor gets it: the platform's staff see whose each row is."""

    source: Source
    across: bool

    @property
    def columns(self) -> Sequence[Column]:
        return (ORGANISATION, *self.source.columns) if self.across else self.source.columns

    def cells(self, row: Any) -> list[Cell]:
        found = self.source.cells(row)
        return [row.organisation.name if row.organisation else "", *found] if self.across else found


def sheet_of(actor: Actor, kind: ExportKind) -> Sheet:
    return Sheet(SOURCES[kind], actor.platform)


def may_export(actor: Actor, kind: ExportKind) -> bool:
    source = SOURCES.get(kind)
    if source is None:
        return False
    return actor.may(Permission.PLATFORM_FINANCE_VIEW if actor.platform else source.permission)


def rows_of(actor: Actor, wanted: Wanted) -> QuerySet[Any]:
    """All rows of the file in the order in which they were written; raises `Denied` where the actor may not."""
    source = SOURCES[wanted.kind]
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else source.permission)
    return source.rows(actor, wanted).order_by("pk")
