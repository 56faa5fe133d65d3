"""Files of how money moved: recharges, payments by Alipay, entries of the ledger."""

from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.choices import AccountKind, PaymentMethod, VoucherNote
from apps.billing.exports.columns import CellFormat, Column, Source, within_days
from apps.billing.exports.wanted import ExportSpec
from apps.billing.formula import yuan_of
from apps.billing.models import TopUpOrder, Transfer
from apps.billing.payments.alipay import orders
from apps.billing.recharges.selectors import recharges
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell


def _recharges(actor: Actor, wanted: ExportSpec) -> QuerySet[Transfer]:
    rows = within_days(recharges(actor), wanted, "at")
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
        transfer.paid_on,
        transfer.payer or "",
        str(PaymentMethod(transfer.method).label) if transfer.method else "",
        _asked_by(transfer),
    ]


def _asked_by(transfer: Any) -> str:
    """Who asked for it, where a second person approved it."""
    request = getattr(transfer, "recharge_request", None)
    return request.requested_by.username if request else ""


RECHARGES = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("When"), CellFormat.MOMENT, 20),
        Column(_("Kind"), width=12),
        Column(_("Reference"), width=30),
        Column(_("Note"), width=30),
        Column(_("By"), width=18),
        Column(_("Into the wallet ¥"), CellFormat.YUAN, 16, adds=True),
        Column(_("Ledger entry"), CellFormat.WHOLE, 12),
        Column(pgettext_lazy("of a posting", "Key"), width=60),
        Column(_("Value date"), CellFormat.DAY, 12),
        Column(_("Payer"), width=30),
        Column(_("Way of payment"), width=18),
        Column(_("Asked by"), width=18),
    ),
    _recharges,
    _recharge,
)


def _top_ups(actor: Actor, wanted: ExportSpec) -> QuerySet[TopUpOrder]:
    rows = within_days(orders.orders(actor), wanted, "created_at")
    if wanted.text:
        rows = rows.filter(Q(out_trade_no__icontains=wanted.text) | Q(trade_no__icontains=wanted.text))
    return rows


def _top_up(order: TopUpOrder) -> list[Cell]:
    paid = order.amount_fen if order.transfer_id else 0
    return [
        order.created_at,
        order.out_trade_no,
        order.trade_no,
        order.user.username if order.user else "",
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
        Column(_("When"), CellFormat.MOMENT, 20),
        Column(_("Order number"), width=38),
        Column(_("Alipay's number"), width=32),
        Column(_("By"), width=18),
        Column(_("State"), width=14),
        Column(_("Paid at"), CellFormat.MOMENT, 20),
        Column(_("Amount ¥"), CellFormat.YUAN),
        Column(_("Paid ¥"), CellFormat.YUAN, adds=True),
        Column(_("Given back ¥"), CellFormat.YUAN, adds=True),
        Column(_("Kept ¥"), CellFormat.YUAN, adds=True),
    ),
    _top_ups,
    _top_up,
)


def _transfers(actor: Actor, wanted: ExportSpec) -> QuerySet[Transfer]:
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    # The kinds by a join that knows no scope: to an organisation the platform's own accounts are out of reach.
    rows: QuerySet[Transfer] = Transfer.objects.annotate(from_kind=F("debit__kind"), to_kind=F("credit__kind"))
    rows = within_days(rows.select_related("organisation"), wanted, "at")
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
        VoucherNote.words(transfer.note),
        transfer.actor_label,
        transfer.idem,
    ]


TRANSFERS = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("Ledger entry"), CellFormat.WHOLE, 12),
        Column(_("When"), CellFormat.MOMENT, 20),
        Column(_("Kind"), width=22),
        Column(_("Out of"), width=22),
        Column(_("Into"), width=22),
        Column(_("Amount ¥"), CellFormat.YUAN, adds=True),
        Column(_("Change of the wallet ¥"), CellFormat.YUAN, 18, adds=True),
        Column(_("Reference"), width=30),
        Column(_("Note"), width=30),
        Column(_("By"), width=18),
        Column(pgettext_lazy("of a posting", "Key"), width=60),
    ),
    _transfers,
    _transfer,
)
