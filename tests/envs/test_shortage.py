"""The pages of an environment and of a run say that money is short, until when it lasts, and who can help."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.clock import db_now
from apps.common.scoping import acting
from tests.builders import World, platform
from tests.envs import kit
from tests.envs.kit import text
from tests.training.kit import submit, url

SAID = {
    ArrearsStatus.LOW: "The balance is running low",
    ArrearsStatus.GRACE: "The balance is used up",
    ArrearsStatus.SUSPENDED: "Work was stopped because the balance ran out",
}


def pages(world: World) -> list[str]:
    return [reverse("envs:detail", args=[kit.make(world).pk]), url("detail", submit(world))]


@pytest.mark.parametrize("status", list(SAID))
def test_each_says_where_the_money_stands(world: World, alice: Client, status: ArrearsStatus) -> None:
    shown = pages(world)
    assert not any(words in text(alice.get(page)) for page in shown for words in SAID.values())
    with acting(platform()):
        ArrearsState.objects.update_or_create(
            organisation=world.organisation, defaults={"status": status, "since": db_now() - timedelta(minutes=1)}
        )
    for page in shown:
        found = text(alice.get(page))
        assert SAID[status] in found
        assert "An administrator of your organisation or its finance staff can top it up." in found
