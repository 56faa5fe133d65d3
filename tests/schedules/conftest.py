"""Tests of schedules: real Postgres, and a home of their own for the files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.workloads import nodes
from tests.people import alice, bob, charlie, dora, frank, staff, world

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()
