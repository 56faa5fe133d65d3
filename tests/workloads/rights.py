"""What the tests of rights at a start share: who is there, what is submitted, and how work ends that never ran."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.billing.models import Hold, MeterSession
from apps.common.scoping import acting
from apps.storage import sharing, volumes
from apps.storage.choices import Right
from apps.storage.choosing import VOLUMES
from apps.storage.models import Volume, VolumeShare
from apps.tenants.choices import Role
from apps.tenants.models import Quota, User
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Placement, Workload
from apps.workloads.spec import DataMount
from tests.architecture import endings
from tests.architecture.endings import Holder
from tests.builders import World, actor_of, make_member, reload, submit_workload

LOST = {"removed": "membership", "disabled": "account", "role_lost": "role", "frozen": "frozen"}
ENDINGS = (*endings.OF_A_PERSON, endings.frozen)


@pytest.fixture
def admin(world: World) -> User:
    return make_member(world.organisation, "dora", Role.ADMIN)


@pytest.fixture
def bob(world: World) -> User:
    return make_member(world.organisation, "bob")


@pytest.fixture
def shared(world: World, bob: User, tmp_path: Path, settings: LazySettings) -> Volume:
    """Bob's volume, to which Alice may write."""
    settings.PLSTACK_HOME = tmp_path
    actor = actor_of(bob, world.organisation)
    with acting(actor):
        volume = volumes.create(actor, name="corpus", size_mib=10)
        sharing.share(actor, volume, user_id=world.alice.pk, right=Right.WRITE)
    return volume


def holder(world: World) -> Holder:
    return Holder(world.alice, world.organisation)


def submit(world: World, user: User | None = None, **changes: Any) -> Workload:
    actor = actor_of(user, world.organisation) if user else world.actor
    with acting(actor):
        return submit_workload(world, actor=actor, **changes)


def mounting(volume: Volume, *, read_only: bool = False) -> tuple[DataMount, ...]:
    return (DataMount(volume.relative_path, f"{VOLUMES}{volume.name}", read_only),)


def unshare(volume: Volume) -> None:
    actor = actor_of(volume.owner, volume.organisation)
    with acting(actor):
        sharing.unshare(actor, volume, user_id=VolumeShare.objects.filter(content_object=volume)[0].user_id)


def assert_never_ran(workload: Workload, reason: Reason = Reason.UNAUTHORISED) -> None:
    """Ended, with nothing charged and nothing held."""
    assert (reload(workload).status, workload.reason) == (Status.STOPPED, reason)
    assert workload.ended_at is not None
    assert workload.started_at is None
    assert not MeterSession.objects.filter(workload_id=workload.pk).exists()
    assert not Hold.objects.filter(workload_id=workload.pk, end__isnull=True).exists()
    assert not Placement.objects.filter(attempt__workload=workload, released_at__isnull=True).exists()


def held() -> int:
    return Quota.objects.filter(used__gt=0).count()
