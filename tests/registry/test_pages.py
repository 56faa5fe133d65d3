"""The portal's list of images: searched, narrowed to whose, and paged."""

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.scoping import acting
from apps.registry import services
from apps.registry.models import Image
from tests.builders import World, actor_of, make_member, make_world, platform, signed_in


@pytest.fixture
def world(db: None, tmp_path: object, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = str(tmp_path)
    with acting(platform()):
        world = make_world()
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(world.actor):
        services.create_personal_image(world.actor, name="my-stack", base=world.image, added=["six==1.17.0"])
    with acting(bob):
        services.create_personal_image(bob, name="from-bob", base=world.image, added=["attrs==25.3.0"], shared=True)
    return world


@pytest.fixture
def alice(world: World) -> Client:
    return signed_in(world.alice)


def names(client: Client, **query: str) -> list[str]:
    return [row.record.name for row in client.get("/images/", query).context["table"].page.object_list]


def test_ones_own_stand_first(alice: Client) -> None:
    assert names(alice) == ["my-stack", "python", "from-bob"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "stack"}, ["my-stack"]),
        ({"q": "ATTRS"}, ["from-bob"]),
        ({"q": "nothing"}, []),
        ({"whose": "mine"}, ["my-stack"]),
        ({"whose": "shared"}, ["from-bob"]),
        ({"whose": "platform"}, ["python"]),
    ],
)
def test_the_list_is_narrowed(alice: Client, query: dict[str, str], found: list[str]) -> None:
    assert names(alice, **query) == found


def test_a_page_holds_25_and_asks_the_same_number_of_queries(
    alice: Client, django_assert_max_num_queries: object
) -> None:
    for number in range(60):
        Image.objects.create(key=f"more-{number}", name=f"more {number:02}", requirements=["numpy==2.3.5"])
    alice.get("/images/")
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        assert len(names(alice, page="2")) == 25
    assert len(names(alice, page="3")) == 13


def test_only_ones_own_are_shared_and_removed_from_the_list(alice: Client) -> None:
    shown = alice.get("/images/").content.decode()
    assert shown.count("/share/") == 1
    assert shown.count("/remove/") == 1


def test_who_has_none_of_their_own_is_told_how_to_make_one(alice: Client, world: World) -> None:
    Image.objects.filter(owner=world.alice).delete()
    assert "No image of your own yet" in alice.get("/images/", {"whose": "mine"}).content.decode()
