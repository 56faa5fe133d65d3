"""Revenue on simulated hardware, once its zone is billed, is told apart from what customers' machines earn."""

from decimal import Decimal

import pytest

from apps.clusters.models import Zone, ZonePackage
from apps.common.actor import Actor
from apps.common.scoping import acting
from tests.builders import World, platform
from tests.console.kit import client_of, page, ran, text_of


@pytest.fixture
def earned(world: World) -> World:
    ran(world)
    return world


def simulate(world: World) -> None:
    with acting(platform()):
        zone = Zone.objects.create(name="sim", simulated=True, billed=True)
        ZonePackage.objects.create(package=world.package, zone=zone, listed_fen_per_hour=Decimal(360))


def test_it_wears_a_badge_and_is_summed_apart(fang: Actor, earned: World) -> None:
    client = client_of(fang)
    parts, figures = page("revenue_parts"), page("finance_figures")
    for plain in (parts, figures):
        assert "simulated hardware" not in text_of(client.get(plain))
    simulate(earned)
    shown = text_of(client.get(parts))
    assert "Of which ¥5.40 on simulated hardware" in shown
    assert "Charged on hardware that does not exist" in shown
    assert "of which ¥5.40 on simulated hardware" in text_of(client.get(figures))


def test_real_packages_wear_none(fang: Actor, earned: World) -> None:
    with acting(platform()):
        Zone.objects.create(name="sim", simulated=True, billed=True)
    assert "simulated hardware" not in text_of(client_of(fang).get(page("revenue_parts")))
