"""Mounts at a start: a volume or dataset that was taken away since the submission is not mounted."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.urls import reverse

from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.storage import datasets, sharing, volumes
from apps.storage.choices import Right, RootKind
from apps.storage.choosing import Chosen, mounts_of
from apps.storage.models import Volume
from apps.storage.mount_rights import lost_mounts
from apps.tenants.choices import Role
from apps.tenants.models import Membership, OrganisationRole, User
from apps.tenants.roles import permissions_of
from apps.workloads import faults, start_rights
from apps.workloads.choices import Reason, Status
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, actor_of, make_member, platform, reload, signed_in
from tests.storage.test_mounts import make_version
from tests.training.kit import submit as submit_run
from tests.training.kit import text
from tests.workloads.rights import assert_never_ran, mounting, submit, unshare
from tests.workloads.rights import bob as bob
from tests.workloads.rights import shared as shared


@pytest.mark.parametrize("read_only", [True, False])
def test_a_volume_that_is_not_shared_any_more_is_not_mounted(world: World, shared: Volume, read_only: bool) -> None:
    workload = submit(world, mounts=mounting(shared, read_only=read_only))
    other = submit(world)
    unshare(shared)
    assert run_pass(platform()) == 1
    assert_never_ran(workload, Reason.MOUNT_LOST)
    assert reload(other).status == Status.PLACED
    shown = faults.card(workload, None)
    assert shown is not None
    assert "“corpus”" in shown["text"]
    assert Notice.objects.filter(user=world.alice, kind="run.not_started").count() == 1


def test_a_volume_that_may_only_be_read_now_is_not_mounted_to_write(world: World, shared: Volume) -> None:
    writes = submit(world, mounts=mounting(shared))
    reads = submit(world, mounts=mounting(shared, read_only=True))
    actor = actor_of(shared.owner, world.organisation)
    with acting(actor):
        sharing.share(actor, shared, user_id=world.alice.pk, right=Right.READ)
    assert run_pass(platform()) == 1
    assert_never_ran(writes, Reason.MOUNT_LOST)
    assert writes.reason_data["right"] == "write"
    assert reload(reads).status == Status.PLACED


def test_a_volume_that_is_shared_again_in_time_is_mounted(world: World, shared: Volume) -> None:
    workload = submit(world, mounts=mounting(shared))
    unshare(shared)
    actor = actor_of(shared.owner, world.organisation)
    with acting(actor):
        sharing.share(actor, shared, user_id=world.alice.pk, right=Right.WRITE)
    assert run_pass(platform()) == 1
    assert reload(workload).status == Status.PLACED


@pytest.mark.parametrize("right", [None, Right.READ, Right.WRITE])
@pytest.mark.parametrize("role", [*Role, "reads", "nothing"])
def test_the_rule_is_that_of_choosing(world: World, shared: Volume, right: Right | None, role: Role | str) -> None:
    """What may be mounted at a start is exactly what the same person could choose for a new run."""
    charlie = make_member(world.organisation, "charlie")
    if isinstance(role, Role):
        Membership.objects.filter(user=charlie).update(role=role)
    else:
        allowed = [P.STORAGE_VIEW.value] if role == "reads" else []
        own = OrganisationRole.objects.create(organisation=world.organisation, name=role, permissions=allowed)
        Membership.objects.filter(user=charlie).update(own_role=own)
    owner = actor_of(shared.owner, world.organisation)
    if right is not None:
        with acting(owner):
            sharing.share(owner, shared, user_id=charlie.pk, right=right)
    actor = actor_of(charlie, world.organisation)
    with acting(actor):
        may_see = actor.may(P.STORAGE_VIEW) and volumes.visible(actor).filter(pk=shared.pk).exists()
        may_write = may_see and volumes.writable(actor).filter(pk=shared.pk).exists()
    granted = permissions_of(Membership.objects.select_related("own_role").get(user=charlie))
    for read_only, allowed_now in ((True, may_see), (False, may_write)):
        request = start_rights.MountRequest(
            shared.pk, world.organisation.pk, charlie.pk, granted, mounting(shared, read_only=read_only)
        )
        assert (lost_mounts([request]) == {}) == allowed_now


def test_a_dataset_that_is_not_shared_any_more_is_not_mounted(
    world: World, bob: User, tmp_path: Path, settings: LazySettings
) -> None:
    settings.PLSTACK_HOME = tmp_path
    version = make_version(world)
    chosen = (Chosen(RootKind.VERSION, version.pk),)
    with acting(world.actor):
        sharing.share(world.actor, version.dataset, user_id=bob.pk, right=Right.READ)
    actor = actor_of(bob, world.organisation)
    with acting(actor):
        mounts = mounts_of(actor, chosen)
    kept, lost = submit(world, mounts=mounts), submit(world, bob, mounts=mounts)
    with acting(world.actor):
        sharing.unshare(world.actor, version.dataset, user_id=bob.pk)
        assert datasets.get_version(world.actor, version.pk) == version
    assert run_pass(platform()) == 1
    assert reload(kept).status == Status.PLACED
    assert_never_ran(lost, Reason.MOUNT_LOST)
    assert lost.reason_data["name"] == "digits"


def test_its_pages_name_the_volume_that_was_taken_away(world: World, shared: Volume) -> None:
    run = submit_run(world, mounts=(Chosen(RootKind.VOLUME, shared.pk, read_only=False),))
    unshare(shared)
    run_pass(platform())
    client = signed_in(world.alice)
    page = text(client.get(reverse("training:of_workload", args=[run.workload_id]), follow=True))
    assert "Not started: its owner may not use its files any more" in page
    assert "Its owner may not read the volume “corpus” any more." in page
    assert "It never ran, so nothing was charged." in page
    assert "Not started: its owner may not use its files any more" in text(client.get(reverse("training:list")))
