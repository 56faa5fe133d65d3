"""Datasets: versions are complete or not there, never change, share what is equal, and give back what they held."""

import pytest

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.scoping import acting
from apps.storage import (
    datasets,
    disk,
    drafts,
    frozen_trees,
    housekeeping,
    jobs,
    objects,
    sharing,
    states,
    trees,
    versions,
    volumes,
    working,
)
from apps.storage.choices import JobStatus, Right, RootKind
from apps.storage.models import Dataset, DatasetVersion, Folder, Job, Manifest, StoredObject, Volume
from apps.storage.roots import resolve, root_of_folder
from apps.tenants.choices import Resource
from tests.builders import platform
from tests.storage.conftest import People
from tests.storage.kit import make_volume, put
from tests.storage.test_volumes import held, limit

MIB = 1 << 20


@pytest.fixture
def volume(alice: Actor) -> Volume:
    volume = make_volume(alice, size_mib=20)
    root = volumes.root_of(volume)
    put(root, "train/a.bin", b"a" * (2 * MIB))
    put(root, "train/b.bin", b"b" * (2 * MIB))
    put(root, "README.md", "digits")
    (root / "link").symlink_to("/etc/passwd")
    return volume


@pytest.fixture
def dataset(alice: Actor) -> Dataset:
    with acting(alice):
        return datasets.create(alice, name="digits")


def work() -> None:
    with acting(platform()):
        working.run_due_jobs()


def make_version(actor: Actor, dataset: Dataset, volume: Volume, path: str = "") -> DatasetVersion:
    with acting(actor):
        versions.start(actor, dataset, resolve(actor, RootKind.VOLUME, volume.pk), path, note="note")
    work()
    with acting(actor):
        found = datasets.versions(dataset).first()
        assert found is not None, jobs.latest_job(dataset.pk)
        return found


def files(version: DatasetVersion) -> dict[str, int]:
    root = datasets.root_of(version)
    return {str(p.relative_to(root)): p.stat().st_size for p in root.rglob("*") if p.is_file()}


def test_a_version_is_what_the_folder_was(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    version = make_version(alice, dataset, volume)
    assert files(version) == {"train/a.bin": 2 * MIB, "train/b.bin": 2 * MIB, "README.md": 6}
    assert (version.number, version.file_count, version.total_bytes) == (1, 3, 4 * MIB + 6)
    put(volumes.root_of(volume), "README.md", "changed")
    assert (datasets.root_of(version) / "README.md").read_text() == "digits"


def test_versions_share_what_is_equal_and_pay_for_the_rest(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    first = make_version(alice, dataset, volume)
    assert held(Resource.STORAGE_MIB) == 20 + 5
    put(volumes.root_of(volume), "train/c.bin", b"c" * MIB)
    second = make_version(alice, dataset, volume)
    assert (second.number, second.shared_bytes) == (2, first.total_bytes)
    assert held(Resource.STORAGE_MIB) == 20 + 5 + 1
    same = datasets.root_of(first) / "train" / "a.bin"
    assert same.samefile(datasets.root_of(second) / "train" / "a.bin")


def test_a_folder_inside_a_volume_becomes_the_version(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    assert set(files(make_version(alice, dataset, volume, "train"))) == {"a.bin", "b.bin"}


def test_two_versions_are_compared(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    first = make_version(alice, dataset, volume)
    root = volumes.root_of(volume)
    put(root, "train/new.bin", "new")
    put(root, "README.md", "changed")
    (root / "train" / "b.bin").unlink()
    second = make_version(alice, dataset, volume)
    with acting(alice):
        found = {
            change: [entry.path for entry in versions.compare(first, second, change)]
            for change in ("added", "changed", "removed")
        }
    assert found == {"added": ["train/new.bin"], "changed": ["README.md"], "removed": ["train/b.bin"]}


def test_uploads_become_a_version_and_leave_the_draft(alice: Actor, dataset: Dataset) -> None:
    with acting(alice):
        draft = root_of_folder(drafts.draft_of(alice, dataset))
        put(draft.path, "data.csv", "1,2\n")
        versions.start(alice, dataset, draft)
    work()
    with acting(alice):
        version = datasets.versions(dataset).get()
        assert files(version) == {"data.csv": 4}
        assert not Folder.objects.filter(pk=draft.id).exists()
    assert not draft.path.exists()


def test_a_draft_has_no_more_room_than_the_quota_leaves(people: People, alice: Actor, dataset: Dataset) -> None:
    limit(people, Resource.STORAGE_MIB, 30)
    make_volume(alice, size_mib=20)
    with acting(alice):
        assert drafts.draft_of(alice, dataset).size_mib == 10


def test_a_version_that_the_quota_refuses_leaves_nothing(
    people: People, alice: Actor, dataset: Dataset, volume: Volume
) -> None:
    limit(people, Resource.STORAGE_MIB, 22)
    with acting(alice):
        job = versions.start(alice, dataset, resolve(alice, RootKind.VOLUME, volume.pk))
    work()
    with acting(alice):
        job.refresh_from_db()
        assert job.status == JobStatus.FAILED
        assert "Storage" in job.error
        assert not DatasetVersion.objects.exists()
        assert not Manifest.objects.exists()
    with acting(platform()):
        objects.collect_garbage()
        assert not StoredObject.objects.exists()


def test_an_empty_folder_makes_no_version(alice: Actor, dataset: Dataset) -> None:
    with acting(alice):
        job = versions.start(alice, dataset, root_of_folder(drafts.draft_of(alice, dataset)))
    work()
    with acting(alice):
        job.refresh_from_db()
    assert (job.status, job.error) == (JobStatus.FAILED, "There is no file in this folder.")


@pytest.mark.parametrize("place", ["capture", "materialise", "_publish"])
def test_a_worker_that_is_killed_anywhere_is_followed_by_one_that_finishes(
    alice: Actor, dataset: Dataset, volume: Volume, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    module = {"capture": trees, "materialise": frozen_trees}.get(place, versions)
    real = getattr(module, place)

    def die(*args: object, **kwargs: object) -> None:
        if place != "capture":
            real(*args, **kwargs)
        raise SystemExit

    with acting(alice):
        job = versions.start(alice, dataset, resolve(alice, RootKind.VOLUME, volume.pk))
    monkeypatch.setattr(module, place, die)
    with pytest.raises(SystemExit):
        work()
    monkeypatch.undo()
    with acting(platform()):
        Job.objects.filter(pk=job.pk).update(beat_at="2020-01-01T00:00Z")
    work()
    with acting(alice):
        job.refresh_from_db()
        assert job.status == JobStatus.SUCCEEDED
        assert datasets.versions(dataset).get().file_count == 3
        assert Manifest.objects.count() == 1
    assert held(Resource.STORAGE_MIB) == 25


def test_a_cancelled_version_is_never_there(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    with acting(alice):
        job = versions.start(alice, dataset, resolve(alice, RootKind.VOLUME, volume.pk))
        with pytest.raises(Conflict, match="being made"):
            versions.start(alice, dataset, resolve(alice, RootKind.VOLUME, volume.pk))
        jobs.cancel(alice, job)
    work()
    with acting(alice):
        assert not datasets.versions(dataset).exists()


def test_a_child_that_was_too_slow_writes_nothing(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    with acting(alice):
        job = versions.start(alice, dataset, resolve(alice, RootKind.VOLUME, volume.pk))
    with acting(platform()):
        slow = states.claim(job.pk)
        assert slow is not None
        assert states.claim(job.pk) is None
        Job.objects.filter(pk=slow.pk).update(beat_at="2020-01-01T00:00Z")
        assert states.claim(job.pk) is not None
        assert not states.report_progress(slow, files=1, size=1)
        assert not states.finish(slow, JobStatus.SUCCEEDED)


def test_the_bin_gives_everything_back(alice: Actor, dataset: Dataset, volume: Volume) -> None:
    version = make_version(alice, dataset, volume)
    with acting(alice):
        datasets.delete(alice, dataset)
        with pytest.raises(NotFound):
            datasets.get_version(alice, version.pk)
        datasets.restore(alice, dataset)
        assert datasets.get_version(alice, version.pk) == version
        datasets.delete(alice, dataset)
        datasets.purge(alice, dataset)
    with acting(platform()):
        housekeeping.sweep()
        assert not StoredObject.objects.exists()
        assert not Manifest.objects.exists()
    disk.empty_trash()
    assert held(Resource.STORAGE_MIB) == 20
    assert not datasets.root_of(version).exists()


def test_colleagues_read_what_is_shared_and_add_versions_where_they_may(
    people: People, alice: Actor, bob: Actor, dataset: Dataset, volume: Volume
) -> None:
    version = make_version(alice, dataset, volume)
    with acting(bob), pytest.raises(NotFound):
        resolve(bob, RootKind.VERSION, version.pk)
    with acting(alice):
        sharing.share(alice, dataset, user_id=people.bob.pk, right=Right.READ)
    with acting(bob):
        assert not resolve(bob, RootKind.VERSION, version.pk).writable
        with pytest.raises(Denied):
            resolve(bob, RootKind.VERSION, version.pk, write=True)
        with pytest.raises(Denied):
            drafts.draft_of(bob, dataset)
    with acting(alice):
        sharing.share(alice, dataset, user_id=people.bob.pk, right=Right.WRITE)
    with acting(bob):
        assert drafts.draft_of(bob, dataset).kind == "draft"


def test_rights_are_asked_again_when_the_work_begins(people: People, alice: Actor, bob: Actor, volume: Volume) -> None:
    with acting(alice):
        sharing.share(alice, volume, user_id=people.bob.pk, right=Right.READ)
    with acting(bob):
        dataset = datasets.create(bob, name="taken")
        job = versions.start(bob, dataset, resolve(bob, RootKind.VOLUME, volume.pk))
    with acting(alice):
        sharing.unshare(alice, volume, user_id=people.bob.pk)
    work()
    with acting(bob):
        job.refresh_from_db()
    assert job.status == JobStatus.FAILED
