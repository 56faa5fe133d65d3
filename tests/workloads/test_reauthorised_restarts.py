"""Rights that end between a pass and the launch, or before a restart; what runs goes on."""

from pathlib import Path
from typing import Any

import pytest

from apps.billing.models import Hold, MeterSession
from apps.storage import volumes
from apps.storage.models import Volume
from apps.tenants.models import User
from apps.workloads import faults, start_rights
from apps.workloads.choices import PreemptionWhy, Reason, Status
from apps.workloads.models import Attempt
from apps.workloads.reconcile import attempts, starting
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass
from tests.architecture import endings
from tests.architecture.endings import Ending
from tests.builders import World, platform, reload
from tests.workloads.loops import make_due, until
from tests.workloads.rights import ENDINGS, assert_never_ran, held, holder, mounting, submit, unshare
from tests.workloads.rights import bob as bob
from tests.workloads.rights import shared as shared
from tests.workloads.test_preempt import ask, finish, notice_ends, running, until_left, waiting


@pytest.mark.parametrize("ends", ENDINGS)
def test_a_right_that_ends_between_placing_and_launch_stops_it_before_anything_runs(
    world: World, ends: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = submit(world)
    assert run_pass(platform()) == 1
    ends(holder(world))
    monkeypatch.setattr(attempts, "driver_named", NoDriver)
    make_due()
    reconcile_due(platform())
    assert_never_ran(workload)
    assert held() == 0


class NoDriver:
    """Fails the test by being used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def launch(self, request: object) -> None:
        raise AssertionError("launched")


@pytest.mark.parametrize("moment", ["read", "asked", "placed"])
@pytest.mark.parametrize("ends", ENDINGS)
def test_whenever_during_a_pass_a_right_ends_nothing_is_launched(
    world: World, bob: User, ends: Ending, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the pass asks, right after it asked, or after it wrote: nothing of the owner's is handed to a driver."""
    mine, other = submit(world), submit(world, bob)
    asked = start_rights.refusals

    def at_asking(workloads: Any) -> Any:
        if moment == "read":
            ends(holder(world))
        found = asked(workloads)
        if moment == "asked":
            ends(holder(world))
        return found

    monkeypatch.setattr(start_rights, "refusals", at_asking)
    run_pass(platform())
    monkeypatch.setattr(start_rights, "refusals", asked)
    if moment == "placed":
        ends(holder(world))
    monkeypatch.setattr(attempts, "driver_named", NoDriver)
    Attempt.objects.filter(workload=other).update(next_check_at="2100-01-01T00:00Z")
    Attempt.objects.filter(workload=mine).update(next_check_at="2000-01-01T00:00Z")
    reconcile_due(platform())
    assert_never_ran(mine)
    if ends is not endings.frozen:
        assert reload(other).status == Status.PLACED


@pytest.mark.parametrize("ends", ENDINGS)
@pytest.mark.programs
def test_what_gave_way_does_not_start_again(world: World, home: Path, ends: Ending) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer, PreemptionWhy.HIGHER_PRIORITY)
    notice_ends()
    until_left(victim)
    finish(gainer)
    ends(holder(world))
    assert run_pass(platform()) == 0
    assert (reload(victim).status, victim.reason) == (Status.STOPPED, Reason.UNAUTHORISED)
    assert victim.reason_data["ran"]
    assert MeterSession.objects.get(workload_id=victim.pk).closed_at is not None
    assert not Hold.objects.filter(workload_id=victim.pk, end__isnull=True).exists()
    shown = faults.card(victim, None)
    assert shown is not None
    assert "not started again" in shown["verdict"]


@pytest.mark.programs
def test_what_gave_way_does_not_mount_again_what_was_taken_away(world: World, home: Path, shared: Volume) -> None:
    volumes.root_of(shared).mkdir(parents=True, exist_ok=True)
    victim = running(world, mounts=mounting(shared))
    gainer = waiting(world)
    ask(victim, gainer)
    notice_ends()
    until_left(victim)
    finish(gainer)
    unshare(shared)
    run_pass(platform())
    assert (reload(victim).status, victim.reason) == (Status.STOPPED, Reason.MOUNT_LOST)


@pytest.mark.parametrize("ends", ENDINGS)
@pytest.mark.programs
def test_what_runs_goes_on(world: World, home: Path, ends: Ending) -> None:
    workload = running(world)
    ends(holder(world))
    for _turn in range(3):
        make_due()
        reconcile_due(platform())
    assert reload(workload).status == Status.RUNNING
    finish(workload)


@pytest.mark.programs
def test_what_may_have_been_launched_is_asked_to_stop(world: World, home: Path) -> None:
    """An earlier claimant died between the launch and the row: what it may have started is found, and stopped."""
    workload = submit(world, argv=("sleep", "60"))
    assert run_pass(platform()) == 1
    Attempt.objects.filter(workload=workload).update(fence=1)
    endings.removed(holder(world))
    until(workload, lambda found: not found.is_live)
    assert (workload.status, workload.reason) == (Status.STOPPED, Reason.UNAUTHORISED)


def test_nobody_gives_way_to_what_may_not_start(world: World) -> None:
    """The pass that would ask others to leave ends it instead."""
    workload = submit(world)
    plan = starting.scheduler.Plan((starting.scheduler.Preempt("x", str(workload.pk), "higher_priority"),))
    endings.removed(holder(world))
    started = starting.start(platform(), plan)
    assert started.is_ended(str(workload.pk))
    assert_never_ran(workload)
