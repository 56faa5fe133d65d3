"""A site with the real registry behind it, a person, and a repository of theirs with two images."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.models import ImageRepository
from apps.tenants.models import User
from tests.builders import (
    World,
    actor_of,
    make_image,
    make_node,
    make_organisation,
    make_package,
    make_staff,
    platform,
)
from tests.registry import serving
from tests.registry.pushing import FIRST, SECOND, Pusher
from tests.registry.serving import Site
from tests.registry.test_registry_tokens import Person, person


@pytest.fixture
def site(tmp_path: Path, settings: LazySettings) -> Iterator[Site]:
    with serving.running(tmp_path, settings) as found:
        yield found


@pytest.fixture
def alice(site: Site) -> Person:
    with acting(platform()):
        return person(make_organisation(), "alice")


@pytest.fixture
def staff(site: Site) -> User:
    return make_staff()


@pytest.fixture
def world(alice: Person) -> World:
    actor = actor_of(alice.user, alice.organisation)
    with acting(platform()):
        return World(alice.organisation, alice.user, actor, make_node(), make_package(), make_image())


@pytest.fixture
def pusher(site: Site, alice: Person) -> Pusher:
    return Pusher(site, f"{alice.mine}/torch", alice.user.username)


@pytest.fixture
def repository(pusher: Pusher) -> ImageRepository:
    """With two images: the first as tags 1 and latest, the second as 2."""
    pusher.push(FIRST, "1")
    pusher.push(FIRST, "latest")
    pusher.push(SECOND, "2")
    tasks.read()
    with acting(platform()):
        return ImageRepository.objects.get(name=pusher.name)
