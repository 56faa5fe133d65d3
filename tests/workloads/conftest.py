"""The kernel's tests: real Postgres, and where something runs, the real local driver in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.workloads import nodes
from tests.builders import World, make_world, platform


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all, so that the runtime is built once; names from ids keep the tests apart."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def home(shared_home: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = shared_home
    nodes.local_driver.cache_clear()
    yield shared_home
    nodes.local_driver.cache_clear()


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()
