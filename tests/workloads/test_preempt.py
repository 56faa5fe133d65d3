"""A whole pre-emption with real rows and real processes: asked, told, saved, stopped, queued first, credited."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

import scheduler
from apps.billing import selectors as funds
from apps.billing.choices import TransferKind
from apps.billing.models import Transfer
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants import settings as platform_settings
from apps.workloads import services as workloads
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy, Reason, Status
from apps.workloads.models import Attempt, Event, Preemption, Workload
from apps.workloads.queueing import preempting
from apps.workloads.queueing.policy import QueueSettings
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.spec import DataMount
from apps.workloads.timeline import event_title
from tests.builders import World, make_package, platform, reload, submit_workload
from tests.drivers.kit import eventually
from tests.workloads.loops import make_due, printed, until

pytestmark = pytest.mark.programs

SLEEPS = ("sleep", "600")
# Goes on from what it finds, saves when it is told to, and ends well at the second start.
TRAINS = """
import json, os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["PLSTACK_CHECKPOINTS"])
found = sorted(path.name for path in folder.glob("*")) if folder.is_dir() else []
print("restart", os.environ["PLSTACK_RESTART"], "found", found, flush=True)
if found:
    sys.exit(0)
def save(*_):
    notice = json.loads(open(os.environ["PLSTACK_NOTICE"]).read())
    print("leaving", notice["reason"], flush=True)
    folder.mkdir(exist_ok=True)
    (folder / "step-7").write_text("weights")
    sys.exit(143)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(600)
"""
ENDS_WELL = (
    "import signal,sys,time; signal.signal(15, lambda *_: sys.exit(0)); print('ready', flush=True); time.sleep(600)"
)


def running(world: World, argv: tuple[str, ...] = SLEEPS, **changes: Any) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world, argv=argv, **changes)
    return until(workload, lambda found: found.status == Status.RUNNING)


def waiting(world: World, **changes: Any) -> Workload:
    """One that finds no room as long as the first runs."""
    with acting(platform()):
        large = replace(world, package=make_package(cpu_milli=4000))
    with acting(world.actor):
        return submit_workload(large, argv=SLEEPS, **changes)


def ask(victim: Workload, gainer: Workload | UUID, why: PreemptionWhy = PreemptionWhy.HIGHER_PRIORITY) -> int:
    gainer_id = gainer.pk if isinstance(gainer, Workload) else gainer
    preempt = scheduler.Preempt(str(victim.pk), str(gainer_id), why.value)
    return preempting.ask_to_leave(platform(), [preempt], db_now())


def notice_ends() -> None:
    """As if the time until SIGTERM had passed."""
    for row in Preemption.objects.filter(ended_at__isnull=True):
        passed = row.leave_at - db_now() + timedelta(milliseconds=1)
        Preemption.objects.filter(pk=row.pk).update(
            asked_at=row.asked_at - passed, leave_at=row.leave_at - passed, kill_at=row.kill_at - passed
        )


def turn() -> None:
    """The reconcile loop alone: no pass places what was queued again."""
    make_due()
    reconcile_due(platform())


def until_left(victim: Workload, to: Status = Status.QUEUED) -> Preemption:
    """Turn the reconcile loop until the attempt has ended and its loss is settled."""

    def has_left() -> bool:
        turn()
        row = Preemption.objects.get(attempt__workload=victim)
        return row.ended_at is not None and (row.lost_s is not None or row.outcome != PreemptionOutcome.REQUEUED)

    eventually(has_left, bool)
    assert reload(victim).status == to, f"{victim.status} {victim.reason} {victim.reason_data}"
    return Preemption.objects.get(attempt__workload=victim)


def output_of(home: Path) -> tuple[Path, DataMount]:
    """A folder that the program may write to, and how it is mounted."""
    output = home / "data" / f"output-{uuid4().hex}"
    output.mkdir(parents=True)
    return output, DataMount(output.name, "/workspace/output", read_only=False)


def finish(*live: Workload) -> None:
    """End what still runs, so that nothing outlives the test."""
    with acting(platform()):
        for workload in live:
            Workload.objects.filter(pk=workload.pk).update(desired="stopped")
            Attempt.objects.filter(workload=workload, ended_at__isnull=True).update(next_check_at=db_now())
        for workload in live:
            if reload(workload).status != Status.QUEUED:
                until(workload, lambda found: not found.is_live)


def acts(workload: Workload) -> list[str]:
    rows = Event.objects.filter(workload=workload, kind=preempting.EVENT).order_by("pk")
    return [row.data["act"] for row in rows]


def test_asking_gives_notice_once_and_tells_the_owner(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    assert ask(victim, gainer) == 1
    assert ask(victim, gainer) == 0
    row = Preemption.objects.get()
    assert (row.leave_at - row.asked_at, row.kill_at - row.leave_at) == (timedelta(seconds=120), timedelta(seconds=300))
    assert (row.outcome, row.organisation_id) == (PreemptionOutcome.ASKED, world.organisation.pk)
    turn()
    assert reload(victim).status == Status.RUNNING
    notice = Notice.objects.get(kind="run.asked_to_leave", user=world.alice)
    assert "priority 3" in words(notice).text
    event = Event.objects.get(workload=victim, kind=preempting.EVENT)
    assert "priority 3" in event_title(event)
    finish(victim, gainer)


def test_the_rules_are_the_platforms(world: World) -> None:
    platform_settings.put(platform(), QueueSettings(notice_s=0, save_s=20))
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    row = Preemption.objects.get()
    assert (row.leave_at, row.kill_at) == (row.asked_at, row.asked_at + timedelta(seconds=20))
    finish(victim, gainer)


def test_another_organisations_task_is_never_named(world: World) -> None:
    victim, stranger = running(world), uuid4()
    ask(victim, stranger, PreemptionWhy.GUARANTEE)
    said = json.dumps([*Event.objects.values_list("data", flat=True), *Notice.objects.values_list("data", flat=True)])
    assert str(stranger) not in said
    assert "another organisation's guarantee" in words(Notice.objects.get(kind="run.asked_to_leave")).text
    finish(victim)


def test_what_may_not_be_interrupted_or_is_leaving_or_gone_is_not_asked(world: World) -> None:
    firm = running(world, preemptible=False)
    leaving = running(world)
    gainer = waiting(world)
    with acting(world.actor):
        workloads.stop(world.actor, leaving)
    assert [ask(firm, gainer), ask(leaving, gainer), ask(gainer, firm)] == [0, 0, 0]
    until(leaving, lambda found: not found.is_live)
    assert ask(leaving, gainer) == 0
    assert not Preemption.objects.exists()
    finish(firm, gainer)


def test_after_the_notice_it_is_stopped_queued_first_and_credited(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    notice_ends()
    row = until_left(victim)
    assert (victim.reason, row.outcome) == (Reason.PREEMPTED, PreemptionOutcome.REQUEUED)
    first = Attempt.objects.get(workload=victim)
    assert first.started_at is not None
    assert first.ended_at is not None
    assert row.lost_s == pytest.approx((first.ended_at - first.started_at).total_seconds())
    cost = funds.workload_cost(world.actor, workload_id=victim.pk)
    assert cost.exact_fen == cost.unrated_fen == 0
    assert cost.credited_exact > 0
    assert acts(victim) == ["asked", "credited"]
    assert Notice.objects.filter(kind="run.gave_way", user=world.alice).count() == 1
    turn()
    assert acts(victim) == ["asked", "credited"]
    finish(victim, gainer)


def test_a_program_learns_saves_and_goes_on_from_there(world: World, tmp_path: Path, home: Path) -> None:
    output, mount = output_of(home)
    env = {"PLSTACK_CHECKPOINTS": "/workspace/output/checkpoints"}
    victim = running(world, ("python", "-c", TRAINS), mounts=(mount,), env=env)
    printed(victim, b"ready")
    gainer = waiting(world)
    ask(victim, gainer)
    turn()
    notice_ends()
    row = until_left(victim)
    first = Attempt.objects.get(workload=victim)
    assert (first.exit_code, row.outcome) == (143, PreemptionOutcome.REQUEUED)
    assert (output / "checkpoints/step-7").read_text() == "weights"
    assert first.checkpoint_at is not None
    assert first.checkpoint_at <= db_now()
    assert row.lost_s is not None
    assert row.lost_s < 5
    finish(gainer)
    Workload.objects.filter(pk=gainer.pk).update(status=Status.STOPPED, ended_at=db_now())
    until(victim, lambda found: not found.is_live)
    assert (victim.status, victim.attempt_number) == (Status.SUCCEEDED, 2)


def test_ending_well_in_the_save_window_is_being_done(world: World) -> None:
    victim, gainer = running(world, ("python", "-c", ENDS_WELL)), waiting(world)
    printed(victim, b"ready")
    ask(victim, gainer)
    notice_ends()
    row = until_left(victim, Status.SUCCEEDED)
    assert (row.outcome, row.credited_fen) == (PreemptionOutcome.FINISHED, 0)
    finish(gainer)


def test_but_not_for_an_environment_whose_program_never_is(world: World) -> None:
    victim, gainer = running(world, ("python", "-c", ENDS_WELL), kind=ENVIRONMENT), waiting(world)
    printed(victim, b"ready")
    ask(victim, gainer)
    notice_ends()
    assert until_left(victim).outcome == PreemptionOutcome.REQUEUED
    finish(victim, gainer)


def test_an_end_of_its_own_before_the_notice_is_over_is_its_own(world: World, home: Path) -> None:
    output, mount = output_of(home)
    ends_when_told = "while [ ! -e /workspace/output/end ]; do sleep 0.1; done; exit 3"
    victim, gainer = running(world, ("sh", "-c", ends_when_told), mounts=(mount,)), waiting(world)
    ask(victim, gainer)
    (output / "end").touch()
    until(victim, lambda found: not found.is_live)
    assert (victim.status, victim.reason) == (Status.FAILED, Reason.EXIT_CODE)
    assert Preemption.objects.get().outcome == PreemptionOutcome.FINISHED
    assert not Transfer.objects.filter(kind=TransferKind.CREDIT).exists()
    finish(gainer)


def test_a_person_who_stops_it_meanwhile_has_the_last_word(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    with acting(world.actor):
        workloads.stop(world.actor, victim)
    notice_ends()
    row = until_left(victim, Status.STOPPED)
    assert (victim.reason, row.outcome) == (Reason.BY_PERSON, PreemptionOutcome.FINISHED)
    finish(gainer)
