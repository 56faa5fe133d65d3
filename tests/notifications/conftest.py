"""One organisation with Alice, its admin, and what the outbox tests need."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.builders import actor_of, make_member, make_organisation, platform
from tests.notifications.servers import Receiver, http_server


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


@pytest.fixture
def receiver(settings: LazySettings) -> Iterator[Receiver]:
    with http_server() as server:
        settings.WEBHOOK_ALLOW = [f"127.0.0.1:{server.port}"]
        yield server


@pytest.fixture
def admin(lab: Organisation, alice: User) -> Iterator[Actor]:
    with acting(actor_of(alice, lab)) as actor:
        yield actor
