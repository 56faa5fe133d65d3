"""Files of what was used: charges and the statements that they add up to."""

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, OuterRef, Q, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.consumption.selectors import ChargeFilter, charges
from apps.billing.exports.columns import CellFormat, Column, Source
from apps.billing.exports.wanted import ExportSpec
from apps.billing.formula import yuan_of
from apps.billing.models import Charge, PrepaidOrder, Statement
from apps.billing.statements.selectors import statements
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell
from apps.common.tags import join


def _prepaid_orders() -> Case:
    """Numbers of the prepaid orders that a covered charge's time was paid by: those of its package in force then."""
    orders = PrepaidOrder.objects.filter(
        organisation=OuterRef("organisation"),
        package=OuterRef("price_version__package"),
        starts_at__lt=OuterRef("end"),
        covers_until__gt=OuterRef("start"),
    )
    found = ArraySubquery(orders.order_by("starts_at", "pk").values("pk"))
    return Case(When(covered__gt=0, then=found), default=Value([], output_field=found.output_field))


def _charges(actor: Actor, wanted: ExportSpec) -> QuerySet[Charge]:
    filters = ChargeFilter(wanted.since, wanted.until, organisation_id=wanted.organisation_id)
    rows = charges(actor, filters=filters).select_related("organisation", "session__user", "price_version")
    if wanted.text:
        rows = rows.filter(
            Q(session__label__icontains=wanted.text)
            | Q(session__user__username__icontains=wanted.text)
            | Q(session__user__name__icontains=wanted.text)
        )
    return rows.annotate(prepaid_orders=_prepaid_orders())


def _charge(charge: Charge) -> list[Cell]:
    session = charge.session
    return [
        charge.day,
        session.label,
        str(session.workload_id),
        session.user.username,
        join(session.tags),
        charge.start,
        charge.end,
        charge.seconds.normalize(),
        charge.replicas,
        yuan_of(charge.rate),
        charge.price_version.number,
        (charge.discount_off * 100).normalize(),
        charge.covered,
        (charge.seconds * charge.covered).normalize(),
        " ".join(str(each) for each in charge.prepaid_orders),  # type: ignore[attr-defined]  # of `_charges`
        yuan_of(charge.exact_fen),
        yuan_of(charge.voucher_exact),
        yuan_of(charge.amount_fen),
        charge.key,
    ]


CHARGES = Source(
    Permission.BILLING_VIEW_OWN,
    (
        Column(_("Day"), CellFormat.DAY, 11),
        Column(_("Run"), width=30),
        Column(_("Run ID"), width=38),
        Column(_("Member"), width=18),
        Column(_("Tags"), width=24),
        Column(pgettext_lazy("time", "From"), CellFormat.MOMENT, 20),
        Column(pgettext_lazy("time", "To"), CellFormat.MOMENT, 20),
        Column(_("Seconds"), CellFormat.EXACT, adds=True),
        Column(_("Replicas"), CellFormat.WHOLE, 9),
        Column(_("Price ¥/h"), CellFormat.EXACT, 11),
        Column(_("Price version"), CellFormat.WHOLE, 12),
        Column(_("Discount %"), CellFormat.EXACT, 10),
        Column(_("Replicas paid in advance"), CellFormat.WHOLE, 10),
        Column(_("Seconds paid in advance"), CellFormat.EXACT, adds=True),
        Column(_("Prepaid orders"), width=38),
        Column(_("Exact ¥"), CellFormat.EXACT, 18, adds=True),
        Column(_("Of which vouchers ¥"), CellFormat.EXACT, 18, adds=True),
        Column(_("Charged ¥"), CellFormat.YUAN, 14, adds=True),
        Column(pgettext_lazy("of a posting", "Key"), width=70),
    ),
    _charges,
    _charge,
)


def _statements(actor: Actor, wanted: ExportSpec) -> QuerySet[Statement]:
    """Of the months that the days wanted lie in."""
    rows = statements(actor)
    if wanted.since:
        rows = rows.filter(period__gte=f"{wanted.since:%Y-%m}")
    if wanted.until:
        rows = rows.filter(period__lte=f"{wanted.until:%Y-%m}")
    return rows.filter(organisation_id=wanted.organisation_id) if wanted.organisation_id else rows


def _statement(statement: Statement) -> list[Cell]:
    return [
        statement.period,
        statement.number,
        statement.get_state_display(),
        yuan_of(statement.total_fen),
        yuan_of(statement.cash_fen),
        yuan_of(statement.voucher_fen),
        yuan_of(statement.exact_fen),
        yuan_of(statement.recognised_fen),
        yuan_of(statement.received_fen),
        yuan_of(statement.opening_fen),
        yuan_of(statement.closing_fen),
        statement.issued_at,
        statement.digest,
    ]


STATEMENTS = Source(
    Permission.BILLING_VIEW,
    (
        Column(_("Month"), width=9),
        Column(_("Number"), width=20),
        Column(_("State"), width=12),
        Column(_("Total ¥"), CellFormat.YUAN, adds=True),
        Column(_("By the wallet ¥"), CellFormat.YUAN, adds=True),
        Column(_("By vouchers ¥"), CellFormat.YUAN, adds=True),
        Column(_("Exact ¥"), CellFormat.EXACT, 18, adds=True),
        Column(_("Prepaid, earned ¥"), CellFormat.YUAN, adds=True),
        Column(_("Paid in ¥"), CellFormat.YUAN, adds=True),
        Column(_("Balance before ¥"), CellFormat.YUAN),
        Column(_("Balance after ¥"), CellFormat.YUAN),
        Column(_("Issued at"), CellFormat.MOMENT, 20),
        Column(_("SHA-256"), width=66),
    ),
    _statements,
    _statement,
    ("period", "created_at", "pk"),
)
