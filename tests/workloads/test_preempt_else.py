"""Pre-emptions that come to nothing or meet something else: called off, overtaken, and what they must not do."""

from itertools import pairwise

import pytest

from apps.billing import selectors as funds
from apps.billing.models import Charge
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.workloads import services as workloads
from apps.workloads.choices import PreemptionOutcome, Status
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.queueing import preempting
from tests.builders import World, platform, reload
from tests.workloads.loops import tick, until
from tests.workloads.test_preempt import acts, ask, finish, notice_ends, running, turn, until_left, waiting

pytestmark = pytest.mark.programs


def test_it_is_called_off_when_the_room_is_not_needed_any_more(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    turn()
    with acting(world.actor):
        workloads.stop(world.actor, gainer)
    turn()
    row = Preemption.objects.get()
    assert row.outcome == PreemptionOutcome.CALLED_OFF
    assert acts(victim) == ["asked", "called_off"]
    assert Notice.objects.filter(kind="run.stays", user=world.alice).count() == 1
    notice_ends()
    turn()
    assert reload(victim).status == Status.RUNNING
    again = waiting(world)
    assert ask(victim, again) == 1
    assert Preemption.objects.get().outcome == PreemptionOutcome.ASKED
    finish(victim, again)


def test_once_the_program_was_told_to_end_it_is_not_called_off(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    notice_ends()
    with acting(world.actor):
        workloads.stop(world.actor, gainer)
    assert until_left(victim).outcome == PreemptionOutcome.REQUEUED
    finish(victim)


def test_a_victim_that_ended_while_it_was_asked_closes_its_row(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    attempt = Attempt.objects.get(workload=victim)
    finish(victim)
    now = db_now()
    Preemption.objects.create(
        organisation=world.organisation, attempt=attempt, for_workload_id=gainer.pk, why="guarantee",
        asked_at=now, leave_at=now, kill_at=now,
    )  # fmt: skip
    preempting.sweep(platform())
    assert Preemption.objects.get().outcome == PreemptionOutcome.FINISHED
    finish(gainer)


def test_giving_way_does_not_count_as_a_loss(world: World) -> None:
    """Three times lost is enough; that it gave way in between does not bring the end nearer."""
    victim, gainer = running(world), waiting(world)
    Attempt.objects.filter(workload=victim).update(number=7)
    Workload.objects.filter(pk=victim.pk).update(attempt_number=7)
    ask(victim, gainer)
    notice_ends()
    until_left(victim)
    assert victim.status == Status.QUEUED
    finish(victim, gainer)


def test_nothing_is_charged_twice_over_a_pre_emption(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    notice_ends()
    until_left(victim)
    finish(gainer)
    Workload.objects.filter(pk=gainer.pk).update(status=Status.STOPPED, ended_at=db_now())
    until(victim, lambda found: found.status == Status.RUNNING)
    finish(victim)
    tick()
    assert funds.drift() == []
    assert funds.unbalanced_runs() == []
    spans = Charge.objects.filter(session__workload_id=victim.pk, revision=0).order_by("start")
    assert all(before.end <= after.start for before, after in pairwise(spans))
