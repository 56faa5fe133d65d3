"""Runs behind a real agent read datasets from the copies of their machine."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import (
    CannotSee,
    ExitReason,
    Handle,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    MountCopy,
    Phase,
)
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.dataset_cache import DatasetCache
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.remote import codec
from apps.workloads.drivers.said import Code
from tests.drivers.agents import Agent
from tests.drivers.datasets import READS, TARGET, published
from tests.drivers.kit import Kit, eventually, shim_of
from tests.drivers.test_remote import kit_of


def test_an_agent_of_before_takes_requests_without_copies(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    kit = Kit(None, tmp_path, tmp_path, root=tmp_path)
    plain = kit.python("pass")
    told = codec.request_out(plain)
    assert all("copy" not in mount for mount in told["mounts"])
    assert codec.request_in(told) == plain
    _, copy = published(tmp_path)
    asked = replace(plain, mounts=(replace(kit.mount(tmp_path / "tree", TARGET), copy=copy),))
    assert codec.request_in(json.loads(json.dumps(codec.request_out(asked)))) == asked


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    folder.chmod(0o755)
    return folder


@pytest.fixture
def agent(tmp_path: Path, shared: Path) -> Iterator[Agent]:
    home = tmp_path / "agent"
    home.mkdir()
    found = Agent(home, shared, shared)
    found.start()
    yield found
    found.kill()
    local = LocalDriver(home, IsolationLevel.L0)
    for ref in local.known():
        processes.end_marked(MARKER, ref, 5)
        with suppress(CannotSee):
            local.observe(Handle("local", "far", ref))


@pytest.fixture
def kit(agent: Agent, shared: Path) -> Kit:
    return kit_of(agent, shared, uuid4().hex)


def asking(kit: Kit, source: str, tree: Path, copy: MountCopy, **changes: Any) -> LaunchRequest:
    request = kit.python(source, **changes)
    mount = replace(kit.mount(tree, TARGET), copy=copy)
    return replace(request, mounts=(*request.mounts, mount))


def kept_by(agent: Agent) -> list[str]:
    return sorted(path.name for path in (agent.home / "datasets").glob("[0-9a-f]*-*") if path.is_dir())


def test_a_run_reads_the_copy_and_later_runs_share_it(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared)
    tenant = uuid4()
    ended, text = kit.run(asking(kit, READS, tree, copy, tenant_id=tenant))
    assert ended.succeeded, text
    assert text == "first 1024000\nread-only\n"
    assert kept_by(agent) == [f"{tenant}-{copy.digest}"]
    made = agent.home / "datasets" / f"{tenant}-{copy.digest}" / "tree" / "big"
    before = made.stat().st_ino
    shutil.rmtree(tree)  # what follows has it from the copy alone
    tree.mkdir()
    ended, text = kit.run(asking(kit, READS, tree, copy, tenant_id=tenant))
    assert text == "first 1024000\nread-only\n"
    assert made.stat().st_ino == before


def test_another_tenant_with_the_same_content_has_a_copy_of_its_own(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared)
    one, other = uuid4(), uuid4()
    for tenant in (one, other):
        assert kit.run(asking(kit, READS, tree, copy, tenant_id=tenant))[0].succeeded
    assert kept_by(agent) == sorted(f"{tenant}-{copy.digest}" for tenant in (one, other))
    sees = (
        "import os\nprint([name for name in os.listdir('/') if 'agent' in name], os.path.exists(os.environ['HIDDEN']))"
    )
    place = str(agent.home / "datasets")
    _, text = kit.run(kit.python(sees, env={"HIDDEN": place}, tenant_id=other))
    if "L1" in str(kit.driver.isolation("far").level):
        assert text == "[] False\n"


def test_damage_ends_the_start_and_keeps_nothing(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared)
    (tree / "big").write_bytes(b"?" * 1_024_000)
    handle = kit.launch(asking(kit, READS, tree, copy))
    seen = kit.wait(handle)
    assert seen.exit is not None
    assert seen.exit.reason is ExitReason.MOUNT_FAILED
    assert seen.exit.said is not None
    assert seen.exit.said.code is Code.DATASET_DAMAGED
    assert seen.ran_for_s is None  # nothing to charge
    assert kept_by(agent) == []


def test_what_does_not_fit_the_cache_is_read_where_it_is(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared, cache_mib=0)
    ended, text = kit.run(asking(kit, READS, tree, copy))
    assert ended.succeeded, text
    assert text.startswith("first 1024000")
    assert kept_by(agent) == []


def slow_tree(shared: Path) -> tuple[Path, MountCopy]:
    """With a file that is there only once `release` is called: the storage is away until then."""
    tree, copy = published(shared)
    (tree / "run.sh").rename(tree / "aside")
    return tree, copy


def copying(kit: Kit, handle: Handle, code: Code) -> None:
    eventually(
        lambda: kit.driver.observe(handle).progress,
        lambda progress: progress is not None and progress.said.code is code,
    )


@pytest.fixture
def away(shared: Path) -> Iterator[Callable[[], None]]:
    """The storage is away, so far as the marker tells, until it is called."""
    marker, aside = shared / ".plstack-root", shared / "aside-root"
    marker.rename(aside)

    def back() -> None:
        if aside.exists():
            aside.rename(marker)

    yield back
    back()


def test_a_killed_agent_and_a_broken_line_do_not_end_a_copy(
    agent: Agent, kit: Kit, shared: Path, away: Callable[[], None]
) -> None:
    tree, copy = slow_tree(shared)
    handle = kit.launch(asking(kit, READS, tree, copy))
    copying(kit, handle, Code.WAITING_FOR_STORAGE)
    assert kit.driver.observe(handle).phase is Phase.MOUNT
    agent.kill()
    (tree / "aside").rename(tree / "run.sh")
    away()
    agent.start()
    assert kit.wait_exit(handle).succeeded
    assert kit.text(handle) == "first 1024000\nread-only\n"


def test_a_killed_copy_is_gone_on_with_by_the_next_run(
    agent: Agent, kit: Kit, shared: Path, away: Callable[[], None]
) -> None:
    tree, copy = slow_tree(shared)
    tenant = uuid4()
    handle = kit.launch(asking(kit, READS, tree, copy, tenant_id=tenant))
    copying(kit, handle, Code.WAITING_FOR_STORAGE)
    os.kill(shim_of(handle), signal.SIGKILL)
    assert kit.wait_exit(handle).reason is ExitReason.LOST
    left = agent.home / "datasets" / f".new-{tenant}-{copy.digest}" / "tree" / "big"
    assert left.stat().st_size == 1_024_000
    before = left.stat().st_ino
    (tree / "aside").rename(tree / "run.sh")
    (tree / "big").write_bytes(b"")  # so whoever has it has it from the part that was left
    away()
    ended, text = kit.run(asking(kit, READS, tree, copy, tenant_id=tenant))
    assert ended.succeeded, text
    made = agent.home / "datasets" / f"{tenant}-{copy.digest}" / "tree" / "big"
    assert made.stat().st_ino == before


def test_two_runs_at_once_copy_once_and_a_stop_leaves_the_other_going(
    agent: Agent, kit: Kit, shared: Path, away: Callable[[], None]
) -> None:
    tree, copy = slow_tree(shared)
    tenant = uuid4()
    first = kit.launch(asking(kit, READS, tree, copy, tenant_id=tenant))
    copying(kit, first, Code.WAITING_FOR_STORAGE)
    second = kit.launch(asking(kit, READS, tree, copy, tenant_id=tenant))
    copying(kit, second, Code.WAITING_FOR_COPY)
    kit.driver.stop(first, 1.0)
    assert kit.wait_exit(first).reason is ExitReason.STOPPED
    copying(kit, second, Code.WAITING_FOR_STORAGE)
    (tree / "aside").rename(tree / "run.sh")
    away()
    assert kit.wait_exit(second).succeeded


def test_a_live_run_keeps_its_copy_when_the_cache_is_emptied(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared)
    handle = kit.launch(asking(kit, "import time; print('up', flush=True); time.sleep(60)", tree, copy))
    kit.wait_output(handle, "up")
    cache = DatasetCache(agent.home)
    cache.trim(0)
    assert len(kept_by(agent)) == 1
    kit.driver.stop(handle, 0.0)
    kit.wait_exit(handle)
    eventually(lambda: (cache.trim(0), kept_by(agent))[1], lambda kept: not kept)


@pytest.mark.parametrize(
    "changes", [{"digest": "../../etc"}, {"digest": "A" * 64}, {"listing": "../x"}, {"listing": "/x"}]
)
def test_names_that_lead_elsewhere_are_refused(agent: Agent, kit: Kit, shared: Path, changes: dict[str, str]) -> None:
    tree, copy = published(shared)
    with pytest.raises(LaunchRefused):
        kit.launch(asking(kit, READS, tree, replace(copy, **changes)))


def test_only_what_is_read_only_is_copied(agent: Agent, kit: Kit, shared: Path) -> None:
    tree, copy = published(shared)
    request = asking(kit, READS, tree, copy)
    writable = replace(request.mounts[-1], read_only=False)
    with pytest.raises(LaunchRefused):
        kit.launch(replace(request, mounts=(*request.mounts[:-1], writable)))
