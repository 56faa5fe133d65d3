"""A platform whose own machine takes no work: a node beside it joins by itself."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.billing.models import Package
from apps.clusters.models import JoinToken, LogicalCluster, Node
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.workloads import tasks
from apps.workloads.hardware import removal
from apps.workloads.nodes import MARKER
from tests.builders import platform
from tests.ports import free_port

ROOT = Path(__file__).parents[2]


@pytest.fixture
def apart(settings: LazySettings, tmp_path: Path) -> Path:
    """The platform's folder."""
    settings.PLSTACK_LOCAL_NODE = False
    settings.PLSTACK_HOME = tmp_path / "platform"
    settings.PLSTACK_HOME.mkdir()
    home: Path = settings.PLSTACK_HOME
    return home


def token_in(home: Path) -> Path:
    call_command("join_token", "--file", str(home / "node" / "token"))
    return home / "node" / "token"


def test_its_own_machine_is_no_node(db: None, apart: Path, settings: LazySettings) -> None:
    call_command("first_data", stdout=StringIO())
    tasks.discover()
    assert not Node.objects.exists()
    assert Package.objects.count() >= 2, "cut for a machine like this one, which joins"
    settings.PLSTACK_LOCAL_NODE = True
    tasks.discover()
    assert Node.objects.get().driver == "local"


def test_a_node_from_before_can_be_taken_away(db: None, apart: Path, settings: LazySettings) -> None:
    settings.PLSTACK_LOCAL_NODE = True
    tasks.discover()
    node = Node.objects.get()
    Node.objects.update(status="cordoned")
    with acting(platform()):
        with pytest.raises(Conflict, match="runs the platform itself"):
            removal.remove_node(platform(), node_id=node.pk)
        settings.PLSTACK_LOCAL_NODE = False
        removal.remove_node(platform(), node_id=node.pk)
    assert not Node.objects.exists()


def test_the_command_leaves_a_token_for_its_owner_only(db: None, apart: Path) -> None:
    file = token_in(apart)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("pln_")
    assert (apart / "data" / MARKER).exists()
    row = JoinToken.objects.get()
    assert row.uses_left == 1
    assert row.cluster == LogicalCluster.objects.get()
    first = file.read_text()
    assert token_in(apart).read_text() != first
    assert [name.name for name in file.parent.iterdir()] == ["token"]


def test_a_token_that_cannot_be_written_says_where(db: None, apart: Path) -> None:
    (apart / "node").write_text("a file, no folder")
    with pytest.raises(CommandError, match="node/token cannot be written"):
        token_in(apart)


@pytest.mark.django_db(transaction=True)
def test_it_joins_past_the_proxy_and_only_once(
    live_server: Any, apart: Path, settings: LazySettings, tmp_path: Path
) -> None:
    """The site answers to its own name by https alone, and the node still reaches it inside."""
    settings.ALLOWED_HOSTS = ["ai.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    file, home, port = token_in(apart), tmp_path / "node", str(free_port())

    def join(server: str = "https://ai.example.org", *more: str) -> subprocess.CompletedProcess[str]:
        words = ["join", "--once", "--no-run", "--server", server, "--token-file", str(file), "--home", str(home)]
        words += ["--data", str(apart / "data"), "--name", "node", "--port", port, "--address", "http://node:8765"]
        return subprocess.run(
            [sys.executable, "-m", "plstack.agent", *words, *more], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60, check=False,
        )  # fmt: skip

    refused = join(live_server.url)
    assert refused.returncode == 1, "plain http is sent to https, where nobody listens"
    done = join("https://ai.example.org", "--via", live_server.url)
    assert done.returncode == 0, done.stderr
    node = Node.objects.get()
    assert (node.name, node.driver, node.address, node.joins) == ("node", "remote", "http://node:8765", 1)

    file.unlink()
    again = join("https://other.example.org", "--via", live_server.url)
    assert again.returncode == 0, again.stderr
    node.refresh_from_db()
    assert node.joins == 1
    known = json.loads((home / "agent.json").read_text())
    assert (known["server"], known["via"]) == ("https://other.example.org", live_server.url)


def test_without_a_token_it_says_so(apart: Path, tmp_path: Path) -> None:
    words = ["join", "--server", "http://127.0.0.1:9", "--token-file", str(tmp_path / "none")]
    (apart / "data").mkdir()
    (apart / "data" / MARKER).write_text("x")
    done = subprocess.run(
        [sys.executable, "-m", "plstack.agent", *words, "--home", str(tmp_path), "--data", str(apart / "data")],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 1
    assert "holds no token" in done.stderr
