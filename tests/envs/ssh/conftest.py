"""The front door's tests: a real OpenSSH client, a real environment of the local driver."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.common.scoping import acting
from apps.envs.models import Environment
from tests.builders import World, make_world, platform
from tests.envs.ssh.kit import Client, Desk, end_all, make_environment, open_door, run_environment
from tests.homes import home as home
from tests.homes import shared_home as shared_home


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def stopped(world: World) -> Environment:
    return make_environment(world)


@pytest.fixture
def running(world: World, stopped: Environment) -> Iterator[Environment]:
    yield run_environment(world, stopped)
    end_all(stopped)


@pytest.fixture
def desk(world: World, home: Path, tmp_path: Path) -> Iterator[Desk]:
    """A door that is open, and a place to keep keys and files."""
    with open_door(home) as (port, house):
        yield Desk(port, tmp_path, house)


@pytest.fixture
def alice(desk: Desk, world: World) -> Client:
    return desk.client(world.alice)
