"""kill -9 at every point of an adjustment: the money moves, is logged and told once or not at all."""

import pytest

from apps.audit.models import Entry
from apps.billing.adjustments.services import Note
from apps.billing.choices import AccountKind, RechargeKind, TransferKind
from apps.billing.models import AloneAct
from apps.billing.payments import recharge_review
from apps.common.actor import Actor
from apps.notifications.models import Notice
from tests.billing.builders import balance, make_staff
from tests.billing.killing_kit import World, kill_everywhere, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
FEN = 1250
NOTE = Note(RechargeKind.CREDIT_NOTE, FEN, "CN-1", "Outage of 3 November")


@pytest.fixture
def clerk() -> Actor:
    return make_staff()


def test_an_adjustment_moves_and_is_told_once(clerk: Actor) -> None:
    def adjust(world: World) -> None:
        recharge_review.adjust(clerk, organisation_id=world.lab.pk, note=NOTE)

    def told(world: World) -> tuple[list[int], list[int], int, int]:
        log = Entry.objects.filter(organisation_id=world.lab.pk, action="billing.adjusted").count()
        notices = Notice.objects.filter(organisation=world.lab, kind="billing.adjusted").count()
        alone = list(AloneAct.objects.filter(organisation=world.lab).values_list("amount_fen", flat=True))
        return moved(world, TransferKind.ADJUSTMENT), alone, log, notices

    def whole(world: World) -> None:
        assert told(world) in (([], [], 0, 0), ([FEN], [FEN], 1, 1))

    def check(world: World) -> None:
        assert told(world) == ([FEN], [FEN], 1, 1)
        assert (balance(world.lab), balance(world.lab, AccountKind.REVENUE)) == (FEN, -FEN)

    names = kill_everywhere(lambda world: lambda: adjust(world), adjust, check, at_once=whole)
    assert "before commit in apps.billing.payments.recharge_review.requesting.adjust" in names
