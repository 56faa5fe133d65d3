"""The answer beside the start button."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.billing import selectors, services
from apps.billing.choices import ArrearsStatus
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, make_package, make_voucher, price_of, top_up

HOUR = timedelta(hours=1)


def test_it_says_what_a_start_costs_and_how_long_the_money_lasts(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 2340)
    package = make_package(780)
    with acting(alice):
        quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.rate_fen_per_hour, quote.hold_fen, quote.available_fen) == (Decimal(780), 780, 2340)
    assert (quote.price_version_id, quote.price_number) == (price_of(package).pk, 1)
    assert quote.can_start
    assert quote.runs_until is not None
    assert abs(quote.runs_until - db_now() - 3 * HOUR) < timedelta(seconds=5)


def test_what_runs_already_shortens_it(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 2340)
    package = make_package(780)
    run = Run(alice, price_of(package))
    run.hold()
    run.open()
    quote = selectors.quote(alice, package_id=package.pk, replicas=2)
    assert (quote.burn_fen_per_hour, quote.held_fen, quote.available_fen) == (Decimal(780), 780, 1560)
    assert quote.runs_until is not None
    assert abs(quote.runs_until - db_now() - HOUR) < timedelta(seconds=5)


def test_vouchers_of_what_runs_last_for_all_of_it(lab: Organisation, alice: Actor) -> None:
    """What a voucher stands for of a run's next hour is used like the rest of it."""
    now = db_now()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    make_voucher(lab, 7800, valid_from=today, valid_until=today + 1000 * HOUR)
    package = make_package(780)
    run = Run(alice, price_of(package), opened=now)
    assert run.hold().covered_fen == 780
    run.open()
    quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.vouchers_fen, quote.can_start) == (7020, True)
    assert quote.runs_until is not None
    assert abs(quote.runs_until - db_now() - 5 * HOUR) < timedelta(seconds=60)


def test_too_little_money_names_the_gap(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 460)
    quote = selectors.quote(alice, package_id=make_package(780).pk)
    assert (quote.shortfall_fen, quote.can_start, quote.runs_until) == (320, False, None)


def test_an_organisation_without_accounts_has_nothing(alice: Actor) -> None:
    with acting(alice):
        quote = selectors.quote(alice, package_id=make_package(780).pk)
    assert (quote.balance_fen, quote.shortfall_fen) == (0, 780)


def test_what_is_free_starts_and_runs_for_ever(alice: Actor) -> None:
    quote = selectors.quote(alice, package_id=make_package(0).pk)
    assert (quote.can_start, quote.runs_until, quote.hold_fen) == (True, None, 0)


def test_arrears_block_a_start(lab: Organisation, alice: Actor) -> None:
    package = make_package(780)
    run = Run(alice, price_of(package)).open()
    services.arrears_sweep(PLATFORM)
    quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.blocked, quote.can_start) == (ArrearsStatus.GRACE, False)
    run.close(timedelta(0))


def test_a_package_without_price_or_offer_cannot_be_quoted(alice: Actor) -> None:
    withdrawn = make_package(1)
    services.deactivate_package(PLATFORM, package_id=withdrawn.pk)
    for package in (make_package(None), withdrawn):
        with pytest.raises(Conflict, match="not on offer"):
            selectors.quote(alice, package_id=package.pk)


def test_bad_input_and_platform_staff_are_refused(alice: Actor) -> None:
    package = make_package(Decimal(1))
    with pytest.raises(Invalid):
        selectors.quote(alice, package_id=package.pk, replicas=0)
    with pytest.raises(Denied):
        selectors.quote(PLATFORM, package_id=package.pk)
