"""Volumes: whose they are, what they hold of the quota, and how they go."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.storage import disk, sharing, usage, volumes
from apps.storage.choices import Right
from apps.storage.models import MIB, Volume
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from tests.builders import platform
from tests.storage.conftest import People
from tests.storage.kit import make_volume, put


def held(resource: Resource) -> int:
    with acting(platform()):
        row = Quota.objects.filter(user__isnull=True, department__isnull=True, resource=resource).first()
        return row.used if row else 0


def limit(people: People, resource: Resource, amount: int) -> None:
    with acting(platform()):
        quotas.set_limit(platform(), organisation_id=people.organisation.pk, resource=resource, limit=amount)


def test_a_volume_takes_quota_and_gives_it_back_when_the_bin_is_emptied(alice: Actor) -> None:
    volume = make_volume(alice, size_mib=100)
    assert (held(Resource.STORAGE_MIB), held(Resource.VOLUMES)) == (100, 1)
    with acting(alice):
        volumes.resize(alice, volume, size_mib=250)
        assert held(Resource.STORAGE_MIB) == 250
        volumes.resize(alice, volume, size_mib=50)
        volumes.delete(alice, volume)
        assert held(Resource.STORAGE_MIB) == 50
        volumes.purge(alice, volume)
    assert (held(Resource.STORAGE_MIB), held(Resource.VOLUMES)) == (0, 0)
    assert not volumes.root_of(volume).exists()


def test_no_more_than_the_quota_allows(people: People, alice: Actor) -> None:
    limit(people, Resource.STORAGE_MIB, 100)
    volume = make_volume(alice, size_mib=80)
    with acting(alice):
        with pytest.raises(QuotaExceeded):
            volumes.create(alice, name="more", size_mib=21)
        with pytest.raises(QuotaExceeded):
            volumes.resize(alice, volume, size_mib=101)
        assert volumes.visible(alice).count() == 1
        volumes.resize(alice, volume, size_mib=100)


def test_a_volume_shrinks_no_further_than_its_files(alice: Actor) -> None:
    volume = make_volume(alice, size_mib=10)
    put(volumes.root_of(volume), "file", b"x" * (3 * MIB))
    with acting(alice):
        usage.measure_row(volume)
        with pytest.raises(Invalid, match="files in it"):
            volumes.resize(alice, volume, size_mib=2)
        volumes.resize(alice, volume, size_mib=3)


@pytest.mark.parametrize("name", ["", "two words", "../up", "a/b", ".hidden", "x" * 61, "-rf"])
def test_names_that_are_no_folder_are_refused(alice: Actor, name: str) -> None:
    with acting(alice), pytest.raises(Invalid) as refused:
        volumes.create(alice, name=name, size_mib=1)
    assert "name" in refused.value.fields


def test_one_person_has_no_two_volumes_of_a_name(alice: Actor, bob: Actor) -> None:
    volume = make_volume(alice, "data")
    make_volume(bob, "data")
    with acting(alice):
        with pytest.raises(Invalid, match="already"):
            volumes.create(alice, name="Data", size_mib=1)
        volumes.delete(alice, volume)
        volumes.create(alice, name="data", size_mib=1)
        with pytest.raises(Conflict, match="name"):
            volumes.restore(alice, volume)


def test_colleagues_see_what_is_shared_and_write_only_where_they_may(people: People, alice: Actor, bob: Actor) -> None:
    volume = make_volume(alice)
    with acting(bob), pytest.raises(NotFound):
        volumes.get(bob, volume.pk)
    with acting(alice):
        sharing.share(alice, volume, user_id=people.bob.pk, right=Right.READ)
    with acting(bob):
        assert volumes.get(bob, volume.pk) == volume
        for act in (volumes.get_writable, lambda a, pk: volumes.delete(a, volume)):
            with pytest.raises(Denied):
                act(bob, volume.pk)
    with acting(alice):
        sharing.share(alice, volume, user_id=people.bob.pk, right=Right.WRITE)
        assert [(share.user, share.right) for share in sharing.shares(volume)] == [(people.bob, Right.WRITE)]
    with acting(bob):
        assert volumes.get_writable(bob, volume.pk) == volume
        with pytest.raises(Denied):
            sharing.share(bob, volume, user_id=people.admin.pk, right=Right.READ)
        sharing.unshare(bob, volume, user_id=people.bob.pk)
        with pytest.raises(NotFound):
            volumes.get(bob, volume.pk)


def test_a_stranger_finds_nothing_and_cannot_be_given_anything(people: People, alice: Actor, charlie: Actor) -> None:
    volume = make_volume(alice)
    with acting(charlie):
        with pytest.raises(NotFound):
            volumes.get(charlie, volume.pk)
        with pytest.raises(NotFound):
            volumes.by_code(charlie, volume.code)
    with acting(alice), pytest.raises(Invalid, match="member"):
        sharing.share(alice, volume, user_id=people.charlie.pk, right=Right.READ)


def test_the_bin_empties_itself_after_its_days(alice: Actor) -> None:
    volume = make_volume(alice)
    with acting(alice):
        volumes.delete(alice, volume)
        assert not volumes.visible(alice).exists()
        assert volumes.binned(alice).get() == volume
    with acting(platform()):
        assert volumes.purge_due(platform()) == 0
        Volume.objects.filter(pk=volume.pk).update(purge_at=timezone.now() - timedelta(seconds=1))
        assert volumes.purge_due(platform()) == 1
        assert disk.empty_trash() == 1
        actions = list(Entry.objects.filter(target_type="volume").order_by("pk").values_list("action", flat=True))
    assert actions == ["volume.created", "volume.deleted", "volume.purged"]


def test_a_budget_never_passes_the_limit(alice: Actor) -> None:
    volume = make_volume(alice, size_mib=20)
    with acting(alice):
        with usage.write_budget(volume) as first, usage.write_budget(volume) as second:
            for _step in range(9):
                first.take(MIB)
                second.take(MIB)
            with pytest.raises(QuotaExceeded, match="full"):
                first.take(20 * MIB)
        volume.refresh_from_db()
        assert volume.used_bytes == 18 * MIB


def test_what_a_program_wrote_is_found_and_told_once(alice: Actor) -> None:
    volume = make_volume(alice, size_mib=1)
    put(volumes.root_of(volume), "file", b"x" * (2 * MIB))
    with acting(platform()):
        assert usage.measure_due() == 1
        assert usage.measure_due() == 0
        volume.refresh_from_db()
        assert (volume.used_bytes, volume.file_count, volume.is_over) == (2 * MIB, 1, True)
        assert volumes.mount_of(volume, "/volumes/work", read_only=False).read_only
        usage.measure_row(volume)
        assert Notice.objects.filter(kind="storage.volume_over_limit").count() == 1
        (volumes.root_of(volume) / "file").unlink()
        usage.measure_row(volume)
        volume.refresh_from_db()
    assert volume.over_since is None
    assert not volumes.mount_of(volume, "/volumes/work", read_only=False).read_only


def test_a_large_volume_has_room_for_large_files(alice: Actor) -> None:
    """Beyond what 32 bits count."""
    volume = make_volume(alice, size_mib=50_000_000)
    with acting(alice), usage.write_budget(volume) as budget:
        budget.take(40_000_000 * MIB)
        with pytest.raises(QuotaExceeded):
            budget.take(40_000_000 * MIB)
