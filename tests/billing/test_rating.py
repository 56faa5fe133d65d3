"""Metered time becomes money: exactly, once, whatever happens in between."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, HoldOutcome, HoldReason
from apps.billing.holds.services import open_hold
from apps.billing.models import Charge, HoldEnd, MeterSession, RatingRun, Transfer, UsageSlice
from apps.common.actor import Actor
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, balance, make_package, price_of, top_up, wallet

LATER = NOON + timedelta(days=400)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def rate(at: object = LATER) -> int:
    return services.rate_due(PLATFORM, until=at)  # type: ignore[arg-type]


@pytest.fixture
def run(lab: Organisation, alice: Actor) -> Run:
    top_up(lab, 10_000)
    return Run(alice, price_of(make_package(780)))


def test_a_finished_run_costs_seconds_times_price(lab: Organisation, run: Run) -> None:
    run.hold()
    run.open().seen(MINUTE).close(timedelta(seconds=600, microseconds=1)).release()
    assert rate() == 1
    assert balance(lab) == 10_000 - 130
    assert balance(lab, AccountKind.REVENUE) == 130
    assert wallet(lab).held_fen == 0
    charge = Charge.objects.get()
    assert (charge.seconds, charge.exact_fen, charge.amount_fen) == (
        Decimal("600.000001"),
        Decimal("130.0000002166"),
        130,
    )
    assert charge.period == "2026-11"
    assert charge.key == f"charge:{run.session_id}/20261120T120000.000000Z:2026-11:0"


def test_rating_again_changes_nothing(lab: Organisation, run: Run) -> None:
    run.open().close(HOUR)
    assert rate() == 1
    before = (balance(lab), Charge.objects.count(), RatingRun.objects.count(), Transfer.objects.count())
    assert rate() == 0
    assert (balance(lab), Charge.objects.count(), RatingRun.objects.count(), Transfer.objects.count()) == before


def test_slices_end_at_full_hours_and_tile(run: Run) -> None:
    run.opened = NOON + timedelta(minutes=50)
    run.open().close(timedelta(minutes=75))
    rate()
    edges = list(UsageSlice.objects.order_by("start").values_list("start", "end"))
    assert edges == [
        (NOON + 50 * MINUTE, NOON + HOUR),
        (NOON + HOUR, NOON + 2 * HOUR),
        (NOON + 2 * HOUR, NOON + 125 * MINUTE),
    ]


def test_cutting_at_every_rating_costs_what_one_piece_costs(lab: Organisation, run: Run) -> None:
    run.open()
    for step in range(1, 40):
        run.seen(step * timedelta(seconds=61, microseconds=7))
        rate()
    run.close(timedelta(seconds=2400, microseconds=13))
    rate()
    assert Charge.objects.count() > 35
    exact = Charge.objects.aggregate(exact=Sum("exact_fen"))["exact"]
    assert exact == Decimal("520.0000028166")
    assert 10_000 - balance(lab) == 520
    assert selectors.drift() == []
    assert selectors.unbalanced_runs() == []


def test_running_work_is_rated_once_a_minute_has_passed(lab: Organisation, run: Run) -> None:
    run.open().seen(timedelta(seconds=59))
    assert rate() == 0
    run.seen(timedelta(seconds=60))
    assert rate(NOON + timedelta(seconds=59)) == 0
    assert rate() == 1
    assert balance(lab) == 10_000 - 13


def test_only_proven_time_is_charged(lab: Organisation, run: Run) -> None:
    run.open().seen(timedelta(minutes=5))
    rate(LATER)
    assert MeterSession.objects.get().rated_until == NOON + timedelta(minutes=5)


def test_fractions_of_a_fen_are_carried_not_lost(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 100)
    price = price_of(make_package("0.4"))
    for _ in range(5):
        Run(alice, price).open().close(HOUR)
        rate()
    assert balance(lab) == 98
    assert list(RatingRun.objects.order_by("number").values_list("amount_fen", flat=True)) == [0, 0, 1, 0, 1]
    assert Transfer.objects.filter(kind="usage").count() == 2


def test_rounding_goes_to_the_largest_fractions(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 100)
    for rate_text in ("1.2", "1.7", "1.3"):
        Run(alice, price_of(make_package(rate_text))).open().close(HOUR)
    rate()
    amounts = dict(Charge.objects.values_list("rate", "amount_fen"))
    assert amounts == {Decimal("1.2"): 1, Decimal("1.7"): 2, Decimal("1.3"): 1}
    assert RatingRun.objects.get().carried_out == Decimal("0.2")


@pytest.mark.parametrize("written_first", [0, 1])
@pytest.mark.parametrize(("later", "rounded_up"), [(timedelta(0), 0), (MINUTE, 1)])
def test_who_began_first_is_rounded_up_and_of_those_at_once_the_first_by_id(
    alice: Actor, later: timedelta, rounded_up: int, written_first: int
) -> None:
    """Two that have equal fractions share one fen."""
    price, ids = price_of(make_package(1)), sorted(uuid4() for _each in range(2))
    pair = (Run(alice, price, session_id=ids[0], opened=NOON + later), Run(alice, price, session_id=ids[1]))
    for run in (pair[written_first], pair[1 - written_first]):
        run.open().close(HOUR / 2)
    rate()
    assert [charge.session_id for charge in Charge.objects.filter(amount_fen=1)] == [ids[rounded_up]]


def test_an_end_before_the_last_proof_is_credited(lab: Organisation, run: Run) -> None:
    run.open().seen(timedelta(minutes=90))
    rate()
    assert balance(lab) == 10_000 - 1170
    run.close(timedelta(minutes=40))
    rate()
    assert balance(lab) == 10_000 - 520
    assert MeterSession.objects.get().settled
    assert Charge.objects.filter(revision=1).count() == 2
    assert Charge.objects.aggregate(fen=Sum("amount_fen"), seconds=Sum("seconds")) == {"fen": 520, "seconds": 2400}
    assert rate() == 0
    assert selectors.unbalanced_runs() == []


def test_an_end_gives_back_its_own_time_and_nobody_elses(lab: Organisation, alice: Actor, run: Run) -> None:
    other = Run(alice, run.price).open().seen(HOUR)
    run.open().seen(HOUR)
    rate()
    run.close(HOUR / 2)
    rate()
    assert balance(lab) == 10_000 - 780 - 390
    assert not Charge.objects.filter(session=other.session_id, revision=1).exists()


def test_a_session_of_no_length_costs_nothing(run: Run) -> None:
    run.open().close(timedelta(0))
    assert rate() == 0
    assert MeterSession.objects.get().settled
    assert UsageSlice.objects.count() == 0


def test_usage_is_charged_even_when_the_money_is_gone(lab: Organisation, run: Run) -> None:
    run.open().close(20 * HOUR)
    rate()
    assert balance(lab) == 10_000 - 15_600


def test_replicas_multiply(lab: Organisation, run: Run) -> None:
    run.replicas = 3
    run.open().close(timedelta(minutes=30))
    rate()
    assert balance(lab) == 10_000 - 1170
    assert Charge.objects.get().exact_fen == 1170


def test_a_running_session_keeps_the_price_it_was_quoted(lab: Organisation, run: Run) -> None:
    run.open().seen(MINUTE)
    services.set_price(PLATFORM, package_id=run.price.package_id, rate_fen_per_hour=Decimal(9999))
    run.close(HOUR)
    rate()
    assert balance(lab) == 10_000 - 780


def test_the_hold_stays_one_hour_ahead_and_ends_with_the_run(lab: Organisation, run: Run) -> None:
    run.hold()
    run.open().seen(30 * MINUTE)
    rate()
    assert wallet(lab).held_fen == 780
    run.close(31 * MINUTE).release()
    settling = open_hold(run.workload_id)
    assert settling is not None
    assert (settling.reason, settling.amount_fen) == (HoldReason.SETTLING, 13)
    rate()
    assert wallet(lab).held_fen == 0
    assert list(HoldEnd.objects.order_by("at", "pk").values_list("outcome", flat=True)) == [HoldOutcome.CAPTURED] * 2


def test_the_hold_shrinks_to_what_is_left_and_grows_after_a_top_up(lab: Organisation, run: Run) -> None:
    run.hold()
    run.open().seen(12 * HOUR)
    rate()
    assert (wallet(lab).balance_fen, wallet(lab).held_fen) == (640, 640)
    run.seen(13 * HOUR)
    rate()
    assert (wallet(lab).balance_fen, wallet(lab).held_fen) == (-140, 0)
    top_up(lab, 5000)
    run.seen(13 * HOUR + MINUTE)
    rate()
    assert wallet(lab).held_fen == 780


def test_work_that_waits_again_keeps_its_hold(lab: Organisation, run: Run) -> None:
    run.hold()
    run.open().close(10 * MINUTE)
    rate()
    assert wallet(lab).held_fen == 780
    run.session_id, run.opened = uuid4(), NOON + HOUR
    run.open().close(10 * MINUTE).release()
    rate()
    assert wallet(lab).held_fen == 0
    assert balance(lab) == 10_000 - 260


def test_leap_day_and_the_billing_zone_decide_the_day(run: Run) -> None:
    run.opened = NOON.replace(year=2028, month=2, day=28, hour=15)
    run.open().close(26 * HOUR)
    services.rate_due(PLATFORM, until=run.opened + 30 * HOUR)
    days = Charge.objects.values_list("day", "period").annotate(length=Sum("seconds")).order_by("day")
    assert [(str(day), period, int(length)) for day, period, length in days] == [
        ("2028-02-28", "2028-02", 3600),
        ("2028-02-29", "2028-02", 86400),
        ("2028-03-01", "2028-03", 3600),
    ]


def test_one_failing_organisation_does_not_stop_the_others(
    lab: Organisation, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.open().close(HOUR)
    monkeypatch.setattr("apps.billing.rating.services.renew_holds", _fail)
    with pytest.raises(ExceptionGroup, match="1 organisations could not be rated"):
        rate()
    assert Charge.objects.count() == UsageSlice.objects.count() == 0
    assert balance(lab) == 10_000


def test_however_many_sessions_are_rated_their_packages_come_with_them(alice: Actor, run: Run) -> None:
    def statements(sessions: int) -> int:
        for _each in range(sessions):
            Run(alice, run.price).open().close(HOUR)
        with CaptureQueriesContext(connection) as queries:
            rate()
        return sum("billing_package" in each["sql"] for each in queries.captured_queries)

    assert statements(1) == statements(3) > 0


def test_what_is_being_rated_can_still_be_referred_to(run: Run) -> None:
    """Rows that name the session are written meanwhile: `FOR UPDATE` would make them wait."""
    run.open().close(HOUR)
    with CaptureQueriesContext(connection) as queries:
        rate()
    (lock,) = [sql["sql"] for sql in queries.captured_queries if "SKIP LOCKED" in sql["sql"]]
    assert 'FOR NO KEY UPDATE OF "billing_metersession" SKIP LOCKED' in lock


def _fail(*_: object) -> None:
    raise RuntimeError("killed here")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE billing_charge SET amount_fen = 0",
        "DELETE FROM billing_usageslice",
        "UPDATE billing_ratingrun SET carried_out = 0",
        "UPDATE billing_metersession SET opened_at = now()",
    ],
)
def test_nothing_rated_can_be_edited(run: Run, statement: str) -> None:
    run.open().close(HOUR)
    rate()
    with connection.cursor() as cursor, pytest.raises(Exception, match="permission denied"), transaction.atomic():
        cursor.execute(statement)
