"""A laboratory that can pay by Alipay, at a gateway of its own."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from apps.billing.payments.reconciliation.bills import CHINA
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.tenants import settings
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation
from tests.billing.alipay.gateway import Gateway, serving
from tests.billing.builders import PLATFORM, make_member
from tests.builders import make_staff


@pytest.fixture(scope="session")
def server() -> Iterator[Gateway]:
    with serving() as gateway:
        yield gateway


@pytest.fixture
def gateway(server: Gateway, platform: Actor) -> Gateway:
    for kept in (server.deals, server.faults, server.asked, server.bills):
        kept.clear()
    server.broke = False
    settings.put(PLATFORM, server.settings())
    return server


@pytest.fixture
def treasurer(lab: Organisation) -> Actor:
    return make_member(lab, Role.FINANCE)


@pytest.fixture
def clerk(platform: Actor) -> Actor:
    """One of the platform's finance staff."""
    return platform_actor(make_staff(PlatformRole.FINANCE))


@pytest.fixture
def day(platform: Actor) -> date:
    """Yesterday in China: what the tests pay is put there."""
    return db_now().astimezone(CHINA).date() - timedelta(days=1)
