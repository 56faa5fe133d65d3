"""Revenue, deferred and cash in, equal to the ledger's accounts."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from apps.billing.choices import AccountKind, Term, TransferKind
from apps.billing.months import Month
from apps.billing.prepaid.earning import recognise_due
from apps.billing.statements import revenue
from apps.billing.statements.figures import Flow, is_billed, received_fen, settled_transfers
from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, balance, make_package, make_voucher, price_of, top_up
from tests.billing.prepaid import buy, clock_at, offer
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, build, posted_at, rate

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_usage_from_wallet_and_voucher(lab: Organisation, alice: Actor) -> None:
    with posted_at(MIDDLE + 2 * HOUR):
        top_up(lab, 10_000)
        make_voucher(lab, 300, valid_from=MIDDLE - DAY)
        Run(alice, price_of(make_package()), opened=MIDDLE).open().close(HOUR)
        rate(lab, MIDDLE + 2 * HOUR)
    september, october = revenue.monthly_books(PLATFORM, last=OCTOBER, count=2)
    assert (october.recognised_fen, october.voucher_fen, october.cash_fen) == (780, 300, 480)
    assert (october.received_fen, september.recognised_fen) == (10_000, 0)
    assert balance(lab, AccountKind.REVENUE) == 780


def test_prepaid_is_deferred_and_earned_day_by_day(lab: Organisation, alice: Actor) -> None:
    with posted_at(MIDDLE):
        top_up(lab, 100_000)
    package = make_package()
    with clock_at(MIDDLE) as clock, posted_at(MIDDLE):
        offer(package, Term.MONTH, 31_000)
        buy(alice, package)
        clock.on(days=5)
        recognise_due(PLATFORM)
    with clock_at(NOVEMBER.start + DAY), posted_at(NOVEMBER.start + DAY):
        recognise_due(PLATFORM)
    october, november = revenue.monthly_books(PLATFORM, last=NOVEMBER, count=2)
    assert october.sold_ahead_fen == 31_000
    assert october.prepaid_fen + october.deferred_fen == 31_000
    assert november.deferred_fen == balance(lab, AccountKind.DEFERRED)
    assert october.prepaid_fen + november.prepaid_fen == balance(lab, AccountKind.REVENUE)
    by_package = revenue.by_package(PLATFORM, month=NOVEMBER)
    assert [(each.package_id, each.fen) for each in by_package] == [(package.pk, november.recognised_fen)]


def test_statements_show_prepaid_apart(lab: Organisation, alice: Actor) -> None:
    with posted_at(MIDDLE):
        top_up(lab, 100_000)
    package = make_package()
    with clock_at(MIDDLE) as clock, posted_at(MIDDLE):
        offer(package, Term.MONTH, 31_000)
        buy(alice, package)
        clock.on(days=5)
        recognise_due(PLATFORM)
    made = build(lab)
    assert (made.total_fen, made.recognised_fen) == (0, balance(lab, AccountKind.REVENUE))
    assert (made.opening_fen, made.closing_fen) == (0, 69_000)


def test_months_that_are_complete_are_kept(lab: Organisation) -> None:
    former = Month("2026-09")
    with posted_at(former.start):
        top_up(lab, 500)
    for _ in range(2):
        assert revenue.monthly_books(PLATFORM, last=former, count=1)[0].received_fen == 500


def test_complete_days_of_a_month_are_summed_once_and_the_rest_is_read(lab: Organisation) -> None:
    month, sums = NOVEMBER, patch.object(revenue, "settled_transfers", wraps=settled_transfers)
    for day, fen in ((1, 500), (9, 70), (11, 3)):
        with posted_at(month.start + day * DAY):
            top_up(lab, fen)
    for now, spans in (
        (10, [(0, 9), (9, 30), (30, None)]),  # the ninth ended yesterday: it may still be added to
        (10, [(9, 30), (30, None)]),
        (12.5, [(9, 11), (11, 30), (30, None)]),
        (31, [(11, 30), (30, None)]),
        (31, [(30, None)]),
    ):
        with patch.object(revenue, "db_now", return_value=month.start + now * DAY), sums as read:
            (book,) = revenue.monthly_books(PLATFORM, last=month, count=1)
        assert book.received_fen == 573
        asked = [[moment and (moment - month.start) // DAY for moment in call.args] for call in read.call_args_list]
        assert sorted((*span, None)[:2] for span in asked) == spans


def test_wallets_below_zero_are_owed(lab: Organisation, alice: Actor) -> None:
    Run(alice, price_of(make_package()), opened=MIDDLE).open().close(HOUR)
    rate(lab, NOVEMBER.end)
    assert revenue.owed(PLATFORM) == revenue.Owed(1, 780)


def test_a_refund_that_was_refused_counts_as_received_again() -> None:
    out = Flow(TransferKind.REFUND, AccountKind.CASH, AccountKind.REFUND_CLEARING, 500, 1)
    back = Flow(TransferKind.CORRECTION, AccountKind.REFUND_CLEARING, AccountKind.CASH, 500, 1)
    given = Flow(TransferKind.CORRECTION, AccountKind.REVENUE, AccountKind.CASH, 500, 1)
    assert [received_fen(each) for each in (out, back, given)] == [-500, 500, 0]
    assert [is_billed(each) for each in (out, back, given)] == [False, False, True]


def test_members_see_none_of_it(alice: Actor) -> None:
    with pytest.raises(Denied):
        revenue.monthly_books(alice, last=OCTOBER, count=1)
    with pytest.raises(Denied):
        revenue.by_package(alice, month=OCTOBER)
