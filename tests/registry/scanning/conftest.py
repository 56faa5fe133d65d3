"""An organisation with a container image of the platform, and somebody who manages its images."""

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.tenants.choices import Role
from tests.builders import World, actor_of, make_member, make_staff, make_world, platform, staff_actor
from tests.registry.scanning.builders import offer


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def manager(world: World) -> Actor:
    with acting(platform()):
        return actor_of(make_member(world.organisation, "manager", Role.ADMIN), world.organisation)


@pytest.fixture
def staff(world: World) -> Actor:
    with acting(platform()):
        return staff_actor(make_staff(name="operator"))


@pytest.fixture
def image(world: World) -> Image:
    return offer()
