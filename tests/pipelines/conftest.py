"""Tests of pipelines: people around one organisation, and a home of their own for the files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from apps.workloads import nodes
from tests.builders import World
from tests.people import alice, bob, charlie, dora, frank, staff, world
from tests.pipelines.kit import Bench

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> Iterator[Path]:
    """Not by the fixture `settings`: that name is Hypothesis' in tests that search."""
    with override_settings(PLSTACK_HOME=tmp_path):
        nodes.local_driver.cache_clear()
        yield tmp_path
        nodes.local_driver.cache_clear()


@pytest.fixture
def bench(world: World) -> Bench:
    return Bench(world)
