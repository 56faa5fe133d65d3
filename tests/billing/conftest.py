"""Alice and her laboratory, as the platform sees them."""

from collections.abc import Iterator

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, User
from tests import builders
from tests.billing.builders import PLATFORM, make_member, make_organisation
from tests.billing.prepaid import Clock, clock_at


@pytest.fixture
def platform(db: None) -> Iterator[Actor]:
    """The platform's own scope is active during the test."""
    with acting(PLATFORM):
        yield PLATFORM


@pytest.fixture
def lab(platform: Actor) -> Organisation:
    return make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> Actor:
    return make_member(lab, Role.ADMIN)


@pytest.fixture
def clock() -> Iterator[Clock]:
    """What everything prepaid takes for the time."""
    with clock_at() as clock:
        yield clock


@pytest.fixture
def world(db: None) -> builders.World:
    """Alice is the admin of an organisation that has paid ¥1,000; its package costs ¥3.60 an hour."""
    with acting(PLATFORM):
        return builders.make_world(role=Role.ADMIN)


@pytest.fixture
def bob(world: builders.World) -> User:
    """A colleague."""
    with acting(PLATFORM):
        return builders.make_member(world.organisation, "bob")


@pytest.fixture
def clerk(world: builders.World) -> User:
    """One of the platform's finance staff."""
    with acting(PLATFORM):
        return builders.make_staff(PlatformRole.FINANCE)
