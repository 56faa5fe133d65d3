"""A source beside the site, and people who pull from it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from tests.registry.serving import Site
from tests.registry.transfers.sources import Source, serving_source


@pytest.fixture
def source(site: Site, tmp_path: Path, settings: LazySettings) -> Iterator[Source]:
    with serving_source(tmp_path / "source", settings) as found:
        yield found


@pytest.fixture
def guarded(site: Site, tmp_path: Path, settings: LazySettings) -> Iterator[Source]:
    with serving_source(tmp_path / "guarded", settings, guarded=True) as found:
        yield found
