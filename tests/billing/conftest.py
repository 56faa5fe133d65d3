"""Alice and her laboratory, as the platform sees them."""

from collections.abc import Iterator

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, make_member, make_organisation


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
