"""Staff at what-if, and a platform with a past."""

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from tests.builders import World, make_staff, make_world, platform, staff_actor


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def root(world: World) -> Actor:
    with acting(platform()):
        return staff_actor(make_staff())
