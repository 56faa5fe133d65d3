"""What one clerk may grant alone: a limit for each act, and for all of a day together."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from apps.billing.changes import services as changes
from apps.billing.changes.proposals import CreditLimit, NewLimits
from apps.billing.choices import AccountKind, RechargeKind, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import Account, AloneAct, ChangeRequest, RechargeRequest, Transfer
from apps.billing.payments import recharge_review
from apps.billing.payments.alone import Why, why_second
from apps.billing.payments.settings import PaymentSettings
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_organisation, make_staff
from tests.searching import examples

LIMIT = 1_000_000
pytestmark = pytest.mark.django_db


@pytest.fixture
def scope() -> Iterator[None]:
    with acting(PLATFORM):
        yield


@pytest.fixture
def lab(scope: None) -> Organisation:
    return make_organisation()


@pytest.fixture
def clerk(scope: None) -> Actor:
    return make_staff()


@pytest.fixture
def second(scope: None) -> Actor:
    return make_staff()


def pay(clerk: Actor, lab: Organisation, fen: int, slip: str = "") -> Transfer | RechargeRequest:
    slip = slip or uuid4().hex
    return recharge_review.recharge(clerk, organisation_id=lab.pk, amount_fen=fen, reference=slip)


def give(clerk: Actor, lab: Organisation, fen: int, key: str = "") -> Any:
    today = billing_day(db_now())
    spec = VoucherSpec(fen, VoucherScope.EVERYTHING, today, today + timedelta(days=9))
    return recharge_review.grant(clerk, organisation_id=lab.pk, spec=spec, key=key or uuid4().hex)


def lend(clerk: Actor, lab: Organisation, fen: int) -> changes.Outcome:
    return changes.submit(clerk, CreditLimit(lab.pk, fen))


def credit(lab: Organisation) -> int:
    return Account.objects.get(organisation=lab, kind=AccountKind.CASH).credit_limit_fen


def test_many_just_below_the_limit_count_together(clerk: Actor, second: Actor, lab: Organisation) -> None:
    assert isinstance(pay(clerk, lab, 600_000), Transfer)
    assert not isinstance(give(clerk, lab, 400_000), RechargeRequest)
    assert why_second(clerk, 1) is Why.DAY
    assert isinstance(pay(clerk, lab, 1), RechargeRequest)
    assert isinstance(give(clerk, lab, 1), RechargeRequest)
    assert lend(clerk, lab, 1).request is not None
    assert isinstance(pay(second, lab, 1), Transfer)  # each clerk has a day of their own


def test_the_next_day_begins_anew(clerk: Actor, lab: Organisation) -> None:
    pay(clerk, lab, LIMIT)
    tomorrow = db_now() + timedelta(days=1)
    with patch("apps.billing.payments.alone.db_now", lambda: tomorrow):
        assert isinstance(pay(clerk, lab, LIMIT), Transfer)


def test_the_same_again_counts_once(clerk: Actor, lab: Organisation) -> None:
    assert isinstance(pay(clerk, lab, LIMIT, "slip"), Transfer)
    assert isinstance(pay(clerk, lab, LIMIT, "slip"), Transfer)
    assert AloneAct.objects.count() == 1


def test_a_credit_limit_above_the_limit_waits_and_both_hear_of_it(
    clerk: Actor, second: Actor, lab: Organisation
) -> None:
    balance(lab)
    request = lend(clerk, lab, 90_000_000).request
    assert request is not None
    assert credit(lab) == 0
    assert lend(clerk, lab, 90_000_000).request == request
    with pytest.raises(DomainError, match="a second person has to"):
        changes.approve(clerk, request_id=request.pk)
    changes.approve(second, request_id=request.pk)
    assert credit(lab) == 90_000_000
    assert AloneAct.objects.count() == 0
    assert Notice.objects.filter(kind="change.approved", user_id=clerk.user_id).count() == 1
    assert lend(clerk, lab, 50_000_000).request is None  # lowering takes one


def test_a_denial_leaves_everything_and_says_why(clerk: Actor, second: Actor, lab: Organisation) -> None:
    balance(lab)
    request = lend(clerk, lab, 90_000_000).request
    assert request is not None
    changes.deny(second, request_id=request.pk, answer="No contract.")
    assert credit(lab) == 0
    assert Notice.objects.get(kind="change.denied", user_id=clerk.user_id).data["reason"] == "No contract."
    with pytest.raises(DomainError, match="decided already"):
        changes.approve(second, request_id=request.pk)


def test_loosening_the_limits_always_takes_two(clerk: Actor, second: Actor) -> None:
    looser = replace(settings.get(PaymentSettings), alone_fen=LIMIT + 1, discount_percent=0)
    request = changes.submit(clerk, NewLimits(looser)).request
    assert request is not None
    assert settings.get(PaymentSettings).alone_fen == LIMIT
    stricter = replace(settings.get(PaymentSettings), price_drop_percent=5)
    assert changes.submit(clerk, NewLimits(stricter)).request is None
    changes.approve(second, request_id=request.pk)
    assert settings.get(PaymentSettings).alone_fen == LIMIT + 1


def test_a_receipt_of_another_organisation_needs_a_second_person(
    clerk: Actor, second: Actor, lab: Organisation
) -> None:
    other = make_organisation()
    first = pay(clerk, other, 500, "BANK-2")
    assert isinstance(first, Transfer)
    waits = pay(clerk, lab, 500, "bank-2")
    assert isinstance(waits, RechargeRequest)
    recharge_review.deny(second, request_id=waits.pk, answer="It is theirs.")
    back = recharge_review.ask_reversal(clerk, transfer_id=first.pk, reason="wrong organisation")
    recharge_review.approve(second, request_id=back.pk)
    assert isinstance(pay(clerk, lab, 500, "BANK-2"), Transfer)  # the other one has given it back


def granted(labs: list[Organisation]) -> dict[Any, int]:
    rows = Account.objects.filter(organisation__in=labs, kind__in=[AccountKind.CASH, AccountKind.VOUCHER])
    return {row.pk: row.balance_fen + row.credit_limit_fen for row in rows}


ACTS = st.tuples(
    st.sampled_from(("pay", "give", "lend", "loosen", "tighten", "approve", "approve_change")),
    st.sampled_from((1, 300_000, 500_000, 999_999, LIMIT, LIMIT + 1, 5 * LIMIT)),
    st.integers(0, 2),
    st.sampled_from(("a", "b", "c")),
)


@hypothesis(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTS, min_size=4, max_size=14))
def test_in_no_order_of_acts_one_clerk_grants_more_than_the_limit_in_a_day(
    scope: None, acts: list[tuple[str, int, int, str]]
) -> None:
    """Counted by what the accounts gained, not by what the house has noted."""
    with transaction.atomic():
        clerk, labs = make_staff(), [make_organisation() for _each in range(3)]
        for lab in labs:
            balance(lab)
        gained, before = 0, granted(labs)
        for act, fen, which, key in acts:
            with suppress(DomainError):
                deeds(clerk, labs[which], fen, key)[act]()
            after = granted(labs)
            gained += sum(max(0, after[pk] - before[pk]) for pk in after)
            before = after
        assert gained <= LIMIT
        transaction.set_rollback(True)


def deeds(clerk: Actor, lab: Organisation, fen: int, key: str) -> dict[str, Callable[[], Any]]:
    now = settings.get(PaymentSettings)
    recharges = RechargeRequest.objects.filter(kind__in=[RechargeKind.RECHARGE, RechargeKind.VOUCHER])
    return {
        "pay": lambda: pay(clerk, lab, fen, key),
        "give": lambda: give(clerk, lab, fen, key),
        "lend": lambda: lend(clerk, lab, fen if key != "c" else 0),
        "loosen": lambda: changes.submit(clerk, NewLimits(replace(now, alone_fen=fen + LIMIT))),
        "tighten": lambda: changes.submit(clerk, NewLimits(replace(now, alone_fen=min(fen, now.alone_fen)))),
        "approve": lambda: (
            recharge_review.approve(clerk, request_id=recharges.latest("created_at").pk) if recharges else None
        ),
        "approve_change": lambda: (
            changes.approve(clerk, request_id=ChangeRequest.objects.latest("created_at").pk)
            if ChangeRequest.objects.exists()
            else None
        ),
    }


@pytest.mark.django_db(transaction=True)
def test_two_at_the_same_moment_see_each_other() -> None:
    with acting(PLATFORM):
        clerk, labs = make_staff(), [make_organisation() for _each in range(2)]
    gate, made = threading.Barrier(2), []

    def work(lab: Organisation) -> None:
        gate.wait()
        try:
            with acting(PLATFORM):
                made.append(type(pay(clerk, lab, 700_000)))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(lab,)) for lab in labs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.__name__ for each in made) == ["RechargeRequest", "Transfer"]
