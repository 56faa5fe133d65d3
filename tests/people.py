"""Fixtures of the people around one organisation, for the conftest of any app that serves them: import by name."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from tests.builders import World, make_member, make_organisation, make_staff, make_world, platform, signed_in


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def alice(world: World) -> Client:
    return signed_in(world.alice)


@pytest.fixture
def bob(world: World) -> Client:
    """A colleague."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "bob"))


@pytest.fixture
def dora(world: World) -> Client:
    """Manages the organisation."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "dora", Role.ADMIN))


@pytest.fixture
def frank(world: World) -> Client:
    """Keeps the books: may look, may start nothing."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "frank", Role.FINANCE))


@pytest.fixture
def charlie(world: World) -> Client:
    """A stranger: manages another organisation."""
    with acting(platform()):
        return signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))


@pytest.fixture
def staff(world: World) -> Client:
    """The platform's own people."""
    with acting(platform()):
        return signed_in(make_staff(PlatformRole.SUPER))
