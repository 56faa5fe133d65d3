"""Homes are saved by the files process, a child for each operation, which is killed where it takes too long."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from apps.common.scoping import acting
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.reconcile import saving
from apps.envs.reconcile.chores import OPERATIONS
from apps.envs.services import snapshots
from apps.storage.runner import Runner
from tests.builders import World, platform
from tests.envs import kit

pytestmark = pytest.mark.django_db(transaction=True)


def ask(world: World, environment: Environment) -> None:
    with acting(world.actor):
        snapshots.take(world.actor, environment, note="")


def turn_until(runner: Runner, reached: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while True:
        runner.turn()
        with acting(platform()):
            if reached():
                return
        assert time.monotonic() < until, "it never came about"
        time.sleep(0.05)


def test_a_snapshot_is_taken_in_a_child(world: World) -> None:
    made = kit.running(kit.make(world))
    kit.write(made, "work.txt", "first")
    ask(world, made)
    runner = Runner((replace(OPERATIONS, every_s=0),))
    turn_until(runner, lambda: Snapshot.objects.filter(ready_at__isnull=False, file_count=1).exists())
    runner.stop()


def test_one_that_never_ends_is_killed_and_counts_as_a_failed_try(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kit.running(kit.make(world))
    ask(world, made)
    monkeypatch.setattr(saving.trees, "capture", lambda **_: threading.Event().wait())
    runner = Runner((replace(OPERATIONS, every_s=0, deadline_s=0.5),))
    turn_until(runner, lambda: Operation.objects.filter(tries__gte=1, error__contains="too long").exists())
    turn_until(runner, lambda: not runner.children)
    runner.stop()
