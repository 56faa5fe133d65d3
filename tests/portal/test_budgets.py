"""How often the pages that people open most may ask the database, and that nothing is kept from one to the next."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from tests.builders import World, make_member, make_staff, platform, signed_in, top_up
from tests.portal.kit import start
from tests.training.kit import submit

pytestmark = pytest.mark.django_db


def asked(client: Client, url: str) -> list[str]:
    """The statements of a visit, but of the first: that one writes the sign-in down."""
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return [query["sql"] for query in queries.captured_queries]


@pytest.mark.parametrize(("url", "most"), [("/", 32), ("/training/", 18), ("/api/v1/training/runs/", 6)])
def test_a_member_page_asks_few_questions(world: World, url: str, most: int) -> None:
    start(world, submit(world))
    submit(world)
    texts = asked(signed_in(world.alice), url)
    assert len(texts) <= most, "\n".join(texts)
    repeated = {text for text in texts if texts.count(text) > 1}
    assert not repeated, "\n".join(repeated)


def test_the_consoles_overview_asks_few_questions(world: World) -> None:
    start(world, submit(world))
    submit(world)
    with acting(platform()):
        staff = make_staff()
    texts = asked(signed_in(staff), "/console/")
    assert len(texts) <= 24, "\n".join(texts)


def test_a_right_that_was_taken_counts_at_once(world: World) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob", Role.MEMBER)
    client = signed_in(bob)
    assert "/training/new/" in client.get("/").content.decode()
    with acting(platform()):
        Membership.objects.filter(user=bob).update(role=Role.FINANCE)
    assert "/training/new/" not in client.get("/").content.decode()
    with acting(platform()):
        Membership.objects.filter(user=bob).delete()
    assert "You belong to no organisation yet" in client.get("/").content.decode()
    assert client.get("/training/").status_code == 403


def test_money_that_came_in_is_shown_at_once(world: World) -> None:
    client = signed_in(world.alice)
    before = client.get("/").context["wallet"].balance_fen
    with acting(platform()):
        top_up(world.organisation, 12_300)
    page = client.get("/")
    assert page.context["wallet"].balance_fen == before + 12_300
    assert page.context["shell"]["wallet"]["balance_text"] == "¥1,123.00"
