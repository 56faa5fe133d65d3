"""Copies of the platform in throw-away homes, sharing the environment that the tests run in."""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plstack.launch.layout import ROOT, Layout

OURS = ("PLSTACK_", "DATABASE_", "REDIS_", "DJANGO_", "PYTEST_", "MAKE", "MFLAGS")


@pytest.fixture
def home() -> Iterator[Path]:
    """An empty home that the embedded servers' account can reach, unlike pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="plstack-launch-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def layout(home: Path, port: int) -> Layout:
    copy = Layout(root=ROOT, home=home, venv=Path(sys.prefix), host="127.0.0.1", port=port)
    copy.logs.mkdir()
    copy.run.mkdir()
    return copy


@pytest.fixture
def shell(home: Path, port: int) -> dict[str, str]:
    """The environment of someone who types `make run` for a copy of their own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return env | {"PLSTACK_HOME": str(home), "PLSTACK_PORT": str(port), "PLSTACK_VENV": sys.prefix}
