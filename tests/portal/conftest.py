"""The portal's tests: a home of their own for the files of runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.workloads import nodes
from tests.builders import World, make_member, make_world, platform


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()


@pytest.fixture
def world(db: None) -> World:
    """Alice is the admin of an organisation with ¥1,000, a node of four cores and a package of one core at ¥3.60/h."""
    with acting(platform()):
        return make_world(role=Role.ADMIN)


@pytest.fixture
def bob(world: World) -> User:
    """A member."""
    with acting(platform()):
        return make_member(world.organisation, "bob")
