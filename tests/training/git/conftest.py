"""A Git server whose authority staff trust, and whose private address the operator allows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.tenants import settings as store
from apps.workloads.software_sources import SourceSettings
from tests.builders import platform
from tests.training.git.server import GitServer, git_server


@pytest.fixture
def server(db: None, tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with git_server(tmp_path / "server") as found:
        settings.EGRESS, settings.EGRESS_ALLOW = "public", [found.host]
        with acting(platform()):
            store.put(platform(), SourceSettings(certificates=found.authority))
        yield found
