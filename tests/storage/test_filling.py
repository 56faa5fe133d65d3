"""A volume holds so many files and folders and no more, however they come; a hostile tree is measured without harm."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.common.actor import Actor
from apps.common.errors import QuotaExceeded
from apps.common.scoping import acting
from apps.envs.ssh import writing as sftp
from apps.envs.ssh.namespace import Place, Spot
from apps.notifications.models import Notice
from apps.storage import copying, disk, jobs, operations, safe_open, texts, unpacking, uploads, usage, volumes
from apps.storage.choices import JobStatus
from apps.storage.models import Volume, folders
from apps.storage.roots import Root, row_of
from tests.builders import platform
from tests.storage.kit import put, work

LIMIT = 10


@pytest.fixture
def full(root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> Root:
    """A volume that takes `LIMIT` files and folders and holds as many."""
    for module in (folders, usage):
        monkeypatch.setattr(module, "LEAST_FILES", LIMIT)
        monkeypatch.setattr(module, "MIB_FILES", 0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one.txt", "1")
    put(root.path, "a.zip", packed.getvalue())
    for number in range(3):
        put(root.path, f"{number}.txt", "x")
    with acting(platform()):
        usage.measure_row(row_of(root))
    with acting(alice):
        assert row_of(root).file_count == LIMIT == len(list(root.path.rglob("*")))
    return root


def _job(job: Callable[[], object]) -> None:
    """The refusal of a job, as the exception that the others raise."""
    made = job()
    work()
    made.refresh_from_db()  # type: ignore[attr-defined]
    if made.status == JobStatus.FAILED:  # type: ignore[attr-defined]
        raise QuotaExceeded(made.error)  # type: ignore[attr-defined]


def _sftp(root: Root, act: Callable[[Spot, sftp.WriteBudget], object]) -> None:
    try:
        act(Spot(Place((), root), ("new",)), sftp.WriteBudget(root))
    except sftp.LimitReached as error:
        raise QuotaExceeded(error.text) from error


WAYS: dict[str, Callable[[Actor, Root], object]] = {
    "folder": lambda _actor, root: operations.create_folder(root, "", "new"),
    "text": lambda _actor, root: texts.write_text(root, "new", "", etag=None),
    "upload": lambda actor, root: uploads.begin(actor, root, path="new", size=0),
    "unpack": lambda actor, root: _job(lambda: unpacking.start(actor, root, "a.zip")),
    "copy": lambda actor, root: _job(lambda: copying.start(actor, root, ["0.txt"], root, "sub")),
    "copy folder": lambda actor, root: _job(lambda: copying.start(actor, root, ["sub"], root, "")),
    "sftp": lambda _actor, root: _sftp(root, lambda spot, to: sftp.open_file(spot, os.O_WRONLY | os.O_CREAT, 0, to)),
    "sftp folder": lambda _actor, root: _sftp(root, sftp.create_folder),
    "sftp link": lambda _actor, root: _sftp(root, lambda spot, to: sftp.link(spot, "x", to)),
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_one_more_is_refused_in_words_and_a_place_that_is_freed_is_taken(full: Root, alice: Actor, way: str) -> None:
    before = sorted(full.path.rglob("*"))
    with acting(alice):
        with pytest.raises(QuotaExceeded, match="10 files and folders"):
            WAYS[way](alice, full)
        assert sorted(full.path.rglob("*")) == before
        assert row_of(full).file_count == LIMIT
        operations.delete(full, ["1.txt", "2.txt", "notes.txt"])
        assert row_of(full).file_count == LIMIT - 3
        WAYS[way](alice, full)


def test_replacing_a_file_needs_no_room_for_another(full: Root, alice: Actor) -> None:
    with acting(alice):
        texts.write_text(full, "0.txt", "new", etag=texts.read_text(full, "0.txt").etag)
        assert row_of(full).file_count == LIMIT


def test_what_a_program_makes_beyond_it_is_told_and_mounted_read_only(full: Root, alice: Actor) -> None:
    for number in range(5):
        (full.path / f"empty {number}").mkdir()
    with acting(platform()):
        usage.measure_row(row_of(full))
        volume = Volume.objects.get(pk=full.id)
        assert volume.is_over
        assert not volume.is_over_size
        assert volumes.mount_of(volume, "/v", read_only=False).read_only
        notice = Notice.objects.get(kind="storage.volume_over_limit")
    assert (notice.data["files"], notice.data["most_files"]) == (LIMIT + 5, LIMIT)


def _nested(root: Path, depth: int) -> Iterator[int]:
    """Folders in folders, made as a program makes them: step by step."""
    descriptor = os.open(root, os.O_RDONLY)
    for level in range(depth):
        os.mkdir("d", dir_fd=descriptor)
        child = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = child
        yield level
    os.close(descriptor)


def test_a_tree_deeper_than_any_stack_is_measured_and_removed(root: Root, alice: Actor) -> None:
    for _level in _nested(root.path / "sub", 3000):
        pass
    with acting(platform()):
        usage.measure_row(row_of(root))
    with acting(alice):
        assert row_of(root).is_over, "what cannot be counted is no place to hide in"
        assert operations.delete(root, ["sub"]) == 1
    disk.empty_trash()
    assert list(disk.trash().iterdir()) == []
    with acting(platform()):
        usage.measure_row(row_of(root))
    with acting(alice):
        assert not row_of(root).is_over


def test_a_tree_of_too_many_is_not_walked_to_its_end(full: Root) -> None:
    for number in range(200):
        put(full.path, f"many/{number}", "")
    assert usage.measure(full.path, most=40).entries == 41
    assert not usage.measure(full.path, most=40).complete


def test_a_copy_of_a_folder_nested_too_deep_says_so(root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_open, "MAX_DEPTH", 20)
    for _level in _nested(root.path / "sub", 40):
        pass
    with acting(alice):
        job = copying.start(alice, root, ["sub"], root, "")
    work()
    with acting(alice):
        job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert "20" in job.error
    assert not disk.staging(job.organisation_id, job.pk).exists()


def test_a_bomb_in_a_volume_is_refused_before_anything_is_written(root: Root, alice: Actor) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"zeros{number}", b"\0" * (1 << 20))
    put(root.path, "bomb.zip", packed.getvalue())
    with acting(alice):
        before = row_of(root).used_bytes
        job = unpacking.start(alice, root, "bomb.zip")
        work()
        job.refresh_from_db()
        assert (job.status, job.done_bytes) == (JobStatus.FAILED, 0)
        assert row_of(root).used_bytes == before
    assert not (root.path / "bomb").exists()


def test_a_person_may_have_so_many_jobs_waiting(root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_OPEN", 2)
    with acting(alice):
        first = [copying.start(alice, root, ["notes.txt"], root, "sub") for _ in range(2)]
        assert [jobs.ahead_of(job) for job in first] == [0, 1]
        with pytest.raises(Exception, match="waiting"):
            copying.start(alice, root, ["notes.txt"], root, "sub")


def test_a_measurement_while_something_is_written_loses_nothing(root: Root, alice: Actor) -> None:
    """Room is reserved ahead in steps; what a measurement has left out is not given back once more."""
    with acting(alice):
        row = row_of(root)
        with usage.write_budget(row) as budget:
            budget.take(1, 1)
            put(root.path, "one.txt", "x")
            with acting(platform()):
                usage.measure_row(row_of(root))
        there = len(list(root.path.rglob("*")))
        assert row_of(root).file_count >= there
        assert row_of(root).used_bytes > 0
        with usage.write_budget(row) as budget:
            budget.take(0, 1)
        assert row_of(root).file_count == there + 1
