"""A laboratory that can pay by Alipay, at a gateway of its own."""

from collections.abc import Iterator

import pytest

from apps.common.actor import Actor
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.alipay.gateway import Gateway, serving
from tests.billing.builders import PLATFORM, make_member


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
