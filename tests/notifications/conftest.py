"""One organisation with Alice, its admin, and what the outbox tests need."""

from collections.abc import Iterator

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.builders import make_member, make_organisation, platform


@pytest.fixture
def system(db: None) -> Iterator[Actor]:
    """The test runs as the platform's own loops do."""
    with acting(platform()) as actor:
        yield actor


@pytest.fixture
def lab(db: None) -> Organisation:
    with acting(platform()):
        return make_organisation(balance_fen=0)


@pytest.fixture
def alice(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "alice", Role.ADMIN)


@pytest.fixture
def bob(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "bob")
