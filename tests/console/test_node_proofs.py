"""A node's page says which promises about its cards were seen on hardware."""

import pytest
from django.test import Client

from apps.clusters.models import Accelerator
from tests.builders import World
from tests.console.kit import page, text_of


@pytest.fixture
def card(world: World) -> Accelerator:
    return Accelerator.objects.create(
        node=world.node, uuid="GPU-1", index=0, vendor="nvidia", model="H100 80GB HBM3", memory_mib=81_559
    )


def test_a_node_says_what_of_its_cards_was_seen_on_hardware(ops: Client, world: World, card: Accelerator) -> None:
    text = text_of(ops.get(page("node", world.node.pk)))
    assert "H100 80GB HBM3 · 580.159.04 · 2026-11-26" in text
    assert "never on hardware" in text
    assert "not this model" not in text
    Accelerator.objects.filter(pk=card.pk).update(model="A100-SXM4-80GB")
    assert "not this model" in text_of(ops.get(page("node", world.node.pk)))


def test_a_node_without_cards_promises_nothing_about_them(ops: Client, world: World) -> None:
    assert "Seen on hardware" not in text_of(ops.get(page("node", world.node.pk)))
