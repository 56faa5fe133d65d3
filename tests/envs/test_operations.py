"""Snapshots, restoring, releasing: what the loop carries out, and what it does when something fails."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.envs.choices import SnapshotKind, StepStatus
from apps.envs.models import Environment, Operation, Snapshot, Watch
from apps.envs.policy import EnvironmentSettings
from apps.envs.reconcile import idle, saving
from apps.envs.services import expiry, images, running, snapshots
from apps.notifications.models import Notice
from apps.registry import selectors as registry
from apps.storage import trees
from apps.tenants import settings
from apps.workloads.choices import Reason, Status
from tests.builders import World, actor_of, make_member, platform
from tests.envs import kit


def newest(environment: Environment) -> Snapshot:
    with acting(platform()):
        found: Snapshot = Snapshot.objects.filter(environment=environment).latest("created_at")
        return found


def take(world: World, environment: Environment, note: str = "") -> Snapshot:
    with acting(world.actor):
        snapshots.take(world.actor, environment, note=note)
    kit.advance()
    return newest(environment)


def test_a_snapshot_keeps_the_files(world: World) -> None:
    made = kit.running(kit.make(world))
    kit.write(made, "deep/work.txt", "first")
    taken = take(world, made, "before the talk")
    assert (taken.kind, taken.note, taken.file_count) == (SnapshotKind.MANUAL, "before the talk", 1)
    assert taken.ready_at is not None
    assert kit.again(made).workload.status == Status.RUNNING  # type: ignore[union-attr]


def test_restoring_puts_files_back_and_keeps_what_was_there(world: World) -> None:
    made = kit.stopped(kit.make(world))
    kit.write(made, "work.txt", "first")
    taken = take(world, made)
    kit.write(made, "work.txt", "second")
    kit.write(made, "new.txt", "new")
    with acting(world.actor):
        snapshots.restore(world.actor, made, taken)
    kit.advance()
    assert (kit.home_of(made) / "work.txt").read_text() == "first"
    assert not (kit.home_of(made) / "new.txt").exists()
    safety = newest(made)
    assert (safety.kind, safety.file_count) == (SnapshotKind.BEFORE_CHANGE, 2)
    with acting(world.actor):
        snapshots.restore(world.actor, made, safety)
    kit.advance()
    assert (kit.home_of(made) / "new.txt").read_text() == "new"


def test_restoring_what_runs_stops_it_first_and_starts_it_again(world: World) -> None:
    made = kit.running(kit.make(world))
    kit.write(made, "work.txt", "x")
    with acting(world.actor):
        snapshots.restore(world.actor, made, None)
    kit.advance()
    assert kit.again(made).workload.status == Status.STOPPING  # type: ignore[union-attr]
    assert (kit.home_of(made) / "work.txt").exists()  # nothing is touched while it runs
    kit.stopped(made, Reason.CHANGED)
    kit.advance()
    assert list(kit.home_of(made).iterdir()) == []
    after = kit.again(made)
    assert (after.starts, after.workload.status) == (2, Status.QUEUED)  # type: ignore[union-attr]


def test_whoever_dies_in_the_middle_is_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kit.stopped(kit.make(world))
    kit.write(made, "work.txt", "first")
    taken = take(world, made)
    kit.write(made, "work.txt", "second")
    exchange = saving._exchange
    calls: list[int] = []

    def dies(root: Any, new: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("gone")
        exchange(root, new)

    monkeypatch.setattr(saving, "_exchange", dies)
    with acting(world.actor):
        operation = snapshots.restore(world.actor, made, taken)
    kit.advance()
    assert (kit.home_of(made) / "work.txt").read_text() == "second"
    kit.advance()
    assert (kit.home_of(made) / "work.txt").read_text() == "first"
    with acting(platform()):
        operation.refresh_from_db()
        assert operation.status == StepStatus.DONE
        assert Snapshot.objects.filter(environment=made).count() == 2  # the safety snapshot was not taken twice


def test_an_idle_environment_is_saved_then_released_and_resumed(world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    kit.write(made, "unsaved.ipynb", "{}")
    watch = kit.idle_for(made, 31)
    with acting(platform()):
        idle.warn_or_release(made, watch)
    kit.advance()
    released = kit.again(made)
    assert released.workload is not None
    assert (released.workload.status, released.workload.reason) == (Status.STOPPING, Reason.IDLE)
    assert newest(made).kind == SnapshotKind.BEFORE_RELEASE
    with acting(platform()):
        assert Notice.objects.filter(user=world.alice, kind="environment.released").count() == 1
    kit.stopped(made, Reason.IDLE)
    with acting(world.actor):
        running.start(world.actor, kit.again(made))
    assert (kit.home_of(made) / "unsaved.ipynb").read_text() == "{}"


def test_what_cannot_be_saved_is_not_released(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    watch = kit.idle_for(made, 31)

    def full(**_values: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(trees, "capture", full)
    with acting(platform()):
        idle.warn_or_release(made, watch)
    kit.advance(5)
    assert kit.again(made).workload.status == Status.RUNNING  # type: ignore[union-attr]
    with acting(platform()):
        assert Operation.objects.get(environment=made).status == StepStatus.FAILED
        assert Notice.objects.filter(user=world.alice, kind="environment.not_released").count() == 1
        assert Watch.objects.get(environment=made).save_failed_at is not None


def test_whoever_comes_back_while_it_is_saved_keeps_it(world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    watch = kit.idle_for(made, 31)
    with acting(platform()):
        idle.warn_or_release(made, watch)
    kit.idle_for(made, 0)
    kit.advance()
    assert kit.again(made).workload.status == Status.RUNNING  # type: ignore[union-attr]


def test_it_is_warned_once_before_it_is_released(world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    with acting(platform()):
        for _look in range(3):
            watch = kit.idle_for(made, 26)
            idle.warn_or_release(made, watch)
        assert Notice.objects.filter(user=world.alice, kind="environment.idle_soon").count() == 1
        assert not Operation.objects.exists()


def test_what_cannot_be_looked_into_counts_as_used(world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    kit.idle_for(made, 600)
    with acting(platform()):
        assert idle.watch_all(platform()) == 1  # no machine has it: nobody answers
        watch = Watch.objects.get(environment=made)
        assert (watch.cause, Operation.objects.count()) == ("unseen", 0)
        assert db_now() - watch.busy_at < timedelta(minutes=1)


def test_one_that_hangs_delays_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hangs", "second", "third"):
        kit.running(kit.make(world, name=name))
    seen: list[str] = []
    others_seen = threading.Event()

    def inside(task: Any) -> dict[str, Any]:
        if task.environment.name == "hangs":
            assert others_seen.wait(60), "the others wait for the one that hangs"
        return {}

    def act(environment: Environment, _watch: Watch) -> None:
        seen.append(environment.name)
        if {"second", "third"} <= set(seen):
            others_seen.set()

    monkeypatch.setattr(idle, "_inside", inside)
    monkeypatch.setattr(idle, "warn_or_release", act)
    with acting(platform()):
        assert idle.watch_all(platform()) == 3
    assert seen[-1] == "hangs"


def test_keeping_it_holds_for_an_hour(world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    with acting(world.actor):
        running.keep(world.actor, made)
    kept = kit.again(made).keep_until
    assert kept is not None
    assert timedelta(minutes=59) < kept - db_now() <= timedelta(hours=1)


def test_automatic_snapshots_are_taken_and_thinned(world: World) -> None:
    with acting(platform()):
        settings.put(platform(), EnvironmentSettings(automatic_snapshots=2))
    made = kit.running(kit.make(world, snapshot_minutes=30))
    with acting(platform()):
        assert idle.snapshot_due(platform()) == 0  # it has just started
        for number in range(4):
            Snapshot.objects.update(created_at=db_now() - timedelta(hours=1))
            kit._as(made, started_at=db_now() - timedelta(hours=2))
            assert idle.snapshot_due(platform()) == 1, number
            kit.advance()
        kinds = list(Snapshot.objects.filter(environment=made).values_list("kind", flat=True))
    assert kinds == [SnapshotKind.AUTOMATIC] * 2


def test_a_snapshot_is_dropped_with_its_manifest(world: World) -> None:
    made = kit.stopped(kit.make(world))
    kit.write(made, "a", "a")
    taken = take(world, made)
    with acting(world.actor):
        snapshots.drop(world.actor, taken)
        assert not Snapshot.objects.filter(environment=made).exists()


def test_expiry_is_told_twice_and_then_stops(world: World) -> None:
    made = kit.running(kit.make(world, duration_days=1))
    with acting(platform()):
        for left in (timedelta(hours=23), timedelta(minutes=50)):
            end = db_now() + left
            Environment.objects.filter(pk=made.pk).update(expires_at=end)
            for _sweep in range(2):
                expiry.sweep(platform())
        assert Notice.objects.filter(user=world.alice, kind="environment.expiring").count() == 2
        Environment.objects.filter(pk=made.pk).update(expires_at=db_now())
        assert expiry.sweep(platform()) == 1
        assert expiry.sweep(platform()) == 0
    kit.advance()
    assert kit.again(made).workload.reason == Reason.EXPIRED  # type: ignore[union-attr]
    kit.stopped(made, Reason.EXPIRED)
    with acting(world.actor):
        with pytest.raises(Conflict):
            running.start(world.actor, made)
        with pytest.raises(Invalid):
            expiry.renew(world.actor, made, days=5)
        end_now = expiry.renew(world.actor, made, days=7)
        assert end_now is not None
        assert running.start(world.actor, kit.again(made)).starts == 2


def test_what_was_installed_becomes_an_image_of_ones_own(world: World) -> None:
    made = kit.stopped(kit.make(world))
    with acting(world.actor), pytest.raises(Invalid, match="Nothing was installed"):
        images.save(world.actor, made, name="mine")
    site = kit.home_of(made) / ".venv/lib/python3.11/site-packages"
    for name in ("six-1.17.0", "torch_geometric-2.7.0", "pip-26.3"):
        (site / f"{name}.dist-info").mkdir(parents=True)
    with acting(world.actor):
        image = images.save(world.actor, made, name="mine")
        assert image.requirements == ["six==1.17.0", "torch_geometric==2.7.0"]
        assert image in registry.images(world.actor)
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob):
        assert image not in registry.images(bob)


def test_a_link_in_the_home_leads_nowhere(world: World) -> None:
    made = kit.stopped(kit.make(world))
    (kit.home_of(made) / ".venv").symlink_to("/usr")
    with acting(world.actor):
        assert images.installed_packages(made) == []
