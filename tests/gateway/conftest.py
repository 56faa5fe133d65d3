"""The gateway's tests: real workloads of the local driver behind a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.workloads import nodes
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Workload
from tests.builders import World, make_world, platform
from tests.gateway.kit import Site, Visit, alice, enter, running, serve, submit_server
from tests.homes import home as home
from tests.homes import shared_home as shared_home


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def site(world: World, settings: LazySettings) -> Iterator[Site]:
    with running(settings) as copy:
        yield copy


@pytest.fixture
def lab(world: World, home: Path) -> Iterator[Workload]:
    """A running environment of Alice's; ended with the test, whatever its row says."""
    workload = serve(world)
    yield workload
    driver = nodes.local_driver()
    for attempt in workload.attempts.all():
        if attempt.handle:
            driver.stop(driver_handle(attempt.handle), 0)


def driver_handle(data: dict[str, str]) -> Handle:
    return Handle.from_dict(data)


@pytest.fixture
def visit(site: Site, world: World, lab: Workload) -> Visit:
    return enter(site, alice(world), lab)


@pytest.fixture
def queued(world: World) -> Workload:
    """An environment that has not started: enough where only being let in matters."""
    return submit_server(world)


@pytest.fixture
def visitor(site: Site, world: World, queued: Workload) -> Visit:
    return enter(site, alice(world), queued)
