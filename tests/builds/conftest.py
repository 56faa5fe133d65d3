"""Builds' tests: people around one organisation, and a home of their own for the files."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.builds.specification import CODE
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.workloads import nodes
from tests.builders import World, platform
from tests.builds.kit import debian_image
from tests.builds.machine import box, pushed
from tests.people import alice, bob, charlie, dora, frank, staff, world

sys.path.append(str(CODE))  # as in the sandbox, where its files lie beside each other

__all__ = ["alice", "bob", "box", "charlie", "dora", "frank", "pushed", "staff", "world"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()


@pytest.fixture
def debian(world: World) -> Image:
    with acting(platform()):
        return debian_image()
