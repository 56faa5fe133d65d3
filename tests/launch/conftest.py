"""Copies of the platform in throw-away homes, sharing the environment that the tests run in."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plstack.launch.layout import ROOT, Layout
from tests.ports import free_port

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
    return free_port()


@pytest.fixture
def gateway_port() -> int:
    return free_port()


@pytest.fixture
def layout(home: Path, port: int, gateway_port: int) -> Layout:
    copy = Layout(root=ROOT, home=home, venv=Path(sys.prefix), host="127.0.0.1", port=port, gateway_port=gateway_port)
    copy.logs.mkdir()
    copy.run.mkdir()
    return copy


@pytest.fixture
def shell(home: Path, port: int, gateway_port: int) -> dict[str, str]:
    """The environment of someone who types `make run` for a copy of their own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    ports = {"PLSTACK_PORT": str(port), "PLSTACK_GATEWAY_PORT": str(gateway_port), "PLSTACK_SSH_PORT": str(free_port())}
    return env | ports | {"PLSTACK_HOME": str(home), "PLSTACK_VENV": sys.prefix}
