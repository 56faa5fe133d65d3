"""The kernel's tests: real Postgres, and where something runs, the real local driver in a folder of its own."""

from collections.abc import Iterator

import pytest

from apps.common.scoping import acting
from tests.builders import World, make_world, platform
from tests.homes import home as home
from tests.homes import shared_home as shared_home
from tests.workloads.machines import Machine, joined


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One that joined; the world's own node is cordoned."""
    return joined(world, monkeypatch)
