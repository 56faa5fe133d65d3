"""kill -9 at every point of recharges that two people decide on: the money moves with the decision, once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.billing.choices import AccountKind, RechargeKind, RequestState, TransferKind, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import PaymentProof, RechargeRequest
from apps.billing.payments import proofs, recharge_review
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.notifications.models import Notice
from tests.billing.builders import balance, make_staff
from tests.billing.killing_kit import World, again, kill_everywhere, logged, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
FEN = 1_000_001  # more than one person may record
SLIP = b"%PDF-1.7 a bank's slip"


@pytest.fixture
def clerk() -> Actor:
    return make_staff()


@pytest.fixture
def second() -> Actor:
    return make_staff()


def ask(world: World, clerk: Actor) -> None:
    lab = world.lab.pk
    proofs.add_proof(clerk, organisation_id=lab, reference="slip", name="slip.pdf", content=SLIP)
    recharge_review.recharge(clerk, organisation_id=lab, amount_fen=FEN, reference="slip")


def request(world: World, kind: RechargeKind = RechargeKind.RECHARGE) -> RechargeRequest:
    return RechargeRequest.objects.get(organisation=world.lab, kind=kind)


def approve(world: World, second: Actor, kind: RechargeKind = RechargeKind.RECHARGE) -> None:
    again(lambda: recharge_review.approve(second, request_id=request(world, kind).pk))


def money_moves_with_the_decision(world: World) -> None:
    """Before anybody finishes it: approved is moved, and what is not approved is not."""
    for each in RechargeRequest.objects.filter(organisation=world.lab):
        assert (each.state == RequestState.APPROVED) == (each.transfer is not None)
    approved = RechargeRequest.objects.filter(organisation=world.lab, state=RequestState.APPROVED)
    kinds = set(approved.values_list("kind", flat=True))
    assert moved(world, TransferKind.TOP_UP) == ([FEN] if RechargeKind.RECHARGE in kinds else [])
    assert moved(world, TransferKind.REFUND) == ([FEN] if RechargeKind.REVERSAL in kinds else [])


def decided(world: World, state: RequestState, kind: RechargeKind = RechargeKind.RECHARGE) -> None:
    """As it was wished, told and logged once."""
    found = request(world, kind)
    assert found.state == state
    assert logged("recharge", found.pk) == ["billing.recharge.asked", f"billing.recharge.{state}"]
    told = Notice.objects.filter(kind=f"recharge.{state}", data__request=str(found.pk))
    assert told.count() == (0 if state == RequestState.WITHDRAWN else 1)


def test_a_recharge_is_asked_for_and_approved_once(clerk: Actor, second: Actor) -> None:
    def both(world: World) -> None:
        ask(world, clerk)
        approve(world, second)

    def check(world: World) -> None:
        decided(world, RequestState.APPROVED)
        assert (balance(world.lab), moved(world, TransferKind.TOP_UP)) == (FEN, [FEN])
        assert PaymentProof.objects.get(organisation=world.lab).reference == "slip"

    names = kill_everywhere(lambda world: lambda: both(world), both, check, at_once=money_moves_with_the_decision)
    assert {"after commit in apps.billing.payments.proofs.add_proof"} < set(names)
    assert "before commit in apps.billing.payments.recharge_review.deciding.approve" in names


@pytest.mark.parametrize("state", [RequestState.DENIED, RequestState.WITHDRAWN])
def test_a_request_that_is_refused_or_taken_back_is_so_once(clerk: Actor, second: Actor, state: RequestState) -> None:
    def end(world: World) -> None:
        pk = request(world).pk
        if state is RequestState.DENIED:
            again(lambda: recharge_review.deny(second, request_id=pk, answer="no such payment"))
        else:
            again(lambda: recharge_review.withdraw(clerk, request_id=pk))

    def prepare(world: World) -> Callable[[], Any]:
        ask(world, clerk)
        return lambda: end(world)

    def check(world: World) -> None:
        decided(world, state)
        assert balance(world.lab) == 0

    assert len(kill_everywhere(prepare, end, check, at_once=money_moves_with_the_decision)) >= 2


def test_a_voucher_is_asked_for_and_approved_once(clerk: Actor, second: Actor) -> None:
    first = billing_day(db_now()) + timedelta(days=1)
    spec = VoucherSpec(FEN, VoucherScope.EVERYTHING, first, first + timedelta(days=3))

    def both(world: World) -> None:
        again(lambda: recharge_review.grant(clerk, organisation_id=world.lab.pk, spec=spec, key="form"))
        again(lambda: recharge_review.approve(second, request_id=request(world, RechargeKind.VOUCHER).pk))

    def check(world: World) -> None:
        found = request(world, RechargeKind.VOUCHER)
        assert logged("recharge", found.pk) == ["billing.voucher.asked", "billing.voucher.approved"]
        assert (balance(world.lab, AccountKind.VOUCHER), balance(world.lab)) == (FEN, 0)
        assert moved(world, TransferKind.VOUCHER_ISSUE) == [FEN]

    names = kill_everywhere(lambda world: lambda: both(world), both, check, at_once=money_moves_with_the_decision)
    assert "after commit in apps.billing.payments.recharge_review.deciding.approve" in names


def test_a_wrong_recharge_is_taken_out_again_once(clerk: Actor, second: Actor) -> None:
    def reverse(world: World) -> None:
        wrong = request(world).transfer
        assert wrong is not None
        again(lambda: recharge_review.ask_reversal(clerk, transfer_id=wrong.pk, reason="another customer's"))
        approve(world, second, RechargeKind.REVERSAL)

    def prepare(world: World) -> Callable[[], Any]:
        ask(world, clerk)
        approve(world, second)
        return lambda: reverse(world)

    def check(world: World) -> None:
        decided(world, RequestState.APPROVED, RechargeKind.REVERSAL)
        assert (balance(world.lab), moved(world, TransferKind.REFUND)) == (0, [FEN])

    names = kill_everywhere(prepare, reverse, check, at_once=money_moves_with_the_decision)
    assert "after commit in apps.billing.payments.recharge_review.deciding.approve" in names
