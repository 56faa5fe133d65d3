"""Files of a person whose account is deleted: into the recycle bin, without pulling them from under colleagues."""

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.storage import sharing, volumes
from apps.storage.choices import Right
from apps.storage.models import Volume
from apps.tenants.models import AccountDeletion
from apps.workloads.services import stop
from tests.builders import (
    World,
    actor_of,
    make_member,
    platform,
    submit_workload,
)
from tests.envs.kit import make as make_environment
from tests.storage.kit import make_volume
from tests.tenants.deletion.kit import erase, loop

pytestmark = pytest.mark.django_db


def test_files_go_to_the_bin_and_stay_restorable(world: World, boss: Actor) -> None:
    volume = make_volume(world.actor, "results")
    environment = make_environment(world, start=False)
    erase(boss, world.alice)
    with acting(platform()) as staff:
        assert Volume.objects.get(pk=volume.pk).purge_at is not None
        assert Environment.objects.get(pk=environment.pk).purge_at is not None
        assert AccountDeletion.objects.get().finished_at is not None
        volumes.restore(staff, Volume.objects.get(pk=volume.pk))
        assert Volume.objects.get(pk=volume.pk).deleted_at is None


def test_what_a_colleague_has_mounted_waits_without_keeping_the_name(world: World, boss: Actor) -> None:
    volume = make_volume(world.actor, "shared")
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
        colleague = actor_of(bob, world.organisation)
        sharing.share(world.actor, volume, user_id=bob.pk, right=Right.READ)
    with acting(colleague):
        mount = volumes.mount_of(volumes.get(colleague, volume.pk), "/data", read_only=True)
        workload = submit_workload(world, colleague, mounts=(mount,))
    assert erase(boss, world.alice).is_erased
    with acting(platform()):
        assert Volume.objects.get(pk=volume.pk).deleted_at is None
        assert AccountDeletion.objects.get().finished_at is None
        stop(platform(), workload)
    loop()
    with acting(platform()):
        assert Volume.objects.get(pk=volume.pk).deleted_at is not None
        assert AccountDeletion.objects.get().finished_at is not None


def test_shares_with_the_person_end(world: World, boss: Actor) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
        owner = actor_of(bob, world.organisation)
    volume = make_volume(owner, "data")
    with acting(owner):
        sharing.share(owner, volume, user_id=world.alice.pk, right=Right.READ)
    erase(boss, world.alice)
    with acting(platform()):
        assert volume.shares.count() == 0
        assert Volume.objects.get(pk=volume.pk).deleted_at is None
