"""The remote driver against the contract, its agent a process of its own; and what only a line can do wrong."""

import http.client
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import CannotSee, Handle, IsolationLevel, LaunchRefused, Mount, Phase
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.remote import client, codec, signing
from apps.workloads.drivers.remote.driver import RemoteDriver
from apps.workloads.drivers.request import DATA
from tests.drivers.agents import Agent
from tests.drivers.contract import DriverContract
from tests.drivers.indexes import index
from tests.drivers.kit import Kit


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder that platform and agent share."""
    folder = tmp_path_factory.mktemp("shared")
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def agent(home: Path, shared: Path) -> Iterator[Agent]:
    """One for all tests of this module; whatever its workloads leave running is ended with it."""
    before = set(LocalDriver(home, IsolationLevel.L0).known())
    found = Agent(home, shared, shared)
    found.start()
    yield found
    found.kill()
    local = LocalDriver(home, IsolationLevel.L0)
    for ref in set(local.known()) - before:
        processes.end_marked(MARKER, ref, 5)
        with suppress(CannotSee):
            local.observe(Handle("local", "far", ref))


def kit_of(agent: Agent, shared: Path, name: str) -> Kit:
    code, output = shared / name / "code", shared / name / "output"
    for folder in (code, output):
        folder.mkdir(parents=True)
    return Kit(RemoteDriver(lambda node: agent.peer, lambda tenant: None), code, output, root=shared)


@pytest.fixture
def kit(agent: Agent, shared: Path, request: pytest.FixtureRequest) -> Kit:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]
    if agent.process is None:
        agent.start()
    return kit_of(agent, shared, name)


class TestRemoteDriver(DriverContract):
    """All of it, through the line."""


def sleeping(kit: Kit) -> Handle:
    handle = kit.launch(kit.python("import time; print('ready', flush=True); time.sleep(60)"))
    kit.wait_output(handle, "ready")
    return handle


def test_work_goes_on_without_its_agent_and_is_seen_again(agent: Agent, kit: Kit) -> None:
    handle = sleeping(kit)
    ran = kit.wait(handle, lambda seen: seen.ran_for_s is not None).ran_for_s
    agent.kill()
    with pytest.raises(CannotSee):
        kit.driver.observe(handle)
    with pytest.raises(CannotSee):  # a node that is known to be silent is not waited for
        kit.driver.observe(handle)
    agent.start()
    seen = kit.driver.observe(handle)
    assert seen.phase is Phase.RUNNING
    assert seen.ran_for_s >= ran
    kit.driver.stop(handle, 0)
    kit.wait(handle)


def test_an_old_secret_opens_nothing(agent: Agent, kit: Kit) -> None:
    handle = sleeping(kit)
    stranger = RemoteDriver(lambda node: replace(agent.peer, secret=b"another"), lambda tenant: None)
    with pytest.raises(CannotSee):
        stranger.observe(handle)
    with pytest.raises(CannotSee):
        stranger.stop(handle, 0)
    assert kit.driver.observe(handle).phase is Phase.RUNNING
    kit.driver.stop(handle, 0)
    kit.wait(handle)


def test_what_was_said_once_is_not_heard_twice(agent: Agent) -> None:
    body = b"{}"
    headers = signing.request_headers(agent.secret, agent.node_id, "POST", "/v1/known", body)
    assert [post(agent, headers, body), post(agent, headers, body)] == [200, 403]
    late = signing.request_headers(agent.secret, agent.node_id, "POST", "/v1/known", body)
    assert post(agent, late, b'{"x": 1}') == 403


def post(agent: Agent, headers: dict[str, str], body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=60)
    connection.request("POST", "/v1/known", body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_an_answer_that_nobody_signed_is_no_answer(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "answer_signature", lambda *parts: "0" * 64)
    with pytest.raises(CannotSee):
        client.call(agent.peer, "known", {})


def test_only_the_shared_folder_is_mounted(kit: Kit, tmp_path: Path) -> None:
    with pytest.raises(LaunchRefused) as refusal:
        kit.launch(kit.request("true", mounts=(Mount(DATA, f"../{tmp_path.name}", "/workspace/code", read_only=True),)))
    assert refusal.value.code == "bad_mount"
    (kit.code.parent / "link").symlink_to(tmp_path)
    with pytest.raises(LaunchRefused):
        kit.launch(kit.request("true", mounts=(kit.mount(kit.code.parent / "link", "/workspace/code"),)))


def test_the_shared_folder_may_be_mounted_elsewhere_on_the_node(home: Path, shared: Path, tmp_path: Path) -> None:
    other = Agent(tmp_path / "agent", shared, Path("/srv/platform/data"))
    other.start()
    try:
        kit = kit_of(other, shared, "elsewhere")
        (kit.code / "told.txt").write_text("42")
        mount = Mount(DATA, "elsewhere/code", "/workspace/code", read_only=True)
        ended, text = kit.run(kit.request("cat", "told.txt", mounts=(mount,)))
        assert ended.succeeded, text
        assert text == "42"
    finally:
        other.kill()


def test_what_makes_no_sense_is_refused_in_words(agent: Agent) -> None:
    with pytest.raises(CannotSee):
        client.call(agent.peer, "logs", {"ref": "x"})
    assert json.dumps(agent.driver.known("far"))


def test_a_platform_of_before_mounts_named_volumes_sends_paths(home: Path, shared: Path, tmp_path: Path) -> None:
    other = Agent(tmp_path / "agent", shared, Path("/srv/platform/data"))
    other.start()
    try:
        kit = kit_of(other, shared, "older")
        (kit.code / "told.txt").write_text("42")
        request = kit.request("cat", "told.txt")
        asked = codec.request_out(request)
        for mount, name in zip(asked["request"]["mounts"], ("code", "output"), strict=True):
            del mount["volume"], mount["subpath"]
            mount["source"] = f"/srv/platform/data/older/{name}"
        client.call(other.peer, "launch", {"request": asked, "uid": None})
        handle = Handle("remote", "far", str(request.attempt_id))
        assert kit.wait_exit(handle).succeeded
        assert kit.text(handle) == "42"
        asked["request"] |= {"attempt_id": str(uuid4())}
        asked["request"]["mounts"][0]["source"] = str(tmp_path)
        with pytest.raises(LaunchRefused):
            client.call(other.peer, "launch", {"request": asked, "uid": None})
    finally:
        other.kill()


def test_an_agent_says_what_its_machine_reaches(agent: Agent, tmp_path: Path) -> None:
    driver = RemoteDriver(lambda node: agent.peer, lambda tenant: None)
    with index(tmp_path) as campus:
        well = driver.probe_sources("far", campus.sources)
        assert [(each.kind, each.said) for each in well] == [("pip", None), ("npm", None)]
        failed = driver.probe_sources(
            "far", replace(campus.sources, npm_registry=f"https://localhost:{campus.port}/x/")
        )
    assert [each.said is None for each in failed] == [True, False]
