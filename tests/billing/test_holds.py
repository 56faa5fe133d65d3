"""Money set aside for a start."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from apps.billing import services
from apps.billing.choices import AccountKind, HoldOutcome, HoldReason, TransferKind
from apps.billing.holds.services import end_hold, open_hold
from apps.billing.ledger.services import platform_account
from apps.billing.models import Hold, HoldEnd, Transfer
from apps.billing.prices.discounts.services import set_discount
from apps.common.actor import Actor
from apps.common.errors import Conflict, InsufficientFunds, NotFound
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, balance, make_package, price_of, top_up, wallet


@pytest.fixture
def run(alice: Actor) -> Run:
    return Run(alice, price_of(make_package(780)))


def test_a_start_sets_the_first_hour_aside(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    hold = run.hold()
    assert (hold.amount_fen, hold.reason) == (780, HoldReason.START)
    assert wallet(lab).available_fen == 220


def test_a_fraction_of_a_fen_is_held_as_a_whole_one(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 1000)
    assert Run(alice, price_of(make_package("780.0000000001"))).hold().amount_fen == 781


def test_what_is_held_is_the_organisations_own_price(lab: Organisation, run: Run) -> None:
    set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.5"))
    top_up(lab, 390)
    assert run.hold().amount_fen == 390


def test_too_little_says_exactly_what_is_short_and_who_can_help(lab: Organisation, run: Run) -> None:
    top_up(lab, 460)
    with pytest.raises(InsufficientFunds) as refusal:
        run.hold()
    assert refusal.value.message == "¥3.20 short: starting needs ¥7.80, available ¥4.60."
    assert "finance staff" in str(refusal.value.hint)
    assert Hold.objects.count() == 0


def test_what_others_hold_is_not_available(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(lab, 1000)
    run.hold()
    with pytest.raises(InsufficientFunds):
        Run(alice, run.price).hold()


def refund(organisation: Organisation, fen: int) -> Transfer:
    """Nothing but the ledger looks at the wallet here, as for money that goes back to Alipay."""
    return services.post(
        PLATFORM,
        posting=services.Posting(
            debit=wallet(organisation),
            credit=platform_account(AccountKind.REFUND_CLEARING),
            amount_fen=fen,
            kind=TransferKind.REFUND,
            idem=f"refund:{uuid4()}",
        ),
    )


def test_what_is_held_cannot_be_refunded(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.hold()
    with pytest.raises(InsufficientFunds):
        refund(lab, 221)
    assert (balance(lab), wallet(lab).held_fen) == (1000, 780)
    refund(lab, 220)
    assert (balance(lab), wallet(lab).available_fen) == (780, 0)


def test_asking_twice_holds_once(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    assert run.hold().pk == run.hold().pk
    assert wallet(lab).held_fen == 780


def test_releasing_twice_ends_once(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.hold()
    run.release().release()
    assert wallet(lab).held_fen == 0
    assert HoldEnd.objects.get().outcome == HoldOutcome.VOIDED


def test_a_released_workload_may_hold_again(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.hold()
    run.release()
    assert run.hold().number == 2


def test_the_database_lets_a_hold_end_once(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    hold = run.hold()
    end_hold(hold, HoldOutcome.VOIDED)
    with pytest.raises(IntegrityError), transaction.atomic():
        end_hold(hold, HoldOutcome.CAPTURED)


@pytest.mark.parametrize(
    ("number", "amount", "complaint"), [(2, 1, "still open"), (1, 1, "hold_number_once"), (2, 900, "does not cover")]
)
def test_the_database_lets_one_hold_be_open(
    lab: Organisation, run: Run, number: int, amount: int, complaint: str
) -> None:
    top_up(lab, 1000)
    run.hold()
    with pytest.raises(IntegrityError, match=complaint), transaction.atomic():
        Hold.objects.create(
            organisation=lab,
            workload_id=run.workload_id,
            number=number,
            label="x",
            reason=HoldReason.RUNNING,
            amount_fen=amount,
        )


def test_work_that_is_free_starts_without_money(lab: Organisation, alice: Actor) -> None:
    assert Run(alice, price_of(make_package(0))).hold().amount_fen == 0


def test_replicas_multiply_the_hold(lab: Organisation, run: Run) -> None:
    top_up(lab, 2000)
    run.replicas = 2
    assert run.hold().amount_fen == 1560


def test_a_price_just_replaced_is_honoured_an_older_one_is_not(
    lab: Organisation, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    top_up(lab, 2000)
    services.set_price(PLATFORM, package_id=run.price.package_id, rate_fen_per_hour=Decimal(900))
    run.hold()
    run.release()
    monkeypatch.setattr("apps.billing.policy.QUOTE_VALID", timedelta(0))
    with pytest.raises(Conflict, match="price has changed"):
        run.hold()


def test_a_withdrawn_package_cannot_be_started(lab: Organisation, run: Run) -> None:
    top_up(lab, 2000)
    services.deactivate_package(PLATFORM, package_id=run.price.package_id)
    with pytest.raises(Conflict, match="no longer offered"):
        run.hold()


def test_an_unknown_price_does_not_exist(alice: Actor) -> None:
    with pytest.raises(NotFound):
        services.hold_for_start(alice, workload_id=uuid4(), price_version_id=0, label="x")


def test_a_member_holds_within_their_own_scope(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(lab, 1000)
    with acting(alice):
        run.hold()
        assert open_hold(run.workload_id) is not None
        run.release()
        assert open_hold(run.workload_id) is None
