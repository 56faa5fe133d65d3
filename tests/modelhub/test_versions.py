"""A version is what was copied, whole or failed; it never changes, and only who may read it mounts it."""

import hashlib

import pytest
from django.db import IntegrityError, transaction

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.modelhub import mounted, selectors, services
from apps.modelhub.choices import VersionState
from apps.modelhub.models import Model, ModelVersion
from apps.storage import disk, housekeeping, jobs, sharing, volumes
from apps.storage.choices import Right, RootKind
from apps.storage.models import Job, Manifest, StoredObject, Volume
from apps.storage.roots import resolve
from apps.tenants.choices import Resource
from apps.workloads.spec import DataMount
from apps.workloads.start_rights import MountRequest
from tests.builders import platform
from tests.modelhub.kit import again, make_model, make_version, queue_version, volume_with
from tests.storage.conftest import People
from tests.storage.kit import put, work
from tests.storage.test_volumes import held, limit

FILES = {"out/model.onnx": b"weights" * 1000, "out/labels.txt": b"a\nb\n", "README.md": b"digits"}


@pytest.fixture
def volume(alice: Actor) -> Volume:
    return volume_with(alice, FILES)


@pytest.fixture
def model(alice: Actor) -> Model:
    return make_model(alice)


@pytest.fixture
def version(alice: Actor, model: Model, volume: Volume) -> ModelVersion:
    return make_version(alice, model, volume, "out")


def files_of(actor: Actor, version: ModelVersion) -> set[str]:
    with acting(actor):
        root = resolve(actor, RootKind.MODEL, version.pk).path
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_version_is_what_the_folder_was_and_its_digest_can_be_checked(
    alice: Actor, version: ModelVersion, volume: Volume
) -> None:
    put(volumes.root_of(volume), "out/labels.txt", "changed")
    sums = [(hashlib.sha256(FILES[f"out/{name}"]).hexdigest(), name) for name in ("labels.txt", "model.onnx")]
    printed = "".join(f"{digest}  {name}\n" for digest, name in sums).encode()  # as sha256sum does
    assert files_of(alice, version) == {"labels.txt", "model.onnx"}
    assert (version.state, version.number, version.file_count, version.total_bytes) == ("ready", 1, 2, 7004)
    assert version.digest == hashlib.sha256(printed).hexdigest()


def test_one_file_alone_becomes_a_version(alice: Actor, model: Model, volume: Volume) -> None:
    version = make_version(alice, model, volume, "out/model.onnx")
    assert files_of(alice, version) == {"model.onnx"}
    with pytest.raises(Invalid) as refused:
        queue_version(alice, model, volume, "out/missing.onnx")
    assert "path" in refused.value.fields


def test_versions_pay_only_for_what_is_new_and_give_it_back(alice: Actor, model: Model, volume: Volume) -> None:
    put(volumes.root_of(volume), "out/model.onnx", b"x" * (3 << 20))
    first = make_version(alice, model, volume)
    before = held(Resource.STORAGE_MIB)
    put(volumes.root_of(volume), "out/new.bin", b"y" * (1 << 20))
    second = make_version(alice, model, volume)
    assert (second.shared_bytes, held(Resource.STORAGE_MIB)) == (first.total_bytes, before + 1)
    with acting(alice):
        services.delete_version(alice, second)
        assert held(Resource.STORAGE_MIB) == before
        services.delete(alice, model)
        services.purge(alice, selectors.get_binned(alice, model.pk))
    with acting(platform()):
        housekeeping.sweep()
        assert not StoredObject.objects.exists()
    assert held(Resource.STORAGE_MIB) == 100  # the volume's


def test_old_jobs_are_forgotten_and_their_versions_stay(alice: Actor, version: ModelVersion) -> None:
    with acting(platform()):
        Job.objects.update(ended_at="2020-01-01T00:00Z")
        housekeeping.sweep()
        assert not Job.objects.exists()
        assert Manifest.objects.filter(pk=str(version.manifest_id), entries__isnull=False).exists()


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"metrics": {"accuracy": 1}}, {"state": "copying"}])
def test_the_database_refuses_to_change_a_version(version: ModelVersion, change: dict[str, object]) -> None:
    with acting(platform()):
        with pytest.raises(IntegrityError), transaction.atomic():
            ModelVersion.objects.filter(pk=version.pk).update(**change)
        assert ModelVersion.objects.filter(pk=version.pk).update(note="a word") == 1


def test_a_refusal_of_the_quota_fails_the_version_and_leaves_no_contents(
    people: People, alice: Actor, model: Model, volume: Volume
) -> None:
    limit(people, Resource.STORAGE_MIB, 100)  # what the volume has
    version = make_version(alice, model, volume)
    assert version.state == VersionState.FAILED
    assert "Storage" in version.error
    with acting(platform()):
        assert not Manifest.objects.exists()
    assert not (disk.data_root() / version.relative_path).exists()


def test_cancelling_the_job_fails_the_version_which_may_be_deleted(alice: Actor, model: Model, volume: Volume) -> None:
    version = queue_version(alice, model, volume)
    with acting(alice):
        for act in (services.delete_version, mounted_at_opt):
            with pytest.raises(Conflict, match="being copied"):
                act(alice, version)
        found = jobs.latest_job(version.pk)
        assert found is not None
        jobs.cancel(alice, found)
    work()
    failed = again(alice, version)
    assert (failed.state, failed.error) == (VersionState.FAILED, "It was cancelled.")
    with acting(alice):
        with pytest.raises(Conflict, match="could not be copied"):
            mounted.mount(alice, failed, "/model")
        services.delete_version(alice, failed)


def mounted_at_opt(actor: Actor, version: ModelVersion) -> DataMount:
    return mounted.mount(actor, version, "/opt/model")


def lost(people: People, name: str, mount: DataMount, *, without: frozenset[Permission] = frozenset()) -> bool:
    """Whether the kernel would refuse to start work of this person with the mount."""
    actor = people.actor(name)
    granted = frozenset(actor.permissions) - without
    request = MountRequest(people.organisation.pk, actor.organisation(), actor.person(), granted, (mount,))
    with acting(platform()):
        return bool(mounted.lost_mounts([request]))


def test_who_may_read_a_version_mounts_it_and_the_kernel_asks_the_same(
    people: People, alice: Actor, bob: Actor, charlie: Actor, version: ModelVersion
) -> None:
    with acting(alice):
        mount = mounted_at_opt(alice, version)
    assert (mount.source, mount.read_only) == (version.relative_path, True)
    assert not lost(people, "alice", mount)
    assert lost(people, "alice", mount, without=frozenset({Permission.MODELS_VIEW}))
    for open_to_all, share in ((False, False), (True, False), (False, True)):
        with acting(alice):
            services.change(alice, version.model, open_to_all=open_to_all)
            if share:
                sharing.share(alice, version.model, user_id=people.bob.pk, right=Right.READ)
            version.model.refresh_from_db()
        sees = open_to_all or share
        with acting(bob):
            assert selectors.choosable(bob).exists() is sees
        assert lost(people, "bob", mount) is not sees
        assert lost(people, "charlie", mount)
        with acting(charlie), pytest.raises(NotFound):
            mounted_at_opt(charlie, version)
    with acting(bob), pytest.raises(Denied):
        selectors.get_writable(bob, version.model_id)
    with acting(alice):
        services.delete(alice, version.model)
    assert lost(people, "alice", mount)
