"""People around one organisation, a machine that saves, and the platform's registry, another one than the base's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.registry.models import Image
from apps.workloads import nodes
from tests.builds.machine import box, pushed
from tests.people import alice, bob, charlie, dora, frank, staff, world
from tests.registry import serving
from tests.registry.serving import Site

__all__ = ["alice", "bob", "box", "charlie", "dora", "frank", "pushed", "staff", "world"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()


@pytest.fixture
def site(tmp_path: Path, settings: LazySettings, box: Image) -> Iterator[Site]:
    with serving.running(tmp_path, settings) as found:
        rules = settings.IMAGE_PULL_RULES
        settings.IMAGE_PULL_RULES = replace(rules, plain_http=(*rules.plain_http, found.host))
        yield found
