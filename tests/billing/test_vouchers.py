"""Vouchers: granted, used first, given back to, ended; every fen of them accounted for."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.holds.services import open_hold
from apps.billing.ledger.selectors import voucher_drift
from apps.billing.ledger.services import platform_account
from apps.billing.models import Charge, ChargeCover, RatingRun, Transfer, Voucher, VoucherEnd, VoucherUse
from apps.billing.purses.selectors import funds_with_vouchers
from apps.billing.rating.credits import credit_lost
from apps.billing.vouchers.services import end_due_vouchers
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import InsufficientFunds
from apps.tenants.models import Organisation
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_package,
    make_voucher,
    price_of,
    top_up,
    wallet,
)

LATER = NOON + timedelta(days=400)
HOUR = timedelta(hours=1)


def rate(until: datetime = LATER) -> None:
    services.rate_due(PLATFORM, until=until)
    books_agree()


def books_agree() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    assert selectors.drift() == []
    assert selectors.unbalanced_runs() == []
    assert voucher_drift() == []


def left(*given: Voucher) -> list[int]:
    return [Voucher.objects.get(pk=each.pk).left_fen for each in given]


@pytest.fixture
def run(lab: Organisation, alice: Actor) -> Run:
    top_up(lab, 10_000)
    return Run(alice, price_of(make_package(780)))


def test_a_voucher_pays_before_the_wallet(lab: Organisation, run: Run) -> None:
    given = make_voucher(lab, 500)
    run.open().close(HOUR)
    rate()
    assert left(given) == [0]
    assert balance(lab) == 10_000 - 280
    assert balance(lab, AccountKind.REVENUE) == 780
    rated = RatingRun.objects.get()
    assert (rated.amount_fen, rated.voucher_fen, rated.cash_fen) == (780, 500, 280)
    assert Charge.objects.get().voucher_exact == 500


def test_the_soonest_expiry_is_used_first(lab: Organisation, run: Run) -> None:
    late = make_voucher(lab, 500, valid_until=NOON + timedelta(days=20))
    soon = make_voucher(lab, 500, valid_until=NOON + timedelta(days=10))
    run.open().close(HOUR)
    rate()
    assert left(soon, late) == [0, 220]
    assert balance(lab) == 10_000


def test_it_pays_only_for_what_it_is_for(lab: Organisation, run: Run, alice: Actor) -> None:
    other = make_package(600, gpu_count=1, gpu_mode="whole", gpu_model="A100", gpu_core_milli=1000)
    mine = make_voucher(lab, 5_000, "package", package=other)
    model = make_voucher(lab, 5_000, "gpu_model", gpu_model="A100", valid_until=NOON + timedelta(days=40))
    stored = make_voucher(lab, 5_000, "storage")
    run.open().close(HOUR)
    rate()
    assert left(mine, model, stored) == [5_000, 5_000, 5_000]
    Run(alice, price_of(other)).open().close(HOUR)
    rate()
    assert left(mine, model, stored) == [4_400, 5_000, 5_000]
    assert balance(lab) == 10_000 - 780


def test_usage_after_its_last_hour_is_the_wallet_s(lab: Organisation, run: Run) -> None:
    given = make_voucher(lab, 5_000, valid_until=NOON + HOUR)
    run.open().close(2 * HOUR)
    rate()
    assert left(given) == [5_000 - 780]
    assert balance(lab) == 10_000 - 780


def test_a_cover_out_of_scope_or_time_cannot_be_stored(lab: Organisation, run: Run) -> None:
    run.open().close(2 * HOUR)
    rate()
    charge = Charge.objects.order_by("-start").first()
    assert charge is not None
    over = make_voucher(lab, 5_000, valid_until=NOON + HOUR)
    stored = make_voucher(lab, 5_000, "storage")
    for given in (over, stored):
        with pytest.raises(IntegrityError, match="does not fit"), transaction.atomic():
            ChargeCover.objects.create(organisation=lab, charge=charge, voucher=given, exact_fen=Decimal(1))


def test_a_small_share_of_many_ratings_is_paid_by_its_voucher(lab: Organisation, alice: Actor) -> None:
    """Less than a fen a minute beside a dearer neighbour: largest remainders alone would never draw on it."""
    top_up(lab, 10_000)
    small, large = make_package("24"), make_package("31")
    given = make_voucher(lab, 1_000, "package", package=small)
    runs = [Run(alice, price_of(each)).open() for each in (small, large)]
    for minute in range(1, 61):
        for each in runs:
            each.seen(minute * timedelta(minutes=1))
        services.rate_due(PLATFORM, until=NOON + minute * timedelta(minutes=1))
    for each in runs:
        each.close(HOUR)
    rate()
    assert left(given) == [1_000 - 24]
    assert balance(lab) == 10_000 - 31


def test_rating_again_changes_nothing(lab: Organisation, run: Run) -> None:
    given = make_voucher(lab, 500)
    run.open().close(HOUR)
    rate()
    before = (left(given), balance(lab), VoucherUse.objects.count(), Transfer.objects.count())
    rate()
    assert (left(given), balance(lab), VoucherUse.objects.count(), Transfer.objects.count()) == before


def test_an_end_that_becomes_known_late_gives_back_to_the_voucher(lab: Organisation, run: Run) -> None:
    given = make_voucher(lab, 500)
    run.open().seen(HOUR)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    run.close(HOUR / 2)
    rate()
    # Half of the hour comes back, and half of what had paid for it: 250 of the voucher, 140 of the wallet.
    assert left(given) == [250]
    assert balance(lab) == 10_000 - 140
    assert balance(lab, AccountKind.REVENUE) == 390


def test_what_is_given_back_to_an_expired_voucher_does_not_become_cash(lab: Organisation, run: Run) -> None:
    run.opened = db_now().replace(minute=0, second=0, microsecond=0) - 5 * HOUR
    given = make_voucher(lab, 1_000, valid_from=run.opened - HOUR, valid_until=run.opened + HOUR)
    run.open().close(HOUR)
    rate(run.opened + HOUR)
    assert end_due_vouchers(PLATFORM) == 1
    assert (left(given), balance(lab)) == ([0], 10_000)
    assert credit_lost(PLATFORM, session_id=run.session_id, since=run.opened) == 780
    assert (left(given), balance(lab)) == ([780], 10_000)
    assert end_due_vouchers(PLATFORM) == 1
    assert list(VoucherEnd.objects.order_by("number").values_list("amount_fen", flat=True)) == [220, 780]
    assert platform_account(AccountKind.PROMOTION).balance_fen == 0
    books_agree()


def test_nothing_ends_before_its_time(lab: Organisation) -> None:
    given = make_voucher(lab, 1_000, valid_until=NOON + timedelta(days=3650))
    assert end_due_vouchers(PLATFORM) == 0
    with pytest.raises(IntegrityError, match="when it is over"), transaction.atomic():
        end_due_vouchers(PLATFORM, now=NOON + timedelta(days=4000))
    assert left(given) == [1_000]


def test_a_voided_voucher_takes_its_part_of_a_credit_back_to_promotion(lab: Organisation, run: Run) -> None:
    given = make_voucher(lab, 500)
    run.open().close(HOUR)
    rate()
    Voucher.objects.filter(pk=given.pk).update(voided_at=db_now())
    assert credit_lost(PLATFORM, session_id=run.session_id, since=NOON) == 780
    assert balance(lab) == 10_000
    assert left(given) == [500]
    assert end_due_vouchers(PLATFORM) == 1
    books_agree()
    assert left(given) == [0]
    assert balance(lab, AccountKind.VOUCHER) == 0
    assert platform_account(AccountKind.PROMOTION).balance_fen == 0
    assert Transfer.objects.filter(kind=TransferKind.CREDIT).count() == 2
    assert end_due_vouchers(PLATFORM) == 0


def test_a_voucher_with_an_empty_wallet_lets_work_start_and_go_on(lab: Organisation, alice: Actor) -> None:
    now = db_now().replace(minute=0, second=0, microsecond=0)
    make_voucher(lab, 1_000, valid_from=now - HOUR, valid_until=now + 48 * HOUR)
    package = make_package(780)
    quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.can_start, quote.hold_fen, quote.covered_fen, quote.vouchers_fen) == (True, 780, 780, 1_000)
    first = Run(alice, price_of(package), opened=now)
    hold = first.hold()
    assert (hold.amount_fen, hold.covered_fen) == (0, 780)
    # The second counts on what the first has not: the wallet lacks the rest.
    with pytest.raises(InsufficientFunds):
        Run(alice, price_of(package)).hold()
    first.open()
    assert services.reassess(PLATFORM, organisation_id=lab.pk, now=db_now()) is None or balance(lab) == 0
    assert funds_with_vouchers(lab.pk, wallet(lab).funds_fen) == 1_000
    first.seen(timedelta(minutes=30))
    services.rate_due(PLATFORM, until=now + timedelta(minutes=30))
    renewed = open_hold(first.workload_id)
    assert renewed is not None
    assert (renewed.amount_fen, renewed.covered_fen) == (0, 610)
    assert balance(lab) == 0


def test_vouchers_pay_no_debt_and_nothing_they_do_not_fit(lab: Organisation, alice: Actor) -> None:
    now = db_now().replace(minute=0, second=0, microsecond=0)
    make_voucher(lab, 1_000, "storage", valid_from=now - HOUR, valid_until=now + 48 * HOUR)
    assert funds_with_vouchers(lab.pk, -1) == -1
    assert funds_with_vouchers(lab.pk, 0) == 1_000
    Run(alice, price_of(make_package(780)), opened=now).open()
    assert funds_with_vouchers(lab.pk, 0) == 0
    assert funds_with_vouchers(lab.pk, 50) == 50


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE billing_voucher SET amount_fen = amount_fen + 1",
        "UPDATE billing_voucher SET valid_until = valid_until + interval '1 day'",
        "DELETE FROM billing_voucher",
        "UPDATE billing_voucheruse SET amount_fen = 0",
        "DELETE FROM billing_chargecover",
    ],
)
def test_nobody_rewrites_a_voucher(lab: Organisation, run: Run, sql: str) -> None:
    make_voucher(lab, 100)
    run.open().close(HOUR)
    rate()
    refusal = pytest.raises(DatabaseError, match=r"permission denied|not allowed")
    with refusal, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)
