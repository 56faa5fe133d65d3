"""A month's statement: what is on it, that it adds up with the ledger, and that it stays as it was issued."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.db.models import Sum

from apps.audit.models import Entry
from apps.billing import services
from apps.billing.choices import BillKind, StatementSection, StatementState
from apps.billing.models import Statement, StatementLine
from apps.billing.months import Month
from apps.billing.statements import services as statements
from apps.billing.statements.digest import is_intact
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.billing.builders import PLATFORM, Run, make_member, make_organisation, make_package, price_of, top_up
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, build, posted_at, rate

HOUR = timedelta(hours=1)


@pytest.fixture
def clerk(platform: Actor) -> Actor:
    """A person of the platform's finance staff."""
    user = User.objects.create(username="clerk")
    return Actor(user.pk, "clerk", None, permissions=PLATFORM.permissions, platform=True)


def a_month(lab: Organisation, alice: Actor) -> Run:
    """¥500 in, an hour at ¥7.80 used and charged, all in the middle of October."""
    run = Run(alice, price_of(make_package()), opened=MIDDLE)
    with posted_at(MIDDLE + 2 * HOUR):
        top_up(lab, 50_000)
        run.open().close(HOUR)
        rate(lab, MIDDLE + 2 * HOUR)
    return run


def lines(statement: Statement, section: StatementSection) -> list[tuple[Any, Any]]:
    rows = StatementLine.objects.filter(statement=statement, section=section).order_by("position")
    return list(rows.values_list("kind", "amount_fen"))


def adds_up(statement: Statement) -> bool:
    bill = StatementLine.objects.filter(statement=statement, section=StatementSection.BILL)
    wallet = StatementLine.objects.filter(statement=statement, section=StatementSection.WALLET)
    total = bill.aggregate(fen=Sum("amount_fen"))["fen"] or 0
    moved = wallet.aggregate(fen=Sum("amount_fen"))["fen"] or 0
    return bool(total == statement.total_fen and statement.opening_fen + moved == statement.closing_fen)


class TestMonths:
    def test_a_month_begins_at_midnight_of_the_billing_zone(self) -> None:
        assert OCTOBER.start.isoformat() == "2026-10-01T00:00:00+08:00"
        assert (OCTOBER.end, OCTOBER.next(), Month("2026-12").next()) == (NOVEMBER.start, NOVEMBER, Month("2027-01"))
        assert Month.at(OCTOBER.end - timedelta(microseconds=1)) == OCTOBER
        assert Month("2028-02").last.day == 29

    @pytest.mark.parametrize("text", ["2026-13", "2026-1", "1026-01", "2026-10-01", ""])
    def test_only_a_year_and_a_month_are_one(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"^"):
            Month.parse(text)


class TestBuilding:
    def test_what_was_used_paid_and_moved_is_on_it(self, lab: Organisation, alice: Actor) -> None:
        a_month(lab, alice)
        made = build(lab)
        assert (made.total_fen, made.cash_fen, made.voucher_fen, made.received_fen) == (780, 780, 0, 50_000)
        assert (made.opening_fen, made.closing_fen) == (0, 49_220)
        assert lines(made, StatementSection.BILL) == [(BillKind.USAGE, 780), (BillKind.ROUNDING, 0)]
        assert lines(made, StatementSection.PAID) == [("cash", 780)]
        assert lines(made, StatementSection.WALLET) == [("top_up", 50_000), ("usage", -780)]
        assert adds_up(made)

    def test_a_line_names_package_price_and_seconds_as_they_were(self, lab: Organisation, alice: Actor) -> None:
        run = a_month(lab, alice)
        line = StatementLine.objects.get(statement=build(lab), section=StatementSection.BILL, kind=BillKind.USAGE)
        assert (line.label_en, line.price_number) == (run.price.package.name_en, 1)
        assert (line.rate_fen_per_hour, line.seconds) == (Decimal(780), Decimal(3600))
        assert line.usage_period == "2026-10"

    def test_what_is_below_a_fen_is_a_line_of_its_own(self, lab: Organisation, alice: Actor) -> None:
        with posted_at(MIDDLE + HOUR):
            Run(alice, price_of(make_package("0.7")), opened=MIDDLE).open().close(timedelta(minutes=90))
            rate(lab, MIDDLE + 2 * HOUR)
        made = build(lab)
        assert (made.exact_fen, made.total_fen) == (Decimal("1.05"), 1)
        assert lines(made, StatementSection.BILL)[-1] == (BillKind.ROUNDING, Decimal("-0.05"))
        assert adds_up(made)

    def test_it_takes_up_where_the_month_before_ended(self, lab: Organisation, alice: Actor) -> None:
        a_month(lab, alice)
        with posted_at(NOVEMBER.start + HOUR):
            top_up(lab, 100)
        assert build(lab, NOVEMBER).opening_fen == build(lab).closing_fen == 49_220

    def test_a_movement_at_midnight_belongs_to_the_new_month(self, lab: Organisation) -> None:
        with posted_at(OCTOBER.end - timedelta(microseconds=1)):
            top_up(lab, 7)
        with posted_at(OCTOBER.end):
            top_up(lab, 11)
        assert (build(lab).received_fen, build(lab, NOVEMBER).received_fen) == (7, 11)

    def test_a_run_that_straddles_midnight_is_kept_together(self, lab: Organisation, alice: Actor) -> None:
        """Its transfer is written a moment before it: one month would have the money, the next the lines."""
        Run(alice, price_of(make_package()), opened=MIDDLE).open().close(HOUR)
        with posted_at(OCTOBER.end - timedelta(microseconds=1), run=OCTOBER.end):
            rate(lab, NOVEMBER.start)
        assert (build(lab).total_fen, build(lab).closing_fen) == (0, 0)
        assert (build(lab, NOVEMBER).total_fen, build(lab, NOVEMBER).closing_fen) == (780, -780)

    def test_late_usage_and_corrections_are_on_the_next_one(self, lab: Organisation, alice: Actor) -> None:
        run = Run(alice, price_of(make_package()), opened=MIDDLE)
        with posted_at(MIDDLE + 3 * HOUR):
            run.open().seen(2 * HOUR)
            rate(lab, MIDDLE + 2 * HOUR)
        october = build(lab)
        with posted_at(NOVEMBER.start + HOUR):
            run.close(HOUR)  # it ended an hour earlier than had been charged
            rate(lab, NOVEMBER.start + HOUR)
            Run(alice, run.price, opened=MIDDLE).open().close(HOUR)  # found late
            rate(lab, NOVEMBER.start + 2 * HOUR)
        november = build(lab, NOVEMBER)
        october.refresh_from_db()
        assert (october.total_fen, november.total_fen) == (1560, 0)
        assert lines(november, StatementSection.BILL) == [
            (BillKind.LATE, 780),
            (BillKind.REVERSAL, -780),
            (BillKind.ROUNDING, 0),
        ]

    def test_credits_for_lost_work_stand_apart(self, lab: Organisation, alice: Actor) -> None:
        run = a_month(lab, alice)
        with posted_at(MIDDLE + 5 * HOUR):
            services.credit_lost(PLATFORM, session_id=run.session_id, since=MIDDLE + HOUR / 2)
        made = build(lab)
        assert made.total_fen == 390
        assert (BillKind.CREDIT, Decimal(-390)) in lines(made, StatementSection.BILL)
        assert adds_up(made)

    def test_building_again_replaces_the_lines(self, lab: Organisation, alice: Actor) -> None:
        a_month(lab, alice)
        first = build(lab, complete=False)
        again = build(lab)
        assert (again.pk, again.complete) == (first.pk, True)
        assert len(lines(again, StatementSection.BILL)) == 2

    def test_a_month_without_anything_carries_the_balance(self, lab: Organisation) -> None:
        with posted_at(MIDDLE):
            top_up(lab, 100)
        empty = build(lab, NOVEMBER)
        assert (empty.opening_fen, empty.closing_fen, empty.total_fen) == (100, 100, 0)


class TestIssuing:
    def test_draft_reviewed_issued(self, lab: Organisation, alice: Actor, clerk: Actor) -> None:
        a_month(lab, alice)
        made = build(lab)
        reviewed = statements.review(clerk, statement_id=made.pk)
        assert (reviewed.state, reviewed.reviewed_by_id) == (StatementState.REVIEWED, clerk.user_id)
        issued = statements.issue(clerk, statement_id=made.pk)
        assert (issued.state, issued.number, len(issued.digest)) == (StatementState.ISSUED, "ST-202610-000001", 64)
        assert is_intact(issued)

    def test_each_step_is_in_the_log_with_before_and_after(self, lab: Organisation, clerk: Actor) -> None:
        statements.review(clerk, statement_id=build(lab).pk)
        entry = Entry.objects.get(action="billing.statement.reviewed")
        assert (entry.before["state"], entry.after["state"], entry.actor_id) == ("draft", "reviewed", clerk.user_id)

    def test_a_second_press_changes_nothing(self, lab: Organisation, clerk: Actor) -> None:
        made = build(lab)
        for _ in range(2):
            statements.review(clerk, statement_id=made.pk)
        first = statements.issue(clerk, statement_id=made.pk)
        assert statements.issue(clerk, statement_id=made.pk).issued_at == first.issued_at
        assert Entry.objects.filter(action__startswith="billing.statement.").count() == 2

    def test_the_organisation_is_told_once(self, lab: Organisation, alice: Actor, clerk: Actor) -> None:
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        statements.issue(clerk, statement_id=made.pk)
        assert Notice.objects.filter(kind="billing.statement", user_id=alice.person()).count() == 1

    def test_numbers_of_a_month_have_no_gaps(self, lab: Organisation, clerk: Actor, platform: Actor) -> None:
        for made in (build(lab), build(make_organisation())):
            statements.review(clerk, statement_id=made.pk)
            statements.issue(clerk, statement_id=made.pk)
        serials = Statement.objects.order_by("serial").values_list("serial", flat=True)
        assert list(serials) == [1, 2]

    def test_an_incomplete_month_is_not_reviewed(self, lab: Organisation, clerk: Actor) -> None:
        with pytest.raises(Conflict):
            statements.review(clerk, statement_id=build(lab, complete=False).pk)

    def test_a_draft_is_not_issued(self, lab: Organisation, clerk: Actor) -> None:
        with pytest.raises(Conflict):
            statements.issue(clerk, statement_id=build(lab).pk)

    def test_back_to_draft_needs_a_reason(self, lab: Organisation, clerk: Actor) -> None:
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        with pytest.raises(Invalid):
            statements.reopen(clerk, statement_id=made.pk, reason=" ")
        back = statements.reopen(clerk, statement_id=made.pk, reason="Wrong price")
        assert (back.state, back.reason, back.reviewed_by_id) == (StatementState.DRAFT, "Wrong price", None)

    def test_an_issued_one_does_not_go_back(self, lab: Organisation, clerk: Actor) -> None:
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        statements.issue(clerk, statement_id=made.pk)
        with pytest.raises(Conflict):
            statements.reopen(clerk, statement_id=made.pk, reason="Wrong price")

    def test_building_leaves_reviewed_ones_alone(self, lab: Organisation, clerk: Actor) -> None:
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        with posted_at(MIDDLE):
            top_up(lab, 100)
        assert build(lab).received_fen == 0

    def test_whoever_may_not_is_refused(self, lab: Organisation, alice: Actor) -> None:
        made = build(lab)
        member = make_member(lab, Role.FINANCE)
        for act in (statements.review, statements.issue):
            with pytest.raises((Denied, NotFound)):
                act(member, statement_id=made.pk)


class TestFrozen:
    @pytest.fixture
    def issued(self, lab: Organisation, alice: Actor, clerk: Actor) -> Statement:
        a_month(lab, alice)
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        return statements.issue(clerk, statement_id=made.pk)

    def test_no_column_changes(self, issued: Statement) -> None:
        for change in ({"total_fen": 1, "cash_fen": 1}, {"state": "draft"}, {"digest": "0" * 64}):
            with pytest.raises(DatabaseError), transaction.atomic():
                Statement.objects.filter(pk=issued.pk).update(**change)

    def test_it_and_its_lines_cannot_go(self, issued: Statement) -> None:
        lines = StatementLine.objects.filter(statement=issued)
        for rows in (Statement.objects.filter(pk=issued.pk), lines):
            with pytest.raises(DatabaseError), transaction.atomic():
                rows._raw_delete(rows.db)

    def test_no_line_is_changed_or_added(self, issued: Statement) -> None:
        with pytest.raises(DatabaseError), transaction.atomic():
            StatementLine.objects.filter(statement=issued).update(amount_fen=0)
        with pytest.raises(DatabaseError), transaction.atomic():
            StatementLine.objects.create(
                organisation_id=issued.organisation_id, statement=issued, position=99, section="bill", amount_fen=1
            )

    def test_a_reviewed_one_keeps_its_lines_too(self, lab: Organisation, clerk: Actor) -> None:
        made = build(lab)
        statements.review(clerk, statement_id=made.pk)
        with pytest.raises(DatabaseError), transaction.atomic():
            Statement.objects.filter(pk=made.pk).update(received_fen=5)
        with pytest.raises(DatabaseError), transaction.atomic():
            StatementLine.objects.create(
                organisation_id=lab.pk, statement=made, position=1, section="bill", amount_fen=1
            )

    def test_the_seal_notices_another_figure(self, issued: Statement) -> None:
        issued.closing_fen += 1
        assert not is_intact(issued)
