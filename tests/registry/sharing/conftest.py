"""Three organisations, and a repository of the first."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.registry.models import ImageTag
from tests.builders import platform
from tests.registry.sharing import kit
from tests.registry.sharing.kit import Labs


@pytest.fixture
def labs(db: None, tmp_path: Path, settings: LazySettings) -> Labs:
    settings.PLSTACK_HOME, settings.REGISTRY_HOST, settings.REGISTRY_SOCKET = str(tmp_path), kit.HOST, "/nowhere"
    with acting(platform()):
        return kit.make_labs()


@pytest.fixture
def tag(labs: Labs) -> ImageTag:
    with acting(platform()):
        return kit.keep(labs.world)
