"""Sums of charges are kept by whatever adds a charge, and whoever tampers with either is found out."""

from datetime import timedelta

import pytest
from django.db import ProgrammingError, connection, transaction
from django.db.models import Sum

from apps.billing import selectors, services
from apps.billing.consumption.selectors import ChargeFilter, day_sums, session_days
from apps.billing.days import billing_day
from apps.billing.ledger.books import check_books
from apps.billing.models import Charge, DaySum, SessionDay
from apps.billing.months import Month
from apps.billing.rating.credits import credit_lost
from apps.billing.statements.agreement import agreement_of_months
from apps.billing.statements.figures import usage_lines
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.database_role import APP_ROLE
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from apps.tenants.services import assign_platform_role
from tests.billing.builders import NOON, PLATFORM, Run, make_member, make_organisation, make_package, price_of

HOUR = timedelta(hours=1)
LATER = NOON + timedelta(days=40)


def as_owner(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
        cursor.execute(statement)
        cursor.execute(f"SET LOCAL ROLE {APP_ROLE}")


@pytest.fixture
def runs(alice: Actor, lab: Organisation) -> tuple[Run, Run]:
    """Alice's run over two days of the billing zone, rated in two goes, and a short one of a colleague."""
    price = price_of(make_package("333.3333333333"))
    mine, other = Run(alice, price, label="digits"), Run(make_member(lab), price, label="letters")
    mine.open().seen(3 * HOUR)
    services.rate_due(PLATFORM, until=NOON + 3 * HOUR)
    mine.close(15 * HOUR + timedelta(seconds=7))
    other.open().close(HOUR / 2)
    services.rate_due(PLATFORM, until=LATER)
    return mine, other


def test_a_day_is_the_sum_of_its_charges(runs: tuple[Run, Run]) -> None:
    days = list(SessionDay.objects.filter(session_id=runs[0].session_id).order_by("day"))
    charges = Charge.objects.filter(session_id=runs[0].session_id)
    assert len(days) == 2
    for each in days:
        sums = charges.filter(day=each.day).aggregate(
            fen=Sum("amount_fen"), exact=Sum("exact_fen"), length=Sum("seconds")
        )
        assert (each.amount_fen, each.exact_fen, each.seconds) == (sums["fen"], sums["exact"], sums["length"])
        assert each.charges == charges.filter(day=each.day).count() > 3
    assert (days[0].start, days[-1].end) == (NOON, NOON + 15 * HOUR + timedelta(seconds=7))


def test_sums_equal_charges_after_credits_too(runs: tuple[Run, Run]) -> None:
    credit_lost(PLATFORM, session_id=runs[0].session_id, since=NOON + 2 * HOUR)
    assert DaySum.objects.filter(revision=2, exact_fen__lt=0).exists()
    assert (selectors.session_drift(), selectors.day_drift()) == ([], [])
    whole = Charge.objects.aggregate(fen=Sum("amount_fen"))["fen"]
    assert DaySum.objects.aggregate(fen=Sum("amount_fen"))["fen"] == whole


def test_drift_is_found_whichever_side_was_changed(runs: tuple[Run, Run]) -> None:
    as_owner(f"UPDATE billing_sessionday SET amount_fen = 1 WHERE session_id = '{runs[1].session_id}'")
    as_owner("UPDATE billing_daysum SET replica_seconds = 1")
    assert {row[0] for row in selectors.session_drift()} == {runs[1].session_id}
    assert {row[2] for row in selectors.day_drift()} == set(DaySum.objects.values_list("day", flat=True))
    as_owner("DELETE FROM billing_sessionday")
    assert {row[0] for row in selectors.session_drift()} == {run.session_id for run in runs}


def test_the_application_may_only_read_them(runs: tuple[Run, Run]) -> None:
    for table in ("billing_sessionday", "billing_daysum"):
        for statement in ("UPDATE {} SET amount_fen = 0", "DELETE FROM {}", "INSERT INTO {} SELECT * FROM {}"):
            with connection.cursor() as cursor, pytest.raises(ProgrammingError), transaction.atomic():
                cursor.execute(statement.format(table, table))


def test_a_member_reads_their_own_sums_and_no_other_organisation_any(
    lab: Organisation, runs: tuple[Run, Run], alice: Actor
) -> None:
    bob, stranger = runs[1].actor, make_member(make_organisation())
    with acting(bob):
        assert {each.session_id for each in session_days(bob)} == {runs[1].session_id}
        own = day_sums(bob).aggregate(fen=Sum("amount_fen"))["fen"]
        assert own == selectors.charges(bob).aggregate(fen=Sum("amount_fen"))["fen"]
    with acting(alice):
        assert day_sums(alice).model is DaySum
        assert day_sums(alice, filters=ChargeFilter(user_id=bob.user_id)).aggregate(fen=Sum("amount_fen"))["fen"] == own
    with acting(stranger):
        assert not session_days(stranger).exists()
        assert not DaySum.objects.exists()
        with pytest.raises(Denied):
            agreement_of_months(bob, since=NOON.date(), until=NOON.date())


def test_bills_and_the_check_against_the_ledger_read_the_same_sums(lab: Organisation, runs: tuple[Run, Run]) -> None:
    found = agreement_of_months(PLATFORM, since=NOON.date(), until=billing_day(db_now()))
    run_count = Charge.objects.values("run_id").distinct().count()
    assert (found.difference_fen, found.runs) == (0, run_count)
    month = Month.at(Charge.objects.latest("run__at").run.at)
    exact = Charge.objects.filter(run__at__gte=month.start, run__at__lt=month.end).aggregate(x=Sum("exact_fen"))["x"]
    lines = usage_lines(lab.pk, month)
    assert sum(line.exact_fen for line in lines) == exact
    as_owner("UPDATE billing_daysum SET amount_fen = 0")
    assert agreement_of_months(PLATFORM, since=NOON.date(), until=month.last).difference_fen != 0


def test_the_nightly_check_tells_staff_once_what_is_wrong(runs: tuple[Run, Run]) -> None:
    staff = User.objects.create(username="books")
    assign_platform_role(PLATFORM, user=staff, role=PlatformRole.SUPER)
    assert check_books(PLATFORM) == {}
    as_owner("UPDATE billing_daysum SET amount_fen = 0")
    assert list(check_books(PLATFORM)) == list(check_books(PLATFORM)) == ["sums of days"]
    assert Notice.objects.filter(user=staff, kind="billing.books_wrong").count() == 1
