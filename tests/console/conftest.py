"""Staff of each role at their browsers, and one organisation with Alice in it."""

import pytest
from django.test import Client

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from tests.builders import World, make_staff, make_world, platform, signed_in


@pytest.fixture
def world(db: None) -> World:
    """Made as the platform; the test itself runs outside any scope, as a request begins."""
    with acting(platform()):
        return make_world()


def staff(role: PlatformRole) -> Client:
    with acting(platform()):
        return signed_in(make_staff(role))


@pytest.fixture
def root(world: World) -> Client:
    return staff(PlatformRole.SUPER)


@pytest.fixture
def finance(world: World) -> Client:
    return staff(PlatformRole.FINANCE)


@pytest.fixture
def business(world: World) -> Client:
    return staff(PlatformRole.BUSINESS)


@pytest.fixture
def ops(world: World) -> Client:
    return staff(PlatformRole.OPS)


@pytest.fixture
def alice(world: World) -> Client:
    """A member of an organisation, no staff."""
    return signed_in(world.alice)


@pytest.fixture
def fang(world: World) -> Actor:
    """One of two clerks who decide on each other's requests."""
    return clerk()


@pytest.fixture
def guo(world: World) -> Actor:
    return clerk()


def clerk() -> Actor:
    with acting(platform()):
        return platform_actor(make_staff(PlatformRole.FINANCE))
