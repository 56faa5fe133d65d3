"""A home for suites in which the local driver runs something: their conftest takes both fixtures from here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.workloads import nodes


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
