"""Sets of replicas in the soak: each rule about them, broken on purpose, is found."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.billing import services as billing
from apps.common.scoping import acting
from apps.workloads import states
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.reconcile import outcome
from apps.workloads.replicas import converge, replacing, services
from apps.workloads.replicas import states as sets
from benchmarks.soak.machines import ENDLESS_S
from benchmarks.soak.plan import Plan
from benchmarks.soak.run import Soak
from benchmarks.soak.serving import serve
from benchmarks.soak.world import World, platform
from scheduler.decisions import Place
from scheduler.engine import Engine
from tests.soak.conftest import Soaking

SMALL = Plan(small=True, machines=2, people=2, deaths_a_day=0, sets=0, stride=timedelta(minutes=30))


class Scene:
    """Two machines of two cores, and sets of replicas of one core."""

    def __init__(self, soak: Soak) -> None:
        self.soak, self.crowd = soak, soak.crowd()
        soak.repeat_loops()

    @property
    def world(self) -> World:
        return self.crowd.world

    def serve(self, wanted: int = 3, seconds: float = ENDLESS_S) -> ReplicaSet:
        person, package = self.world.people[0], next(iter(self.world.weights))
        with acting(person.actor()) as actor:
            return serve(actor, self.world, self.crowd._key(), package_id=package, wanted=wanted, seconds=seconds)

    def scale(self, found: ReplicaSet, wanted: int) -> None:
        with acting(self.world.people[0].actor()) as actor:
            services.scale(actor, found.pk, wanted)

    def stop(self, found: ReplicaSet) -> None:
        with acting(self.world.people[0].actor()) as actor:
            services.stop(actor, found.pk)

    def wait(self, **time: float) -> None:
        self.soak.until(self.soak.clock.now() + timedelta(**time))

    def found(self) -> set[str]:
        return {violation.invariant for violation in self.soak.violations}


def test_a_set_is_scaled_loses_a_machine_and_ends(soaking: Soaking) -> None:
    scene = Scene(soaking(SMALL))
    found = scene.serve()
    scene.wait(minutes=40)
    scene.scale(found, 2)
    with acting(platform()):
        name = Attempt.objects.filter(ended_at__isnull=True).latest("placed_at").node.name
    scene.soak.chance.choice = lambda names: name  # type: ignore[method-assign]
    scene.soak.chance.uniform = lambda low, high: 0.5  # type: ignore[method-assign]
    scene.soak._fail(scene.world)
    scene.wait(hours=1)
    with acting(platform()):
        assert Workload.objects.filter(replica_set=found, status=Status.RUNNING).count() == 2
    scene.stop(found)
    scene.wait(hours=2)
    with acting(platform()):
        found.refresh_from_db()
        assert found.ended_at is not None
    assert scene.soak.violations == []
    assert scene.soak.seen.counted["sets_charged"] == 1


def serve_on(scene: Scene) -> None:
    """A set serves, and each of its replicas ends every twenty minutes."""
    scene.serve(seconds=1200)
    scene.wait(hours=1.1)


def shrink(scene: Scene) -> None:
    found = scene.serve()
    scene.wait(minutes=10)
    scene.scale(found, 1)
    scene.wait(hours=1.1)


def end(scene: Scene) -> None:
    found = scene.serve()
    scene.wait(minutes=10)
    scene.stop(found)
    scene.wait(hours=1.5)


def serve_long(scene: Scene) -> None:
    """There is room for one more, and replicas end meanwhile."""
    scene.serve(seconds=1200)
    scene.wait(hours=4.1)


Patch = pytest.MonkeyPatch


class Mutants:
    """Rules about sets that are wrong in a way that nobody sees at once."""

    @staticmethod
    def keep_surplus(patch: Patch) -> None:
        """Whoever scales down is told so, and what is too many serves on."""
        patch.setattr(converge, "stop_surplus", lambda *_what: None)

    @staticmethod
    def start_one_less(patch: Patch) -> None:
        """One of those that are wanted is never started, and nobody looks again."""
        add = services._add
        patch.setattr(services, "_add", lambda found, terms, count: add(found, terms, count - 1))
        patch.setattr(converge, "sweep", lambda actor: 0)

    @staticmethod
    def replace_nobody(patch: Patch) -> None:
        """A replica that ends by itself has ended, and its set is smaller by it."""
        patch.setattr(replacing, "is_replaced", lambda workload: False)

    @staticmethod
    def pause_for_hours(patch: Patch) -> None:
        patch.setattr(replacing, "pause", lambda failures: timedelta(hours=5))

    @staticmethod
    def forget_the_queue(patch: Patch) -> None:
        """What has run once is not looked at again when it waits."""
        plan = Engine.plan

        def partly(engine: Engine, *what: Any, **more: Any) -> Any:
            found = plan(engine, *what, **more)
            again = {str(pk) for pk in Attempt.objects.values_list("workload_id", flat=True)}
            lost = [one for one in found.decisions if isinstance(one, Place) and one.task_id in again]
            return replace(found, decisions=tuple(one for one in found.decisions if one not in lost))

        patch.setattr(Engine, "plan", partly)

    @staticmethod
    def charge_twice(patch: Patch) -> None:
        """Each replica is charged as if it were two."""
        open_meter = billing.open_meter
        patch.setattr(states.billing, "open_meter", lambda **what: open_meter(**{**what, "replicas": 2}))

    @staticmethod
    def charge_the_first(patch: Patch) -> None:
        """What is started again is not counted as the set's."""
        open_meter = billing.open_meter
        counted: set[object] = set()

        def once(**what: Any) -> None:
            again = what["workload_id"] in counted
            counted.add(what["workload_id"])
            open_meter(**{**what, "set_id": None if again else what["set_id"]})

        patch.setattr(outcome.states.billing, "open_meter", once)

    @staticmethod
    def never_end(patch: Patch) -> None:
        """Nobody writes that the last replica has ended."""
        patch.setattr(sets, "ended", lambda *_what: None)


def end_after_ends(scene: Scene) -> None:
    """Replicas end and go on; then their set is stopped."""
    found = scene.serve(seconds=1200)
    scene.wait(minutes=50)
    scene.stop(found)
    scene.wait(hours=1.5)


@pytest.mark.parametrize(
    ("mutant", "story", "invariant"),
    [
        (Mutants.keep_surplus, shrink, "sets_have_as_many_as_wanted"),
        (Mutants.start_one_less, serve_on, "sets_have_as_many_as_wanted"),
        (Mutants.replace_nobody, serve_on, "replicas_are_replaced_soon"),
        (Mutants.pause_for_hours, serve_on, "replicas_are_replaced_soon"),
        (Mutants.forget_the_queue, serve_long, "replicas_are_replaced_soon"),
        (Mutants.charge_twice, end, "sets_are_charged_for_their_replicas"),
        (Mutants.charge_the_first, end_after_ends, "sets_are_charged_for_their_replicas"),
        (Mutants.never_end, end, "nothing_is_left_of_a_set"),
    ],
)
def test_a_broken_rule_about_sets_is_found(
    soaking: Soaking,
    monkeypatch: Patch,
    mutant: Callable[[Patch], None],
    story: Callable[[Scene], None],
    invariant: str,
) -> None:
    scene = Scene(soaking(SMALL))
    mutant(monkeypatch)
    story(scene)
    assert invariant in scene.found()


@pytest.mark.parametrize("story", [shrink, end_after_ends])
def test_the_same_hours_with_all_rules_whole_show_nothing(soaking: Soaking, story: Callable[[Scene], None]) -> None:
    scene = Scene(soaking(SMALL))
    story(scene)
    assert scene.soak.violations == []
