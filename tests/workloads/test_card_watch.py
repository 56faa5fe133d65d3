"""Operators are told once of a card that is not well and of a fatal fault, and once when it is well again."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone

from apps.clusters.card_fault import CardFault
from apps.clusters.models import Accelerator, Node, Zone
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants.choices import PlatformRole
from apps.workloads.hardware import card_watch
from tests.builders import World, make_staff, platform

BOOT = uuid4()


@pytest.fixture
def cards(world: World) -> list[Accelerator]:
    make_staff()
    Node.objects.filter(pk=world.node.pk).update(boot_id=BOOT)
    return [
        Accelerator.objects.create(
            node=world.node, uuid=f"GPU-{n}", index=n, vendor="nvidia", model="H100", memory_mib=81_920
        )
        for n in range(3)
    ]


def unhealthy(*cards: Accelerator, seconds: int = 90) -> None:
    since = timezone.now() - timedelta(seconds=seconds)
    Accelerator.objects.filter(pk__in=[card.pk for card in cards]).update(
        healthy=False, trouble="lost", unhealthy_since=since
    )


def healthy(*cards: Accelerator) -> None:
    Accelerator.objects.filter(pk__in=[card.pk for card in cards]).update(
        healthy=True, trouble="", unhealthy_since=None
    )


def fault(card: Accelerator, code: int, **columns: object) -> CardFault:
    """As its node reports it: the card is not well from then on."""
    unhealthy(card, seconds=0)
    told = {"boot_id": BOOT, "remedy": "reset", "at": timezone.now(), "last_at": timezone.now(), "last_usec": 7}
    return CardFault.objects.create(accelerator=card, code=code, **{**told, **columns})


def tell() -> list[tuple[str, object]]:
    """What the watch tells now, by kind and what it is about."""
    Notice.objects.all().delete()
    card_watch.watch_cards(platform())
    found = Notice.objects.filter(kind__startswith="card.").order_by("pk")
    return [(notice.kind, notice.data.get("cards") or notice.data.get("codes")) for notice in found]


def test_cards_that_are_not_well_are_told_once_for_their_node(cards: list[Accelerator]) -> None:
    assert tell() == []
    unhealthy(cards[0], cards[2])
    assert tell() == [("card.unhealthy", [0, 2])]
    assert tell() == []
    unhealthy(cards[1])
    assert tell() == [("card.unhealthy", [1])]
    healthy(cards[0], cards[1])
    assert tell() == [("card.healthy", [0, 1])]
    assert tell() == []


def test_what_is_over_within_a_minute_is_not_told(cards: list[Accelerator]) -> None:
    unhealthy(cards[0], seconds=30)
    assert tell() == []
    healthy(cards[0])
    assert tell() == []


def test_a_silent_nodes_cards_are_not_told_beside_it(world: World, cards: list[Accelerator]) -> None:
    unhealthy(cards[0])
    Node.objects.filter(pk=world.node.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))
    assert tell() == []


def test_simulated_cards_are_not_told(cards: list[Accelerator]) -> None:
    unhealthy(cards[0])
    Zone.objects.update(simulated=True)
    assert tell() == []


def test_fatal_faults_are_told_once_together_and_instead_of_the_cards_health(cards: list[Accelerator]) -> None:
    fault(cards[0], 79)
    fault(cards[0], 154)
    fault(cards[1], 48)
    unhealthy(cards[0])
    assert sorted(tell()) == [("card.fault", [48]), ("card.fault", [79, 154])]
    assert tell() == []
    fault(cards[0], 119)
    assert tell() == [("card.fault", [119])]
    healthy(cards[0])
    assert tell() == [("card.healthy", [0])]


def test_faults_of_a_former_start_and_such_as_are_over_or_harmless_are_not_told(cards: list[Accelerator]) -> None:
    fault(cards[0], 79, boot_id=uuid4())
    fault(cards[0], 48, resolved_at=timezone.now())
    fault(cards[0], 31, remedy="app")
    healthy(cards[0])
    assert tell() == []


def test_a_resolved_one_that_comes_again_is_told_again(cards: list[Accelerator]) -> None:
    found = fault(cards[0], 48)
    assert tell() == [("card.fault", [48])]
    CardFault.objects.filter(pk=found.pk).update(told_at=None, last_usec=F("last_usec") + 1)
    assert tell() == [("card.fault", [48])]


def test_the_notices_say_what_it_is_about(cards: list[Accelerator]) -> None:
    fault(cards[1], 79)
    fault(cards[1], 154)
    unhealthy(cards[0], cards[2])
    tell()
    found = {notice.kind: words(notice) for notice in Notice.objects.all()}
    name = cards[0].node.name
    assert found["card.fault"].title == f"Card 1 of {name} has reported a fault: XID 79, 154"
    assert "H100" in found["card.fault"].text
    assert found["card.unhealthy"].title == f"2 cards of {name} are not healthy"
    assert "Cards 0, 2" in found["card.unhealthy"].text


def test_staff_who_manage_no_nodes_are_told_nothing(cards: list[Accelerator]) -> None:
    finance = make_staff(PlatformRole.FINANCE, "finance")
    fault(cards[0], 48)
    unhealthy(cards[1])
    assert sorted(kind for kind, _about in tell()) == ["card.fault", "card.unhealthy"]
    assert not Notice.objects.filter(user=finance).exists()
