"""Copying and unpacking as jobs: within the limit, and once whatever is killed."""

import io
import os
import zipfile
from typing import Any

import pytest

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.storage import copying, jobs, unpacking, usage
from apps.storage.choices import JobStatus
from apps.storage.models import MIB, Job, Volume
from apps.storage.roots import Root, row_of
from apps.tenants.models import Membership, User
from tests.builders import platform
from tests.storage.kit import names, put, used, work


def test_a_folder_is_copied_as_a_job(root: Root, alice: Actor) -> None:
    with acting(alice):
        job = copying.start(alice, root, ["sub", "notes.txt"], root, "")
        assert jobs.open_jobs_of(root.id).get() == job
    work()
    with acting(alice):
        job.refresh_from_db()
        assert (job.status, job.done_files) == (JobStatus.SUCCEEDED, 2)
    assert names(root) == ["sub", "sub (2)", "notes (2).txt", "notes.txt"]
    assert (root.path / "sub (2)" / "deep" / "data.csv").read_text() == "1,2\n"


def test_a_copy_that_was_killed_makes_no_second_copy(root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(alice):
        job = copying.start(alice, root, ["sub", "notes.txt"], root, "")
    monkeypatch.setattr(copying, "_copy_file", lambda *a: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        work()
    monkeypatch.undo()
    with acting(platform()):
        Job.objects.filter(pk=job.pk).update(beat_at="2020-01-01T00:00Z")
    work()
    assert names(root) == ["sub", "sub (2)", "notes (2).txt", "notes.txt"]


def test_a_copy_that_does_not_fit_says_so(root: Root, alice: Actor) -> None:
    put(root.path, "big.bin", os.urandom(6 * MIB))
    with acting(alice):
        usage.measure_row(row_of(root))
        job = copying.start(alice, root, ["big.bin"], root, "sub")
    work()
    with acting(alice):
        job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert "full" in job.error
    assert names(root, "sub") == ["deep"]


def test_a_zip_is_unpacked_beside_itself_within_the_limit(root: Root, alice: Actor) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/one.txt", "1")
    put(root.path, "sub/good.zip", packed.getvalue())
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * (20 * MIB))
    put(root.path, "bomb.zip", packed.getvalue())
    with acting(alice):
        good, bomb = unpacking.start(alice, root, "sub/good.zip"), unpacking.start(alice, root, "bomb.zip")
    work()
    with acting(alice):
        good.refresh_from_db()
        bomb.refresh_from_db()
        usage.measure_row(row_of(root))
    assert (good.status, bomb.status) == (JobStatus.SUCCEEDED, JobStatus.FAILED)
    assert (root.path / "sub" / "good" / "x" / "one.txt").read_text() == "1"
    assert used(root, alice) <= 11 * MIB


@pytest.mark.parametrize("loss", ["membership", "account", "volume"])
def test_a_copy_stops_in_the_middle_once_its_owners_right_has_ended(
    root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    monkeypatch.setattr(jobs, "RECHECK_S", 0.0)
    for number in range(5):
        put(root.path, f"many/{number}.txt")
    with acting(alice):
        job = copying.start(alice, root, ["many"], root, "sub")
    copy, copied = copying._copy_file, []

    def copy_and_lose(*arguments: Any) -> None:
        copy(*arguments)
        copied.append(arguments)
        with acting(platform()):
            if loss == "membership":
                Membership.objects.filter(user_id=alice.user_id).delete()
            elif loss == "account":
                User.objects.filter(pk=alice.user_id).update(is_active=False)
            else:
                Volume.objects.filter(pk=root.id).update(deleted_at=db_now(), purge_at=db_now())

    monkeypatch.setattr(copying, "_copy_file", copy_and_lose)
    work()
    with acting(platform()):
        job.refresh_from_db()
    assert (job.status, len(copied)) == (JobStatus.FAILED, 1)
    assert job.error
