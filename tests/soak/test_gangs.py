"""Gangs in the soak: each rule about them, broken on purpose, is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.billing import services as billing
from apps.common.scoping import acting
from apps.workloads import services as workloads
from apps.workloads import states
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Observation
from apps.workloads.hardware import lost
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.reconcile import gangs, outcome, starting
from benchmarks.soak.plan import Plan
from benchmarks.soak.run import Soak
from benchmarks.soak.world import World, platform
from scheduler.gangs import GangPlacer
from tests.soak.conftest import Soaking

HOUR = timedelta(hours=1)
PAIR = Plan(small=True, machines=2, people=2, deaths_a_day=0)


class Scene:
    """Two machines of two cores, and a gang of three members that is on both."""

    def __init__(self, soak: Soak) -> None:
        self.soak, self.crowd = soak, soak.crowd()
        soak.repeat_loops()

    @property
    def world(self) -> World:
        return self.crowd.world

    def submit(self, seconds: float = 4 * 3600, **asked: Any) -> Workload:
        return self.crowd.submit(self.world.people[0], seconds, **{"members": 3, **asked})

    def wait(self, **time: float) -> None:
        self.soak.until(self.soak.clock.now() + timedelta(**time))

    def lose_one(self, rank: int = 2, hours: float = 1 / 3) -> None:
        """The machine of this rank says nothing for so long, and is declared lost meanwhile."""
        with acting(platform()):
            name = Member.objects.select_related("node").get(rank=rank).node.name
        self.soak.chance.choice = lambda names: name  # type: ignore[method-assign]
        self.soak.chance.uniform = lambda low, high: hours  # type: ignore[method-assign]
        self.soak.chance.random = lambda: 1.0  # type: ignore[method-assign]  # it does not reboot
        self.soak._fail(self.world)

    def found(self) -> set[str]:
        return {violation.invariant for violation in self.soak.violations}


def test_a_gang_that_loses_a_machine_runs_again(soaking: Soaking) -> None:
    scene = Scene(soaking(PAIR))
    workload = scene.submit()
    scene.wait(minutes=10)
    with acting(platform()):
        assert len(set(Member.objects.values_list("node", flat=True))) == 2
        assert Attempt.objects.get(started_at__isnull=False).workload == workload
    scene.lose_one()
    scene.wait(hours=6)
    with acting(platform()):
        workload.refresh_from_db()
        assert (workload.status, workload.attempt_number) == (Status.SUCCEEDED, 2)
        assert Attempt.objects.get(number=1).given_up_at is not None
    assert scene.soak.violations == []


def test_a_gang_whose_member_fails_ends_at_once(soaking: Soaking) -> None:
    scene = Scene(soaking(PAIR))
    workload = scene.submit(3600, code=3)
    scene.wait(hours=2)
    with acting(platform()):
        workload.refresh_from_db()
        assert (workload.status, workload.reason) == (Status.FAILED, Reason.EXIT_CODE)
        took = workload.ended_at - workload.started_at
    assert timedelta(minutes=30) <= took < timedelta(minutes=31)
    assert scene.soak.violations == []


Patch = pytest.MonkeyPatch


class Mutants:
    """Rules about gangs that are wrong in a way that nobody sees at once."""

    @staticmethod
    def hold_for_two(patch: Patch) -> None:
        """The last member holds nothing."""
        placements = starting._placements

        def forgetful(workload: Workload, attempt: Attempt, place: Any) -> list[Placement]:
            return placements(workload, attempt, place) if place.member < 2 else []

        patch.setattr(starting, "_placements", forgetful)

    @staticmethod
    def leave_members_open(patch: Patch) -> None:
        """The rows of members outlive their attempt."""
        end = states._end_attempt

        def half(claim: states.Claim, *rest: Any) -> None:
            open_ones = list(Member.objects.filter(attempt=claim.attempt, ended_at__isnull=True).values_list("pk"))
            end(claim, *rest)
            Member.objects.filter(pk__in=[pk for (pk,) in open_ones]).update(ended_at=None)

        patch.setattr(states, "_end_attempt", half)

    @staticmethod
    def keep_room_of_others(patch: Patch) -> None:
        """Only the first member's room is given back."""
        end = states._end_attempt

        def half(claim: states.Claim, *rest: Any) -> None:
            end(claim, *rest)
            Placement.objects.filter(attempt=claim.attempt, rank__gt=0).update(released_at=None)

        patch.setattr(states, "_end_attempt", half)

    @staticmethod
    def begin_when_ready(patch: Patch) -> None:
        """Each member begins when it is ready itself."""
        patch.setattr(gangs, "may_begin", lambda seen: True)

    @staticmethod
    def meter_the_barrier(patch: Patch) -> None:
        """The time at the barrier is charged."""
        sum_up = gangs.sum_up

        def longer(looks: Sequence[gangs.Look]) -> Observation:
            seen = sum_up(looks)
            return seen if seen.ran_for_s is None else replace(seen, ran_for_s=seen.ran_for_s + 20)

        patch.setattr(gangs, "sum_up", longer)

    @staticmethod
    def meter_the_shortest(patch: Patch) -> None:
        """What is charged ends with the first member that has ended well."""
        sum_up = gangs.sum_up

        def shorter(looks: Sequence[gangs.Look]) -> Observation:
            seen = sum_up(looks)
            return replace(seen, ran_for_s=min(look.seen.ran_for_s for look in looks)) if seen.exit else seen

        patch.setattr(gangs, "sum_up", shorter)

    @staticmethod
    def charge_for_one(patch: Patch) -> None:
        open_meter = billing.open_meter
        patch.setattr(states.billing, "open_meter", lambda **what: open_meter(**{**what, "replicas": 1}))

    @staticmethod
    def hold_money_for_one(patch: Patch) -> None:
        hold = billing.hold_for_start
        patch.setattr(workloads.billing, "hold_for_start", lambda actor, **what: hold(actor, **{**what, "replicas": 1}))

    @staticmethod
    def let_others_go_on(patch: Patch) -> None:
        """One member's bad end leaves the others as they are."""
        patch.setattr(gangs, "_stop", lambda members, grace_s: None)

    @staticmethod
    def leave_what_lives(patch: Patch) -> None:
        """A lost machine ends the attempt, and what is on the others runs on."""
        patch.setattr(lost, "_others_have_ended", lambda attempt: True)

    @staticmethod
    def never_end_what_lives(patch: Patch) -> None:
        """The attempt waits for the others, whom nobody stops."""
        patch.setattr(lost, "_others_have_ended", lambda attempt: False)

    @staticmethod
    def believe_one_machine(patch: Patch) -> None:
        """What one lost machine proves is taken for all."""
        patch.setattr(
            lost, "_record_gone", lambda node, pks: Attempt.objects.filter(pk__in=pks).update(gone_at=timezone.now())
        )

    @staticmethod
    def fail_what_is_lost(patch: Patch) -> None:
        patch.setattr(outcome, "_goes_back", lambda end, workload, attempt: False)

    @staticmethod
    def place_no_gang(patch: Patch) -> None:
        patch.setattr(GangPlacer, "place", lambda self, task, gang, demand, forbidden: None)


def run_on(scene: Scene) -> None:
    """A gang runs for hours."""
    scene.submit()
    scene.wait(hours=2.1)


def end(scene: Scene) -> None:
    """A gang ends within the hour."""
    scene.submit(1200)
    scene.wait(hours=1.1)


def fail(scene: Scene) -> None:
    """One member of a gang fails after a while; the one before it takes longer."""
    scene.submit(4 * 3600, code=1)
    scene.wait(hours=4.1)


def reboot(scene: Scene) -> None:
    """A machine starts anew, and what it ran of a gang is gone."""
    scene.submit()
    scene.wait(minutes=10)
    with acting(platform()) as actor:
        node = Member.objects.select_related("node").latest("rank").node
        scene.soak.machines.fail(actor, node)
        scene.soak.machines.come_back(actor, node.name, rebooted=True)
    scene.wait(hours=1)


def lose(scene: Scene) -> None:
    """One machine of a gang is declared lost."""
    scene.submit()
    scene.wait(minutes=30)
    scene.lose_one()
    scene.wait(hours=1.6)


def lose_both(scene: Scene) -> None:
    """Both machines of a gang are declared lost, and one comes back before the other."""
    scene.submit()
    scene.wait(minutes=30)
    scene.lose_one(rank=2, hours=0.3)
    scene.lose_one(rank=0, hours=0.6)
    scene.wait(hours=1.6)


def wait_in_line(scene: Scene) -> None:
    """Two gangs, of which one has to wait."""
    scene.submit()
    scene.submit()
    scene.wait(hours=1.1)


@pytest.mark.parametrize(
    ("mutant", "story", "invariant"),
    [
        (Mutants.hold_for_two, run_on, "gangs_hold_all_or_nothing"),
        (Mutants.leave_members_open, lose, "gangs_hold_all_or_nothing"),
        (Mutants.keep_room_of_others, end, "nothing_is_orphaned"),
        (Mutants.begin_when_ready, run_on, "members_begin_together"),
        (Mutants.meter_the_barrier, run_on, "gangs_are_metered_from_the_barrier"),
        (Mutants.meter_the_shortest, end, "gangs_are_metered_from_the_barrier"),
        (Mutants.charge_for_one, run_on, "gangs_are_metered_from_the_barrier"),
        (Mutants.hold_money_for_one, wait_in_line, "holds_cover_all_members"),
        (Mutants.let_others_go_on, fail, "one_bad_end_ends_all"),
        (Mutants.never_end_what_lives, lose, "one_bad_end_ends_all"),
        (Mutants.leave_what_lives, lose, "stubs_are_accounted_for"),
        (Mutants.believe_one_machine, lose_both, "stubs_are_accounted_for"),
        (Mutants.fail_what_is_lost, reboot, "lost_work_is_queued_again"),
        (Mutants.place_no_gang, wait_in_line, "nobody_waits_beside_room"),
    ],
)
def test_a_broken_rule_about_gangs_is_found(
    soaking: Soaking,
    monkeypatch: Patch,
    mutant: Callable[[Patch], None],
    story: Callable[[Scene], None],
    invariant: str,
) -> None:
    scene = Scene(soaking(replace(PAIR, stop_at_first=True)))
    mutant(monkeypatch)
    story(scene)
    assert invariant in scene.found()


@pytest.mark.parametrize("story", [run_on, end, fail, reboot, lose, lose_both, wait_in_line])
def test_the_same_hours_with_all_rules_whole_show_nothing(soaking: Soaking, story: Callable[[Scene], None]) -> None:
    scene = Scene(soaking(PAIR))
    story(scene)
    assert scene.soak.violations == []
