"""What a rating writes, column by column, and which sessions are due for one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection, transaction

from apps.billing import policy, services
from apps.billing.choices import AccountKind, Resource, TransferKind
from apps.billing.ledger.services import lock_wallet, organisation_account
from apps.billing.models import Charge, Discount, MeterSession, RatingRun, UsageSlice
from apps.billing.rating import services as rating
from apps.billing.rating.services import rate_organisation, rate_session
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_voucher,
    price_of,
    top_up,
    wallet,
)
from tests.billing.prepaid import Clock, buy, offered

LATER = NOON + timedelta(days=400)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def run(lab: Organisation, alice: Actor) -> Run:
    top_up(lab, 10_000)
    return Run(alice, price_of(make_package(780)))


def rate(until: datetime = LATER) -> int:
    return services.rate_due(PLATFORM, until=until)


def test_a_charge_says_what_it_was_computed_from(lab: Organisation, run: Run) -> None:
    """Of the second slice, which ends a month by the billing zone: 16:00 there is midnight."""
    run.opened, run.replicas = datetime(2026, 11, 30, 15, 30, tzinfo=UTC), 2
    Discount.objects.create(
        organisation=lab, number=1, off=Decimal("0.25"), effective_from=run.opened - HOUR, made_by="tests"
    )
    run.open().close(HOUR)
    rate()
    written = Charge.objects.filter(slice_start=run.opened + HOUR / 2).values().get()
    settled = RatingRun.objects.get()
    assert {name: written[name] for name in written if name not in {"id", "at", "created_at", "key"}} == {
        "run_id": settled.pk,
        "organisation_id": lab.pk,
        "session_id": run.session_id,
        "slice_start": run.opened + HOUR / 2,
        "start": run.opened + HOUR / 2,
        "end": run.opened + HOUR,
        "revision": 0,
        "period": "2026-12",
        "day": datetime(2026, 12, 1, tzinfo=UTC).date(),
        "price_version_id": run.price.pk,
        "replicas": 2,
        "covered": 0,
        "rate": Decimal(780),
        "discount_off": Decimal("0.25"),
        "seconds": Decimal(1800),
        "exact_fen": Decimal(585),
        "voucher_exact": Decimal(0),
        "amount_fen": 585,
    }
    assert set(Charge.objects.values_list("period", flat=True)) == {"2026-11", "2026-12"}


def test_a_run_carries_on_where_the_organisations_former_one_ended(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 100)
    price, other = price_of(make_package("1.4")), make_organisation()
    Run(make_member(other), price).open().close(HOUR)
    rate()
    for _each in range(3):
        Run(alice, price).open().close(HOUR)
        rate()
    runs = RatingRun.objects.filter(organisation=lab).order_by("number")
    columns = ("number", "carried_in", "exact_fen", "amount_fen", "voucher_fen", "carried_out")
    assert list(runs.values_list(*columns)) == [
        (1, Decimal(0), Decimal("1.4"), 1, 0, Decimal("0.4")),
        (2, Decimal("0.4"), Decimal("1.4"), 1, 0, Decimal("0.8")),
        (3, Decimal("0.8"), Decimal("1.4"), 2, 0, Decimal("0.2")),
    ]
    assert [run.transfer.idem for run in runs if run.transfer] == [f"rating:{lab.pk}:{number}" for number in (1, 2, 3)]


def test_usage_goes_from_the_wallet_to_revenue_and_what_is_given_back_returns(lab: Organisation, run: Run) -> None:
    run.open().seen(HOUR)
    rate()
    run.close(HOUR / 2)
    rate()
    ours, revenue = wallet(lab).pk, organisation_account(lab.pk, AccountKind.REVENUE).pk
    moved = RatingRun.objects.order_by("number").values_list(
        "transfer__debit", "transfer__credit", "transfer__amount_fen", "transfer__kind"
    )
    assert list(moved) == [(ours, revenue, 780, TransferKind.USAGE), (revenue, ours, 390, TransferKind.CORRECTION)]


def test_what_is_given_back_is_the_part_behind_the_end(lab: Organisation, run: Run) -> None:
    """Of the hour in which it ended, and all of the next."""
    run.open().seen(2 * HOUR)
    rate()
    run.close(HOUR / 2)
    rate()
    back = Charge.objects.filter(revision=1).order_by("slice_start")
    columns = ("slice_start", "start", "end", "seconds", "amount_fen")
    assert list(back.values_list(*columns)) == [
        (NOON, NOON + HOUR / 2, NOON + HOUR, Decimal(-1800), -390),
        (NOON + HOUR, NOON + HOUR, NOON + 2 * HOUR, Decimal(-3600), -780),
    ]
    session = MeterSession.objects.get()
    assert (session.rated_until, session.settled) == (NOON + HOUR / 2, True)
    assert UsageSlice.objects.count() == 2


def test_each_slice_follows_the_one_before(run: Run) -> None:
    run.open().seen(HOUR * 1.5)
    rate()
    run.close(HOUR * 1.75)
    rate()
    slices = UsageSlice.objects.order_by("start").values_list("start", "prev_end")
    assert [(start - NOON, before and before - NOON) for start, before in slices] == [
        (timedelta(0), None),
        (HOUR, HOUR),
        (HOUR * 1.5, HOUR * 1.5),
    ]


def test_vouchers_pay_first_and_each_charge_says_how_much(lab: Organisation, run: Run) -> None:
    make_voucher(lab, 1000)
    run.open().close(HOUR * 1.5)
    rate()
    settled = RatingRun.objects.get()
    assert (settled.amount_fen, settled.voucher_fen, settled.cash_fen) == (1170, 1000, 170)
    assert list(Charge.objects.order_by("slice_start").values_list("exact_fen", "voucher_exact")) == [
        (Decimal(780), Decimal(780)),
        (Decimal(390), Decimal(220)),
    ]
    assert (balance(lab), balance(lab, AccountKind.VOUCHER)) == (9830, 0)


def test_what_a_voucher_paid_is_given_back_to_it(lab: Organisation, run: Run) -> None:
    make_voucher(lab, 1000)
    run.open().seen(HOUR)
    rate()
    run.close(HOUR / 2)
    rate()
    assert (balance(lab), balance(lab, AccountKind.VOUCHER)) == (10_000, 610)
    assert list(RatingRun.objects.order_by("number").values_list("voucher_fen", flat=True)) == [780, -390]


def test_what_an_order_covers_is_charged_at_nothing(lab: Organisation, alice: Actor, clock: Clock) -> None:
    package = offered(lab, 780)
    buy(alice, package, quantity=1)
    Run(alice, price_of(package), opened=clock.now, replicas=3).open().close(HOUR)
    rate(clock.on(hours=2))
    assert list(Charge.objects.values_list("replicas", "covered", "amount_fen")) == [(3, 1, 1560)]


@pytest.mark.parametrize(("proven", "looked", "due"), [(60, 60, 1), (59.999, 61, 0), (61, 59.999, 0)])
def test_what_runs_is_due_a_minute_after_it_was_rated(run: Run, proven: float, looked: float, due: int) -> None:
    assert timedelta(minutes=1) == policy.RATE_EVERY
    run.open().seen(timedelta(seconds=proven))
    assert rate(NOON + timedelta(seconds=looked)) == due


def test_what_has_ended_is_due_at_once_and_only_as_far_as_one_looks(lab: Organisation, run: Run) -> None:
    run.open().close(HOUR)
    assert rate(NOON + timedelta(seconds=7)) == 1
    session = MeterSession.objects.get()
    assert (session.rated_until, session.settled) == (NOON + timedelta(seconds=7), False)
    assert rate() == 1
    assert balance(lab) == 10_000 - 780


def test_without_a_moment_all_is_rated_up_to_now(lab: Organisation, alice: Actor, run: Run) -> None:
    run.opened = db_now() - timedelta(minutes=5)
    run.open().seen(timedelta(minutes=4))
    other = make_organisation()
    Run(make_member(other), run.price, opened=run.opened).open().close(MINUTE)
    Run(alice, run.price, opened=run.opened).open().close(MINUTE)
    assert services.rate_due(PLATFORM) == 2
    assert services.rate_due(PLATFORM) == 0


def test_a_single_session_or_organisation_is_rated_alone(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(other := make_organisation(), 1000)
    first, second = run.open().close(HOUR), Run(alice, run.price).open().close(HOUR)
    theirs = Run(make_member(other), run.price).open().close(HOUR)
    with transaction.atomic():
        made = rate_session(PLATFORM, lock_wallet(lab.pk), session_id=first.session_id, until=LATER)
    assert made is not None
    assert list(Charge.objects.values_list("session_id", flat=True)) == [first.session_id]
    assert rate_organisation(PLATFORM, organisation_id=lab.pk, until=LATER) is not None
    assert set(MeterSession.objects.filter(settled=True).values_list("pk", flat=True)) == {
        first.session_id,
        second.session_id,
    }
    assert rate_organisation(PLATFORM, organisation_id=lab.pk, until=LATER) is None
    assert MeterSession.objects.get(pk=theirs.session_id).settled is False


def test_several_that_cannot_be_rated_are_told_together(
    lab: Organisation, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (make_organisation(), make_organisation()):
        Run(make_member(each), run.price).open().close(HOUR)
    run.open().close(HOUR)
    real = rating._rate

    def only_ours(actor: Actor, wallet: object, *rest: object) -> object:
        if wallet.organisation_id != lab.pk:  # type: ignore[attr-defined]
            raise RuntimeError("broken")
        return real(actor, wallet, *rest)

    monkeypatch.setattr(rating, "_rate", only_ours)
    with pytest.raises(ExceptionGroup, match="2 organisations could not be rated") as told:
        rate()
    assert [str(each) for each in told.value.exceptions] == ["broken", "broken"]
    assert balance(lab) == 10_000 - 780


@pytest.mark.django_db(transaction=True)
def test_a_session_that_the_kernel_is_writing_is_left_for_the_next_time() -> None:
    with acting(PLATFORM):
        lab = make_organisation()
        top_up(lab, 10_000)
        alice, price = make_member(lab), price_of(make_package(780))
        busy, free = (Run(alice, price).open().close(HOUR) for _each in range(2))
        another = connection.copy()
        try:
            with another.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute("SELECT 1 FROM billing_metersession WHERE id = %s FOR UPDATE", [busy.session_id])
            assert rate() == 1
            assert list(Charge.objects.values_list("session_id", flat=True)) == [free.session_id]
        finally:
            another.close()
        assert rate() == 1
        assert balance(lab) == 10_000 - 1560


def test_a_meter_keeps_what_was_said_at_its_opening(lab: Organisation, alice: Actor) -> None:
    discount = Discount.objects.create(
        organisation=lab, number=1, off=Decimal("0.1"), effective_from=NOON - HOUR, made_by="tests"
    )
    values = {
        "session_id": uuid4(),
        "organisation_id": lab.pk,
        "user_id": alice.person(),
        "workload_id": uuid4(),
        "label": "ab" * 150,
        "price_version_id": price_of(make_package(780)).pk,
        "at": NOON,
        "replicas": 3,
        "set_id": uuid4(),
        "resource": Resource.STORAGE,
        "tags": ("Vision", "Night shift"),
    }
    services.open_meter(**values)
    session = MeterSession.objects.get(pk=values["session_id"])
    for name in ("organisation_id", "user_id", "workload_id", "price_version_id", "replicas", "set_id", "resource"):
        assert getattr(session, name) == values[name]
    assert (session.opened_at, session.proven_until, session.rated_until) == (NOON, NOON, NOON)
    assert (session.label, session.tags) == ("ab" * 100, ["Vision", "Night shift"])
    assert len(session.tag_keys) == 2
    assert (session.discount, session.discount_off) == (discount, Decimal("0.1"))
    services.open_meter(**{**values, "session_id": uuid4(), "replicas": 1, "resource": Resource.COMPUTE, "tags": ()})
    assert MeterSession.objects.filter(resource=Resource.COMPUTE, replicas=1, tags=[], tag_keys=[]).count() == 1


def test_a_proof_or_a_close_is_of_one_session(alice: Actor) -> None:
    price = price_of(make_package(780))
    ours, other = Run(alice, price).open().seen(MINUTE), Run(alice, price).open().seen(MINUTE)
    ours.seen(2 * MINUTE).close(3 * MINUTE)
    found = {each.pk: (each.proven_until, each.closed_at, each.settled) for each in MeterSession.objects.all()}
    assert found == {
        ours.session_id: (NOON + 3 * MINUTE, NOON + 3 * MINUTE, False),
        other.session_id: (NOON + MINUTE, None, False),
    }
