"""Statements of a billing month: built as drafts, reviewed, issued for good. The only code that writes them.

    draft → reviewed → issued, and from reviewed back to draft with a reason.

A draft may be rebuilt any number of times. From T+1 after the month's end its figures are final; only then can it be
reviewed. Later corrections appear on the statement of the month in which they are made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.choices import AccountKind, BillKind, StatementSection, StatementState, TransferKind
from apps.billing.ledger.services import lock_wallet
from apps.billing.models import Account, PriceVersion, Statement, StatementLine, Transfer
from apps.billing.months import Month
from apps.billing.statements import figures
from apps.billing.statements.digest import digest_of
from apps.billing.statements.figures import Flow, UsageLine
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.formatting import moment
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation

REASON_MAX = 300
LABEL_MAX = 160
S = StatementState
TRANSITIONS: Mapping[StatementState, frozenset[StatementState]] = {
    S.DRAFT: frozenset({S.REVIEWED}),
    S.REVIEWED: frozenset({S.ISSUED, S.DRAFT}),
    S.ISSUED: frozenset(),
}
# The first key of the advisory lock under which serial numbers are given; the second is the month.
_SERIALS = 0x57A7


@dataclass(frozen=True, slots=True)
class Figures:
    """All that a draft is written from."""

    used: list[UsageLine]
    adjusted: list[Transfer]  # as of `figures.adjustments_of`
    total_fen: int
    flows: list[Flow]
    closing_fen: int

    @property
    def exact_fen(self) -> Decimal:
        """Adjustments are whole, so that rounding is the usage's alone."""
        return sum((each.exact_fen for each in self.used), Decimal(0)) + figures.adjusted_fen(self.flows)

    def into_wallet(self) -> int:
        return sum(flow.into(AccountKind.CASH) for flow in self.flows)

    def of(self, *kinds: TransferKind) -> list[Flow]:
        return [flow for flow in self.flows if flow.kind in kinds]


def build(actor: Actor, *, organisation_id: UUID, month: Month, now: datetime | None = None) -> Statement:
    """Rebuild the draft of an organisation's month; a reviewed or issued statement is returned unchanged.

    It locks the wallet, so that all figures are of one moment. Raises `Conflict` if charges and ledger differ, which
    the platform's staff must investigate.
    """
    actor.require(Permission.PLATFORM_STATEMENTS_MANAGE)
    now = now or db_now()
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        statement = _draft_of(organisation_id, month, now)
        if statement.state == S.DRAFT:
            _write(statement, _read(wallet, organisation_id, month), complete=now >= month.complete_at, now=now)
        return statement


def review(actor: Actor, *, statement_id: UUID) -> Statement:
    """Approve the figures of a complete draft. Repeated, it changes nothing."""
    with transaction.atomic():
        statement = _locked(actor, statement_id)
        if statement.state == S.REVIEWED:
            return statement
        if not statement.complete:
            raise Conflict(
                _("This month is not complete yet."),
                hint=_("It can be reviewed from %(at)s, once its draft was built then.")
                % {"at": moment(Month(statement.period).complete_at)},
            )
        _move(actor, statement, S.REVIEWED, reviewed_at=db_now(), reviewed_by_id=actor.user_id)
        return statement


def issue(actor: Actor, *, statement_id: UUID) -> Statement:
    """Number it, seal it with its digest and tell the organisation. Repeated, it changes nothing."""
    with transaction.atomic():
        statement = _locked(actor, statement_id)
        if statement.state == S.ISSUED:
            return statement
        statement.serial = _next_serial(statement.period)
        _move(
            actor,
            statement,
            S.ISSUED,
            serial=statement.serial,
            digest=digest_of(statement),
            issued_at=db_now(),
            issued_by_id=actor.user_id,
        )
        notify_organisation(
            organisation_id=statement.organisation_id,
            kind="billing.statement",
            data={"statement": str(statement.pk), "period": statement.period, "total_fen": statement.total_fen},
            dedup=f"statement:{statement.pk}",
            permission=Permission.BILLING_VIEW,
        )
        return statement


def reopen(actor: Actor, *, statement_id: UUID, reason: str) -> Statement:
    """Back from reviewed to draft, with the reason why."""
    cleaned = reason.strip()
    if not 1 <= len(cleaned) <= REASON_MAX:
        raise Invalid.field("reason", _("Say in up to 300 characters why."))
    with transaction.atomic():
        statement = _locked(actor, statement_id)
        _move(actor, statement, S.DRAFT, reviewed_at=None, reviewed_by_id=None, reason=cleaned)
        return statement


def _locked(actor: Actor, statement_id: UUID) -> Statement:
    actor.require(Permission.PLATFORM_STATEMENTS_MANAGE)
    rows = Statement.objects.select_for_update(of=("self",)).select_related("organisation")
    found: Statement | None = rows.filter(pk=statement_id).first()
    if found is None:
        raise NotFound
    return found


def _move(actor: Actor, statement: Statement, to: StatementState, **columns: object) -> None:
    """One conditional UPDATE and its entry in the log, in the caller's transaction."""
    was = StatementState(statement.state)
    if to not in TRANSITIONS[was]:
        raise Conflict(_("This statement is %(state)s.") % {"state": was.label.lower()})
    changed = Statement.objects.filter(pk=statement.pk, state=was).update(state=to, **columns)
    if not changed:
        raise Conflict(_("This statement has changed meanwhile."))
    before = _audit_values(statement)
    statement.refresh_from_db()
    record(
        actor,
        action=f"billing.statement.{to.value}",
        target=Target("statement", str(statement.pk), f"{statement.organisation.name} {statement.period}"),
        organisation_id=statement.organisation_id,
        before=before,
        after=_audit_values(statement),
    )


def _audit_values(statement: Statement) -> dict[str, object]:
    return {
        "state": str(statement.state),
        "period": statement.period,
        "total_fen": statement.total_fen,
        "statement_number": statement.number,
        "reason": statement.reason,
        "digest": statement.digest,
    }


def _next_serial(period: str) -> int:
    """The next number of the month, without gaps: another issue waits until this one has committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_SERIALS, int(period.replace("-", ""))])
    last = Statement.objects.filter(period=period).aggregate(last=Max("serial"))["last"]
    return int(last or 0) + 1


def _draft_of(organisation_id: UUID, month: Month, now: datetime) -> Statement:
    """The month's row, locked; created on first use. The wallet's lock prevents two callers from creating it."""
    rows = Statement.objects.select_for_update(of=("self",))
    found: Statement | None = rows.filter(organisation_id=organisation_id, period=month.period).first()
    if found is None:
        found = Statement.objects.create(organisation_id=organisation_id, period=month.period, built_at=now)
    return found


def _read(wallet: Account, organisation_id: UUID, month: Month) -> Figures:
    flows = figures.flows_of(organisation_id, month)
    read = Figures(
        used=figures.usage_lines(organisation_id, month),
        adjusted=list(figures.adjustments_of(organisation_id, month)),
        total_fen=figures.rated_fen(organisation_id, month) + figures.adjusted_fen(flows),
        flows=flows,
        closing_fen=wallet.balance_fen - figures.moved_after(organisation_id, month),
    )
    if sum(fen for _account, fen, _count in figures.paid_by(read.flows)) != read.total_fen:
        raise Conflict(_("The charges of %(period)s and the ledger differ. Report this.") % {"period": month.period})
    return read


def _write(statement: Statement, read: Figures, *, complete: bool, now: datetime) -> None:
    paid = {account: fen for account, fen, _count in figures.paid_by(read.flows)}
    statement.exact_fen, statement.total_fen = read.exact_fen, read.total_fen
    statement.cash_fen, statement.voucher_fen = paid.get(AccountKind.CASH, 0), paid.get(AccountKind.VOUCHER, 0)
    statement.recognised_fen = sum(flow.amount_fen for flow in read.of(TransferKind.RECOGNITION))
    statement.received_fen = sum(figures.received_fen(flow) for flow in read.flows)
    statement.closing_fen = read.closing_fen
    statement.opening_fen = read.closing_fen - read.into_wallet()
    statement.complete, statement.built_at = complete, now
    statement.save()
    StatementLine.objects.filter(statement=statement).delete()
    lines = [*_bill_lines(read), *_paid_lines(read), *_moved_lines(read)]
    for position, line in enumerate(lines, start=1):
        line.statement, line.organisation_id, line.position = statement, statement.organisation_id, position
    StatementLine.objects.bulk_create(lines)


def _bill_lines(read: Figures) -> Iterator[StatementLine]:
    ids = {each.price_version_id for each in read.used}
    prices = PriceVersion.objects.select_related("package").in_bulk(ids)
    for each in read.used:
        yield _used_line(each, prices[each.price_version_id])
    for adjustment in read.adjusted:
        yield _adjustment_line(adjustment)
    rounding = read.total_fen - read.exact_fen
    if rounding or read.used:
        yield StatementLine(section=StatementSection.BILL, kind=BillKind.ROUNDING, amount_fen=rounding)


def _used_line(each: UsageLine, price: PriceVersion) -> StatementLine:
    return StatementLine(
        section=StatementSection.BILL,
        kind=each.kind,
        usage_period=each.usage_period,
        price_version=price,
        label_en=price.package.name_en,
        label_zh=price.package.name_zh,
        price_number=price.number,
        rate_fen_per_hour=price.rate_fen_per_hour,
        discount=each.discount,
        count=each.count,
        seconds=each.seconds,
        amount_fen=each.exact_fen,
    )


def _adjustment_line(adjustment: Any) -> StatementLine:
    """Named by its number and its reason, which are the same in every language."""
    label = f"{adjustment.ref}: {adjustment.note}"[:LABEL_MAX]
    return StatementLine(
        section=StatementSection.BILL,
        kind=BillKind.ADJUSTMENT,
        label_en=label,
        label_zh=label,
        count=1,
        amount_fen=Decimal(adjustment.billed_fen),
    )


def _paid_lines(read: Figures) -> Iterator[StatementLine]:
    for account, fen, count in figures.paid_by(read.flows):
        yield StatementLine(section=StatementSection.PAID, kind=account, count=count, amount_fen=Decimal(fen))


def _moved_lines(read: Figures) -> Iterator[StatementLine]:
    """What else moved, by kind: in the prepaid account, and in the wallet (its payment of the bill included)."""
    prepaid = (StatementSection.PREPAID, AccountKind.DEFERRED)
    wallet = (StatementSection.WALLET, AccountKind.CASH)
    for section, account in (prepaid, wallet):
        for kind in TransferKind:
            moved = [flow for flow in read.of(kind) if flow.into(account)]
            if moved:
                fen, count = sum(flow.into(account) for flow in moved), sum(flow.count for flow in moved)
                yield StatementLine(section=section, kind=kind, count=count, amount_fen=Decimal(fen))
