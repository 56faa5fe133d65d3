"""Making, starting, stopping and changing environments."""

from typing import Any

import pytest

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.envs.choices import State
from apps.envs.models import Environment, Operation
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import changing, create, recycle_bin, running
from apps.envs.services.changing import Change
from apps.envs.states import state_of
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_package,
    make_staff,
    platform,
    staff_actor,
)
from tests.envs import kit


def test_an_environment_is_made_and_queued(world: World) -> None:
    made = kit.make(world)
    assert made.workload is not None
    assert (made.workload.kind, made.workload.status, made.starts) == (ENVIRONMENT, Status.QUEUED, 1)
    assert made.code.startswith("env-")
    assert kit.home_of(made).is_dir()
    spec = made.workload.frozen_spec
    assert [mount.target for mount in spec.mounts] == ["/home/user", "/opt/plstack"]
    assert [port.name for port in spec.ports] == ["jupyter", "vscode", "tensorboard", "control"]
    assert [tool.name for tool in spec.tools] == ["jupyterlab", "tensorboard"]
    with acting(platform()):
        assert Entry.objects.filter(action="environment.created", target_id=str(made.pk)).count() == 1


def test_the_same_key_makes_one(world: World) -> None:
    first, second = kit.make(world, key="k"), kit.make(world, key="k")
    assert first.pk == second.pk
    with acting(world.actor):
        assert Environment.objects.count() == 1
        assert Workload.objects.count() == 1


def test_nothing_is_left_of_one_that_cannot_be_paid_for(world: World) -> None:
    with acting(platform()):
        dear = make_package(rate_fen=10_000_000)
    with pytest.raises(Exception, match="short"):
        kit.make(world, package_id=dear.pk)
    with acting(world.actor):
        assert not Environment.objects.exists()
    homes = kit.home_of_organisation(world)
    assert not homes.exists() or not any(homes.iterdir())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "a/b"}, "name"),
        ({"package_id": 999_999}, "package"),
        ({"idle_minutes": 0}, "idle"),
        ({"snapshot_minutes": 1}, "snapshot_minutes"),
        ({"duration_days": 17}, "duration_days"),
        ({"without_gpu": True}, "cpu_package"),
        ({"cpu_package_id": 999_999}, "cpu_package"),
    ],
)
def test_what_cannot_be_accepted_is_said_beside_its_field(world: World, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        kit.make(world, **changes)
    assert field in refusal.value.fields
    with acting(world.actor):
        assert not Environment.objects.exists()


def test_two_tabs_start_one(world: World) -> None:
    made = kit.stopped(kit.make(world))
    with acting(world.actor):
        running.start(world.actor, made)
        running.start(world.actor, made)
        assert Workload.objects.count() == 2  # the first start, and one more
    assert kit.again(made).starts == 2


def test_files_stay_over_restarts(world: World) -> None:
    made = kit.stopped(kit.make(world))
    kit.write(made, "work.txt", "kept")
    with acting(world.actor):
        started = running.start(world.actor, made)
    assert started.home_id == made.home_id
    assert (kit.home_of(started) / "work.txt").read_text() == "kept"


def test_what_is_stopping_is_not_started_again(world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(world.actor):
        running.stop(world.actor, made)
        assert state_of(kit.again(made), db_now()) is State.STOPPING
        with pytest.raises(Conflict, match="stopping"):
            running.start(world.actor, made)


def test_a_colleague_sees_nothing_and_the_admin_may_stop_but_not_start(world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        dora = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
        ella = staff_actor(make_staff())
    with acting(bob), pytest.raises(NotFound):
        running.stop(bob, made)
    with acting(dora):
        with pytest.raises(Denied):
            running.start(dora, made)
        running.stop(dora, made)
    made = kit.running(kit.make(world))
    with acting(ella):
        with pytest.raises(Denied):
            running.start(ella, made)
        recycle_bin.delete(ella, made)
    assert kit.again(made).deleted_at is not None


def test_states_follow_from_the_newest_start(world: World) -> None:
    made = kit.make(world, start=False)
    assert state_of(made, db_now()) is State.STOPPED
    with acting(world.actor):
        made = running.start(world.actor, made)
    assert state_of(made, db_now()) is State.QUEUED
    assert state_of(kit.running(made), db_now()) is State.RUNNING
    assert state_of(kit.stopped(made, Reason.IDLE), db_now()) is State.RELEASED
    with acting(world.actor):
        Environment.objects.filter(pk=made.pk).update(expires_at="2020-01-01T00:00Z")
        assert state_of(kit.again(made), db_now()) is State.EXPIRED
        with pytest.raises(Conflict, match="time has run out"):
            running.start(world.actor, made)
        recycle_bin.delete(world.actor, made)
    assert state_of(kit.again(made), db_now()) is State.BINNED


def test_a_change_of_what_runs_needs_a_restart(world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(platform()):
        other = make_package()
    with acting(world.actor):
        with pytest.raises(Conflict, match="restart"):
            changing.change(world.actor, made, Change(package_id=other.pk))
        assert not changing.change(world.actor, made, Change(name="renamed", idle_minutes=None))
        assert changing.change(world.actor, made, Change(package_id=other.pk), restart=True)
    kit.advance()
    assert kit.again(made).workload.status == Status.STOPPING  # type: ignore[union-attr]
    kit.stopped(made, Reason.CHANGED)
    kit.advance()
    started = kit.again(made)
    assert started.workload is not None
    assert (started.starts, started.workload.package_id, started.workload.status) == (2, other.pk, Status.QUEUED)
    assert (started.name, started.idle_minutes) == ("renamed", None)


def test_without_the_gpu_the_next_start_takes_the_other_package(world: World) -> None:
    with acting(platform()):
        cheap = make_package(rate_fen=36)
    made = kit.stopped(kit.make(world))
    with acting(world.actor):
        with pytest.raises(Conflict, match="without a GPU"):
            changing.set_gpu(world.actor, made, attached=False, restart=False)
        changing.set_gpu(world.actor, made, attached=False, restart=False, package_id=cheap.pk)
        started = running.start(world.actor, kit.again(made))
        assert started.workload is not None
        assert started.workload.package_id == cheap.pk
        kit.stopped(started)
        changing.set_gpu(world.actor, started, attached=True, restart=False)
        attached = running.start(world.actor, kit.again(started))
        assert attached.workload is not None
        assert attached.workload.package_id == world.package.pk


def test_the_bin_gives_back_and_empties_itself(world: World) -> None:
    made = kit.running(kit.make(world))
    kit.write(made, "work.txt", "kept")
    with acting(world.actor):
        recycle_bin.delete(world.actor, made)
        assert kit.again(made).workload.reason == Reason.RECYCLED  # type: ignore[union-attr]
        with pytest.raises(Conflict, match="bin"):
            running.start(world.actor, kit.stopped(made))
        with pytest.raises(Conflict):
            changing.change(world.actor, made, Change(name="x"))
        recycle_bin.restore(world.actor, made)
        assert (kit.home_of(made) / "work.txt").exists()
        recycle_bin.delete(world.actor, made)
        Environment.objects.filter(pk=made.pk).update(purge_at="2020-01-01T00:00Z")
    with acting(platform()):
        assert recycle_bin.purge_due(platform()) == 1
        assert not Environment.objects.filter(pk=made.pk).exists()
    assert not kit.home_of(made).exists()


def test_only_the_bin_is_purged(world: World) -> None:
    made = kit.make(world, start=False)
    with acting(world.actor), pytest.raises(Conflict, match="bin"):
        recycle_bin.purge(world.actor, made)


def test_the_longest_idle_time_is_the_platforms_to_say(world: World) -> None:
    with acting(platform()):
        settings.put(platform(), EnvironmentSettings(max_idle_minutes=60))
    with pytest.raises(Invalid):
        kit.make(world, idle_minutes=None)
    with pytest.raises(Invalid):
        kit.make(world, idle_minutes=120)
    assert kit.make(world, idle_minutes=60).idle_minutes == 60


def test_only_one_operation_at_a_time(world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(world.actor):
        running.stop(world.actor, made, snapshot=True)
        with pytest.raises(Conflict, match="being done"):
            running.stop(world.actor, made, snapshot=True)
        assert Operation.objects.filter(environment=made).count() == 1


def test_another_organisation_has_its_own(world: World) -> None:
    made = kit.make(world)
    with acting(platform()):
        stranger: Organisation = make_organisation()
        charlie = actor_of(make_member(stranger, "charlie", Role.ADMIN), stranger)
    with acting(charlie):
        assert not Environment.objects.exists()
        with pytest.raises(NotFound):
            running.start(charlie, made)
        request = kit.request_for(world, key="same")
        assert create.create(charlie, request).organisation_id == stranger.pk
