"""Several processes at once, on real connections: nothing is charged twice, nothing is promised twice."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import lock_wallet, organisation_account
from apps.billing.models import Charge, Hold, MeterSession, Transfer, UsageSlice
from apps.common.actor import Actor
from apps.common.errors import InsufficientFunds
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
    price_of,
    top_up,
    wallet,
)

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOON + timedelta(days=30)
HOUR = timedelta(hours=1)


@pytest.fixture
def lab() -> Iterator[Organisation]:
    with acting(PLATFORM):
        yield make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> Actor:
    return make_member(lab)


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls at the same moment, each on a connection of its own; results or errors in their order."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        try:
            with acting(PLATFORM):
                connection.ensure_connection()
                barrier.wait(60)
                return call()
        except Exception as error:  # returned to the test, which judges it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_parallel_starts_never_promise_more_than_there_is(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 780 * 7 + 779)
    price = price_of(make_package(780))
    results = together(*(Run(alice, price).hold for _ in range(20)))
    assert sum(isinstance(result, Hold) for result in results) == 7
    assert sum(isinstance(result, InsufficientFunds) for result in results) == 13
    assert (wallet(lab).held_fen, wallet(lab).available_fen) == (780 * 7, 779)
    assert selectors.drift() == []


def test_one_workload_started_twice_at_once_holds_once(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 10_000)
    run = Run(alice, price_of(make_package(780)))
    results = together(*[run.hold] * 6)
    assert len({result.pk for result in results}) == 1
    assert wallet(lab).held_fen == 780


def test_raters_at_once_charge_each_slice_once(lab: Organisation, alice: Actor) -> None:
    other = make_member(make_organisation())
    price = price_of(make_package("333.3333333333"))
    for actor in (alice, alice, alice, other, other):
        Run(actor, price).open().close(timedelta(minutes=100))
    results = together(*[lambda: services.rate_due(PLATFORM, until=LATER)] * 4)
    assert not [result for result in results if isinstance(result, Exception)]
    assert sum(results) == 2
    assert Charge.objects.count() == UsageSlice.objects.count() == 10
    assert Transfer.objects.filter(kind="usage").count() == 2
    assert balance(lab) == -1666
    assert (selectors.drift(), selectors.unbalanced_runs()) == ([], [])


def test_a_slip_entered_twice_at_once_is_credited_once(lab: Organisation) -> None:
    results = together(
        *[lambda: services.top_up(PLATFORM, organisation_id=lab.pk, amount_fen=500, reference="slip 1")] * 6
    )
    assert len({result.pk for result in results}) == 1
    assert balance(lab) == 500


def usage(organisation: Organisation, idem: str) -> Transfer:
    posting = services.Posting(
        debit=wallet(organisation),
        credit=organisation_account(organisation.pk, AccountKind.REVENUE),
        amount_fen=1,
        kind=TransferKind.USAGE,
        idem=idem,
    )
    return services.post(PLATFORM, posting=posting)


def test_postings_never_deadlock_with_transactions_that_hold_the_wallet(lab: Organisation) -> None:
    top_up(lab, 500)

    def alone(number: int) -> Callable[[], Any]:
        return lambda: [usage(lab, f"alone:{number}:{each}") for each in range(5)]

    def after_others(number: int) -> Callable[[], Any]:
        def several() -> None:
            with transaction.atomic():
                lock_wallet(lab.pk)
                for each in range(5):
                    usage(lab, f"several:{number}:{each}")

        return several

    results = together(*(kind(number) for number in range(8) for kind in (alone, after_others)))
    assert [result for result in results if isinstance(result, Exception)] == []
    assert (balance(lab), balance(lab, AccountKind.REVENUE)) == (420, 80)
    assert selectors.drift() == []


def test_accounts_opened_at_once_are_opened_once(lab: Organisation) -> None:
    together(*[lambda: wallet(lab)] * 8)
    assert balance(lab, AccountKind.REVENUE) == balance(lab) == 0


def test_rating_starts_ends_and_top_ups_at_once_never_deadlock(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 50_000)
    price = price_of(make_package(780))
    runs = [Run(alice, price) for _ in range(6)]
    for run in runs:
        run.hold()
        run.open().seen(HOUR)

    def end(run: Run) -> Callable[[], Any]:
        def both() -> None:
            with transaction.atomic():  # as the kernel does: first the session, then the wallet
                run.close(HOUR + timedelta(minutes=1))
                run.release()

        return both

    results = together(
        *[lambda: services.rate_due(PLATFORM, until=LATER)] * 3,
        *[lambda: services.top_up(PLATFORM, organisation_id=lab.pk, amount_fen=1, reference=str(uuid4()))] * 3,
        *(end(run) for run in runs),
        *(Run(alice, price).hold for _ in range(3)),
        *[lambda: services.arrears_sweep(PLATFORM)] * 2,
    )
    assert not [result for result in results if isinstance(result, Exception)]
    services.rate_due(PLATFORM, until=LATER)
    assert balance(lab) == 50_000 + 3 - 6 * 793
    assert wallet(lab).held_fen == 3 * 780
    assert (selectors.drift(), selectors.unbalanced_runs()) == ([], [])


def test_a_rating_passes_over_a_session_that_the_kernel_is_writing(lab: Organisation, alice: Actor) -> None:
    price = price_of(make_package(780))
    busy, idle = Run(alice, price).open().close(HOUR), Run(alice, price).open().close(HOUR)
    locked, done = Event(), Event()

    def kernel() -> None:
        with acting(PLATFORM), transaction.atomic():
            MeterSession.objects.select_for_update().get(pk=busy.session_id)
            locked.set()
            done.wait(60)
        connection.close()

    thread = Thread(target=kernel)
    thread.start()
    assert locked.wait(60)
    try:
        services.rate_due(PLATFORM, until=LATER)
        assert list(Charge.objects.values_list("session_id", flat=True)) == [idle.session_id]
    finally:
        done.set()
        thread.join()
    services.rate_due(PLATFORM, until=LATER)
    assert Charge.objects.count() == 2
