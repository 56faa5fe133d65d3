"""Datasets are copied to a machine once, checked, resumed, kept within a limit, and never taken from who uses them."""

import errno
import hashlib
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
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workloads.drivers.base import (
    CannotSee,
    ExitReason,
    Handle,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    MountCopy,
    Phase,
    Progress,
)
from apps.workloads.drivers.local import dataset_cache, dataset_copy, processes
from apps.workloads.drivers.local.dataset_cache import DatasetCache, Room, name_of
from apps.workloads.drivers.local.disk_floor import Space
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.mounting import MountFailed
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.said import Code
from tests.drivers.agents import Agent
from tests.drivers.kit import Kit, eventually, shim_of
from tests.drivers.test_remote import kit_of
from tests.searching import examples

TARGET = "/datasets/birds"
READS = (
    "import os, sys\n"
    "here = '/datasets/birds' if os.path.isdir('/datasets/birds') else os.environ['PLACE']\n"
    "print(open(here + '/a/one').read(), len(open(here + '/big', 'rb').read()))\n"
    "try: open(here + '/a/one', 'w'); print('written')\n"
    "except OSError: print('read-only')\n"
)
FILES = {"a/one": b"first", "big": bytes(range(256)) * 4000, "run.sh": b"#!/bin/sh\n"}


def noop(*_: object) -> None:
    pass


def published(data: Path, files: dict[str, bytes] | None = None, cache_mib: int = 100) -> tuple[Path, MountCopy]:
    """A version as the platform lays it down: its tree, and its listing beside."""
    files = FILES if files is None else files
    name = uuid4().hex
    tree, listing = data / "version" / name, data / "listings" / name
    lines = [json.dumps(["empty", 0, None, False])]
    (tree / "empty").mkdir(parents=True)
    for path, content in sorted(files.items()):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
        lines.append(json.dumps([path, len(content), hashlib.sha256(content).hexdigest(), path.endswith(".sh")]))
    listing.parent.mkdir(exist_ok=True)
    listing.write_text("\n".join(lines) + "\n")
    digest = hashlib.sha256(listing.read_bytes()).hexdigest()
    size = sum(map(len, files.values()))
    return tree, MountCopy(str(listing.relative_to(data)), digest, "birds v3", size, len(files), cache_mib)


def making(tmp_path: Path, tree: Path, copy: MountCopy, **changes: Any) -> dataset_copy.Making:
    cache = DatasetCache(tmp_path / "home")
    cache.folder.mkdir(parents=True, exist_ok=True)
    assert cache.make_room("x", copy) is Room.ENOUGH
    there = replace(copy, listing=str(tmp_path / copy.listing))
    fields = {"marker": None, "tick": noop, "report": noop, **changes}
    return dataset_copy.Making(there, tree, cache.draft_of("x"), **fields)


def contents(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


class GaveUp(Exception):
    pass


# One copy


def test_a_copy_is_the_tree_with_its_folders_and_modes(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    job = making(tmp_path, tree, copy)
    job.run()
    made = job.draft / "tree"
    assert contents(made) == FILES
    assert (made / "empty").is_dir()
    assert (made / "run.sh").stat().st_mode & 0o777 == 0o555
    assert (made / "big").stat().st_mode & 0o777 == 0o444


def test_progress_says_how_much_and_how_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_copy, "TELL_S", 0.0)
    monkeypatch.setattr(dataset_copy, "CHUNK", 100_000)
    tree, copy = published(tmp_path)
    told: list[Progress] = []
    job = making(tmp_path, tree, copy, report=told.append)
    job.began -= 2.0
    job.run()
    assert [each.said.code for each in told] == [Code.COPYING_DATASET] * len(told)
    shares = [each.fraction or 0.0 for each in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert len(set(shares)) > 5
    assert told[0].left_s is None
    assert told[len(told) // 2].left_s
    assert told[-1].left_s == 0.0


@settings(max_examples=examples(25), deadline=None)
@given(stops=st.lists(st.integers(0, 14), max_size=5))
def test_given_up_anywhere_the_next_ones_go_on_and_end_with_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int]
) -> None:
    tmp_path = tmp_path_factory.mktemp("copy")
    tree, copy = published(tmp_path)
    before, dataset_copy.CHUNK = dataset_copy.CHUNK, 100_000
    fetched = 0
    try:
        for stop in stops:
            left = iter(range(stop))

            def tick(left: Iterator[int] = left) -> None:
                if next(left, None) is None:
                    raise GaveUp

            job = making(tmp_path, tree, copy, tick=tick)
            with suppress(GaveUp):
                job.run()
            fetched += job.fetched
        last = making(tmp_path, tree, copy)
        last.run()
    finally:
        dataset_copy.CHUNK = before
    assert contents(last.draft / "tree") == FILES
    listing = (tmp_path / copy.listing).stat().st_size
    assert fetched + last.fetched <= copy.size + (len(stops) + 1) * listing  # nothing of it is fetched twice


def test_what_an_earlier_start_left_is_hashed_and_what_is_wrong_of_it_fetched_anew(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    job = making(tmp_path, tree, copy)
    (job.draft / "tree" / "a").mkdir(parents=True)
    (job.draft / "tree" / "a" / "one").write_bytes(b"fi")
    (job.draft / "tree" / "big").write_bytes(b"x" * 5000)
    (job.draft / "tree" / "run.sh").write_bytes(b"longer than it should be")
    job.run()
    assert contents(job.draft / "tree") == FILES


@pytest.mark.parametrize("content", [b"fir$t", b"fir", b"firsts", b""])
def test_a_damaged_file_is_named_and_not_kept(tmp_path: Path, content: bytes) -> None:
    tree, copy = published(tmp_path)
    (tree / "a" / "one").write_bytes(content)
    job = making(tmp_path, tree, copy)
    if content == b"firsts":  # what comes after its end is not read
        job.run()
        assert contents(job.draft / "tree") == FILES
        return
    with pytest.raises(MountFailed) as failed:
        job.run()
    assert failed.value.said.code is Code.DATASET_DAMAGED
    assert failed.value.said.params["path"] == "a/one"
    assert not (job.draft / "tree" / "a" / "one").exists()


def test_a_listing_that_was_changed_or_leads_outside_is_not_believed(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    with open(tmp_path / copy.listing, "a") as listing:
        listing.write(json.dumps(["more", 1, "00", False]) + "\n")
    with pytest.raises(MountFailed) as failed:
        making(tmp_path, tree, copy).run()
    assert failed.value.said.code is Code.DATASET_DAMAGED
    for path in ("/etc/x", "../x", "a/../../x"):
        (tmp_path / copy.listing).write_text(json.dumps([path, 1, "00", False]) + "\n")
        digest = hashlib.sha256((tmp_path / copy.listing).read_bytes()).hexdigest()
        with pytest.raises(MountFailed):
            making(tmp_path, tree, replace(copy, digest=digest)).run()
    assert not (tmp_path / "home" / "x").exists()


def test_while_the_storage_is_away_it_waits_and_then_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_copy, "LOOK_S", 0.01)
    monkeypatch.setattr(dataset_copy, "CHUNK", 100_000)
    tree, copy = published(tmp_path)
    marker, aside = tmp_path / ".plstack-root", tmp_path / "aside"
    marker.touch()
    told: list[Code] = []

    def tick() -> None:
        if job.fetched > 300_000 and not told.count(Code.WAITING_FOR_STORAGE) and tree.exists():
            marker.unlink()
            tree.rename(aside)

    def report(progress: Progress) -> None:
        told.append(progress.said.code)
        if told.count(Code.WAITING_FOR_STORAGE) == 5 and aside.exists():
            aside.rename(tree)
            marker.touch()

    job = making(tmp_path, tree, copy, tick=tick, report=report, marker=marker)
    job.run()
    assert told.count(Code.WAITING_FOR_STORAGE) >= 5
    assert contents(job.draft / "tree") == FILES


def test_storage_that_stays_away_and_files_that_are_gone_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_copy, "LOOK_S", 0.01)
    tree, copy = published(tmp_path)
    (tree / "big").unlink()
    with pytest.raises(MountFailed) as failed:
        making(tmp_path, tree, copy).run()
    assert failed.value.said.code is Code.DATASET_MISSING
    away = making(tmp_path, tree, copy, marker=tmp_path / "gone", patience_s=0.05)
    with pytest.raises(FileNotFoundError):
        away.run()


# The cache


def keep(cache: DatasetCache, name: str, size: int, at: float) -> None:
    copy = MountCopy("listing", "0" * 64, name, size, 1, 1000)
    assert cache.make_room(name, copy) is Room.ENOUGH
    (cache.draft_of(name) / "tree").mkdir()
    (cache.draft_of(name) / "tree" / "file").write_bytes(b"x" * size)
    cache.finish(name, copy)
    os.utime(cache.complete(name) / "record.json", (at, at))


@pytest.fixture
def cache(tmp_path: Path) -> DatasetCache:
    found = DatasetCache(tmp_path / "home")
    found.folder.mkdir(parents=True)
    return found


def wanting(size: int, cache_mib: int = 1) -> MountCopy:
    return MountCopy("listing", "1" * 64, "new", size, 1, cache_mib)


def names(cache: DatasetCache) -> list[str]:
    return sorted(name for _, _, name in cache.kept())


def test_what_was_used_longest_ago_goes_first_and_never_what_is_used(cache: DatasetCache) -> None:
    for index, name in enumerate(("a", "b", "c")):
        keep(cache, name, 300_000, 1000.0 + index)
    held = cache.hold_tree("a")
    os.utime(cache.complete("a") / "record.json", (900.0, 900.0))
    assert cache.make_room("d", wanting(400_000)) is Room.ENOUGH
    assert names(cache) == ["a", "c"]
    os.close(held)


def test_a_cache_that_is_too_small_or_in_use_keeps_what_it_has(cache: DatasetCache) -> None:
    keep(cache, "a", 900_000, 1000.0)
    assert cache.make_room("d", wanting(2_000_000)) is Room.CACHE_TAKEN
    held = cache.hold_tree("a")
    assert cache.make_room("d", wanting(400_000)) is Room.CACHE_TAKEN
    assert names(cache) == ["a"]
    os.close(held)


def test_room_is_promised_once_and_what_was_abandoned_gives_its_own_back(cache: DatasetCache) -> None:
    lock = cache.try_to_make_tree("d")
    assert lock is not None
    assert cache.make_room("d", wanting(700_000)) is Room.ENOUGH
    assert cache.make_room("e", wanting(700_000)) is Room.CACHE_TAKEN
    os.close(lock)
    assert cache.make_room("e", wanting(700_000)) is Room.ENOUGH
    assert not cache.draft_of("d").exists()


def test_a_disk_without_room_takes_none_whatever_the_limit(
    cache: DatasetCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(cache, "a", 1000, 1000.0)
    full = Space(free=50 << 20, total=1 << 40, free_files=0, total_files=0)
    monkeypatch.setattr(dataset_cache.Space, "of", classmethod(lambda cls, path: full))
    assert cache.make_room("d", wanting(500_000)) is Room.DISK_FULL
    assert names(cache) == []


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_the_cache_keeps_within_its_limit_but_for_what_is_used(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cache = DatasetCache(tmp_path_factory.mktemp("home"))
    cache.folder.mkdir(parents=True)
    held: dict[str, int] = {}
    for step in range(data.draw(st.integers(1, 8))):
        name = f"{step:x}"
        size = data.draw(st.integers(1, 900_000))
        if cache.make_room(name, wanting(size)) is Room.ENOUGH:
            (cache.draft_of(name) / "tree").mkdir()
            cache.finish(name, wanting(size))
            if data.draw(st.booleans()):
                held[name] = cache.hold_tree(name)
        assert sum(size for _, size, _ in cache.kept()) <= 1 << 20
        assert set(held) <= set(names(cache))
    cache.trim(0)
    assert names(cache) == sorted(held)
    for descriptor in held.values():
        os.close(descriptor)


def test_the_report_says_what_is_kept_and_how_fast(cache: DatasetCache) -> None:
    assert cache.report() == {"entries": [], "count": 0, "used_bytes": 0, "bytes_per_s": 0}
    tenant = uuid4()
    copy = replace(wanting(1000), digest="a" * 64)
    keep(cache, name_of(tenant, copy), 1000, 1000.0)
    cache.note_speed(10, 1.0)  # too little to tell anything
    assert cache.bytes_per_s() == 0
    cache.note_speed(4 << 20, 2.0)
    cache.note_speed(8 << 20, 2.0)
    assert cache.report() == {
        "entries": [{"organisation": str(tenant), "digest": "a" * 64, "bytes": 1000}],
        "count": 1,
        "used_bytes": 1000,
        "bytes_per_s": 3 << 20,
    }


# Real runs, behind a real agent


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


def test_a_full_disk_while_it_copies_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, copy = published(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(dataset_copy, "_write_all", full)
    with pytest.raises(OSError, match="No space"):
        making(tmp_path, tree, copy).run()
