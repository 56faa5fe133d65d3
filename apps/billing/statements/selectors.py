"""Reading statements: the organisation its own issued ones, the platform's finance staff all."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import AccountKind, BillKind, StatementSection, StatementState, TransferKind
from apps.billing.models import Charge, Statement, StatementLine
from apps.billing.months import Month
from apps.billing.statements.figures import charges_of, of_kind
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission

# In the wallet and in the prepaid account these say what became of the money, not what it is called in the ledger.
_WALLET: dict[str, str | Promise] = {
    TransferKind.USAGE: _("Consumption paid"),
    TransferKind.CORRECTION: _("Given back or corrected"),
    TransferKind.PREPAYMENT: _("Paid in advance"),
    TransferKind.PREPAYMENT_BACK: _("Prepayment given back"),
}
_PREPAID: dict[str, str | Promise] = {
    TransferKind.PREPAYMENT: _("Paid in advance"),
    TransferKind.RECOGNITION: _("Used up (earned)"),
    TransferKind.PREPAYMENT_BACK: _("Given back to the wallet"),
}


@dataclass(frozen=True, slots=True)
class StatementDocument:
    """A statement with its lines by section, for display and print."""

    statement: Statement
    month: Month
    bill: list[StatementLine]
    paid: list[StatementLine]
    prepaid: list[StatementLine]
    wallet: list[StatementLine]

    @property
    def rounding_fen(self) -> Decimal:
        return self.statement.total_fen - self.statement.exact_fen


def statements(actor: Actor) -> QuerySet[Statement]:
    """Newest month first; the organisation's issued ones, or all of them for the platform's finance staff."""
    rows: QuerySet[Statement] = Statement.objects.select_related("organisation", "reviewed_by", "issued_by")
    if actor.platform:
        actor.require(Permission.PLATFORM_FINANCE_VIEW)
    else:
        actor.require(Permission.BILLING_VIEW)
        rows = rows.filter(organisation_id=actor.organisation(), state=StatementState.ISSUED)
    return rows.order_by("-period", "-created_at", "pk")


def statement(actor: Actor, statement_id: UUID) -> Statement:
    """One that the actor may see; `NotFound` otherwise."""
    found = statements(actor).filter(pk=statement_id).first()
    if found is None:
        raise NotFound
    return found


def statement_document(actor: Actor, statement_id: UUID) -> StatementDocument:
    """The statement and its lines, in two queries."""
    found = statement(actor, statement_id)
    rows = list(StatementLine.objects.filter(statement=found).select_related("price_version").order_by("position"))
    sections = {each: [row for row in rows if row.section == each] for each in StatementSection}
    return StatementDocument(
        found,
        Month(found.period),
        sections[StatementSection.BILL],
        sections[StatementSection.PAID],
        sections[StatementSection.PREPAID],
        sections[StatementSection.WALLET],
    )


def words(line: StatementLine) -> str:
    """The label of a line, without the package that it names."""
    if line.section == StatementSection.BILL:
        return str(BillKind(line.kind).label)
    if line.section == StatementSection.PAID:
        return str(AccountKind(line.kind).label)
    special = _WALLET if line.section == StatementSection.WALLET else _PREPAID
    return str(special.get(line.kind, TransferKind(line.kind).label))


def has_charges(line: StatementLine) -> bool:
    """Whether the line is a sum of charges that can be listed."""
    return line.section == StatementSection.BILL and line.kind not in (BillKind.ROUNDING, BillKind.ADJUSTMENT)


def charged_line(actor: Actor, statement_id: UUID, position: int) -> StatementLine:
    """A line that consists of charges; `NotFound` for others."""
    found = statement(actor, statement_id)
    rows = StatementLine.objects.filter(statement=found, position=position).select_related("price_version__package")
    row: StatementLine | None = rows.first()
    if row is None or not has_charges(row):
        raise NotFound
    return row


def charges_of_line(actor: Actor, statement: Statement, line: StatementLine) -> QuerySet[Charge]:
    """The charges that a line is the sum of, oldest first, with what a table shows of them."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    month, used = Month(statement.period), Month(line.usage_period)
    rows = charges_of(statement.organisation_id, month).filter(of_kind(BillKind(line.kind), month))
    rows = rows.filter(
        period=line.usage_period,
        day__gte=used.first,  # `period` has no index; the organisation's days have
        day__lte=used.last,
        price_version_id=line.price_version_id,
        discount_off=line.discount,
    )
    rows = rows.select_related("session__user", "price_version__package", "run")
    return rows.order_by("day", "pk")


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one month's statements: how many are in each state, and what they add up to."""

    draft: int
    reviewed: int
    issued: int
    incomplete: int
    total_fen: int

    @property
    def count(self) -> int:
        return self.draft + self.reviewed + self.issued


def tally(actor: Actor, month: Month) -> Tally:
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    in_state = {state: Count("pk", filter=Q(state=state)) for state in StatementState.values}
    found = Statement.objects.filter(period=month.period).aggregate(
        **in_state,
        incomplete=Count("pk", filter=Q(complete=False)),
        total=Sum("total_fen"),
    )
    return Tally(found["draft"], found["reviewed"], found["issued"], found["incomplete"], int(found["total"] or 0))
