"""Tests of searches on tables: people around one organisation, a home for the files, and the runtime's image."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.storage.models import DatasetVersion
from apps.workloads import nodes
from tests.builders import World, platform
from tests.people import alice, bob, charlie, dora, frank, staff, world
from tests.tabular.kit import make_runtime, make_version

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()


@pytest.fixture
def version(world: World) -> DatasetVersion:
    """Of a dataset with three tables."""
    with acting(platform()):
        make_runtime()
    return make_version(world)
