"""kill -9 at every point of changes that two people decide on: the change is made with the decision, once."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.billing.changes import services as changes
from apps.billing.changes.proposals import CreditLimit
from apps.billing.choices import AccountKind, RequestState
from apps.billing.ledger.services import organisation_account
from apps.billing.models import AloneAct, ChangeRequest
from apps.common.actor import Actor
from apps.notifications.models import Notice
from tests.billing.builders import make_staff
from tests.billing.killing_kit import World, again, kill_everywhere, logged

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
ALONE, LARGE = 700_000, 90_000_000


@pytest.fixture
def clerk() -> Actor:
    return make_staff()


@pytest.fixture
def second() -> Actor:
    return make_staff()


def credit(world: World) -> int:
    return organisation_account(world.lab.pk, AccountKind.CASH).credit_limit_fen


def request(world: World) -> ChangeRequest:
    return ChangeRequest.objects.get(organisation=world.lab)


def ask(world: World, clerk: Actor) -> None:
    changes.submit(clerk, CreditLimit(world.lab.pk, LARGE))


def the_limit_follows_the_decision(world: World) -> None:
    approved = ChangeRequest.objects.filter(organisation=world.lab, state=RequestState.APPROVED).exists()
    assert credit(world) == (LARGE if approved else 0)


def decided(world: World, state: RequestState) -> None:
    found = request(world)
    assert found.state == state
    assert logged("change", found.pk) == ["billing.change.asked", f"billing.change.{state}"]
    told = Notice.objects.filter(kind=f"change.{state}", data__request=str(found.pk))
    assert told.count() == (0 if state == RequestState.WITHDRAWN else 1)


def test_a_change_is_asked_for_and_approved_once(clerk: Actor, second: Actor) -> None:
    def both(world: World) -> None:
        ask(world, clerk)
        again(lambda: changes.approve(second, request_id=request(world).pk))

    def check(world: World) -> None:
        decided(world, RequestState.APPROVED)
        assert credit(world) == LARGE

    names = kill_everywhere(lambda world: lambda: both(world), both, check, at_once=the_limit_follows_the_decision)
    assert "before commit in apps.billing.changes.services.approve" in names


@pytest.mark.parametrize("state", [RequestState.DENIED, RequestState.WITHDRAWN])
def test_a_change_that_is_refused_or_taken_back_is_so_once(clerk: Actor, second: Actor, state: RequestState) -> None:
    def end(world: World) -> None:
        pk = request(world).pk
        if state is RequestState.DENIED:
            again(lambda: changes.deny(second, request_id=pk, answer="no contract"))
        else:
            again(lambda: changes.withdraw(clerk, request_id=pk))

    def prepare(world: World) -> Callable[[], Any]:
        ask(world, clerk)
        return lambda: end(world)

    def check(world: World) -> None:
        decided(world, state)
        assert credit(world) == 0

    assert len(kill_everywhere(prepare, end, check, at_once=the_limit_follows_the_decision)) >= 2


def test_what_one_person_grants_is_counted_with_it_or_not_at_all() -> None:
    clerks: dict[World, Actor] = {}

    def lend(world: World) -> None:
        changes.submit(clerks[world], CreditLimit(world.lab.pk, ALONE))

    def prepare(world: World) -> Callable[[], Any]:
        clerks[world] = make_staff()
        return lambda: lend(world)

    def counted(world: World) -> None:
        acts = list(AloneAct.objects.filter(organisation=world.lab).values_list("amount_fen", flat=True))
        assert acts == ([ALONE] if credit(world) else [])

    def check(world: World) -> None:
        assert credit(world) == ALONE
        counted(world)

    assert len(kill_everywhere(prepare, lend, check, at_once=counted)) >= 2
