"""What a change of status writes beside the status, and that it writes nothing of other work."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.audit.models import Entry
from apps.billing.holds.services import open_hold
from apps.billing.models import MeterSession
from apps.clusters.models import Zone
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Department, Holding, Quota
from apps.tenants.services.members import add_member
from apps.workloads import states
from apps.workloads.choices import Desired, Fault, PreemptionOutcome, PreemptionWhy, Reason, Status
from apps.workloads.models import Attempt, Event, Member, Placement, Preemption, Workload
from apps.workloads.states import Claim, Why
from tests.builders import World, actor_of, make_user, platform, reload, submit_workload, unknown_id
from tests.workloads.test_states import claim, put_on_node

HANDLE = {"driver": "local", "node": "n", "ref": "r"}


@pytest.fixture
def workload(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world)


@pytest.fixture
def other(world: World) -> Workload:
    """Of the same owner; it runs all the while."""
    with acting(world.actor):
        workload = submit_workload(world)
    running(world, workload)
    return workload


def running(world: World, workload: Workload) -> Claim:
    held = claim(put_on_node(world, workload))
    assert states.start(platform(), held, HANDLE)
    assert states.run(platform(), held, db_now())
    return held


def rows_of(workload: Workload) -> list[object]:
    """Everything of a workload that a change of status could write."""
    return [
        Workload.objects.filter(pk=workload.pk).values().get(),
        *Attempt.objects.filter(workload=workload).values(),
        *Placement.objects.filter(attempt__workload=workload).values(),
        *MeterSession.objects.filter(workload_id=workload.pk).values(),
        *Preemption.objects.filter(attempt__workload=workload).values(),
        *Event.objects.filter(workload=workload).values(),
    ]


def asked_to_give_way(attempt: Attempt) -> Preemption:
    soon = db_now() + timedelta(minutes=1)
    return Preemption.objects.create(
        organisation_id=attempt.organisation_id,
        attempt=attempt,
        for_workload_id=unknown_id(),
        why=PreemptionWhy.values[0],
        leave_at=soon,
        kill_at=soon,
    )


def test_a_placed_workload_has_its_attempt_and_no_reason_to_wait_any_more(world: World, workload: Workload) -> None:
    Workload.objects.filter(pk=workload.pk).update(explanation={"cause": "cpu"}, fault=Fault.values[-1])
    before = reload(workload).status_since
    attempt = Attempt(id=unknown_id(), number=1, node=world.node, workload=workload)
    attempt.organisation_id = workload.organisation_id
    piece = Placement(
        organisation_id=workload.organisation_id, attempt=attempt, node=world.node, cpu_milli=1000, memory_mib=512
    )
    assert states.place(platform(), workload, attempt, [piece])
    assert (workload.status, workload.attempt_number, workload.explanation) == (Status.PLACED, 1, {})
    assert (workload.reason, workload.fault) == (Reason.NONE, Fault.NOBODY)
    assert workload.status_since > before
    assert not states.place(platform(), workload, attempt, [piece])
    assert Placement.objects.filter(attempt=attempt).count() == 1


def test_a_start_keeps_the_drivers_handle(world: World, workload: Workload, other: Workload) -> None:
    held = claim(put_on_node(world, workload))
    assert states.start(platform(), held, HANDLE)
    assert Attempt.objects.get(pk=held.attempt.pk).handle == HANDLE
    assert reload(workload).status == Status.STARTING
    assert not states.start(platform(), held, {"driver": "another"})
    assert Attempt.objects.get(pk=held.attempt.pk).handle == HANDLE


def test_the_first_proof_opens_the_meter_at_its_moment_and_for_its_owner(world: World, workload: Workload) -> None:
    Workload.objects.filter(pk=workload.pk).update(tags=["Vision"], tag_keys=["vision"])
    held = claim(put_on_node(world, reload(workload)))
    states.start(platform(), held, HANDLE)
    at = db_now() - timedelta(seconds=7)
    assert states.run(platform(), held, at)
    assert reload(workload).started_at == Attempt.objects.get(pk=held.attempt.pk).started_at == at
    meter = MeterSession.objects.get(pk=held.attempt.pk)
    assert (meter.organisation_id, meter.user_id, meter.workload_id, meter.price_version_id) == (
        workload.organisation_id,
        workload.owner_id,
        workload.pk,
        workload.price_version_id,
    )
    assert (meter.label, meter.opened_at, meter.tags) == ("run", at, ["Vision"])
    assert not states.run(platform(), held, db_now())
    assert reload(workload).started_at == at


@pytest.mark.parametrize("billed", [True, False])
def test_simulated_hardware_is_metered_only_in_a_zone_that_is_billed(
    world: World, workload: Workload, billed: bool
) -> None:
    attempt = put_on_node(world, workload)
    Zone.everything.create(name="another", billed=not billed)
    Zone.everything.filter(clusters__nodes=world.node).update(billed=billed)
    attempt.workload.spec = {**attempt.workload.spec, "simulated": True}
    states.open_meter(attempt, db_now())
    assert MeterSession.objects.filter(pk=attempt.pk).exists() is billed


def test_what_runs_is_asked_to_stop_and_looked_at_soon(world: World, workload: Workload, other: Workload) -> None:
    held = running(world, workload)
    untouched = rows_of(other)
    later = db_now() + timedelta(hours=1)
    Attempt.objects.filter(pk=held.attempt.pk).update(next_check_at=later)
    assert states.stop(platform(), reload(workload), Why(Reason.ARREARS, {"by": "x"}, Fault.values[0]))
    attempt = Attempt.objects.get(pk=held.attempt.pk)
    assert attempt.stop_asked_at is not None
    assert attempt.next_check_at <= db_now()
    assert (workload.status, workload.desired, workload.reason) == (Status.STOPPING, Desired.STOPPED, Reason.ARREARS)
    assert (workload.reason_data, workload.fault) == ({"by": "x"}, Fault.values[0])
    assert (attempt.ended_at, workload.ended_at) == (None, None)
    assert rows_of(other) == untouched


def test_attempts_that_have_ended_are_not_asked_to_stop_again(world: World, workload: Workload) -> None:
    first = running(world, workload)
    states.requeue(platform(), first, Why(Reason.LOST), db_now())
    running(world, reload(workload))
    assert states.stop(platform(), reload(workload), Why(Reason.BY_PERSON))
    asked = Attempt.objects.filter(workload=workload).order_by("number").values_list("stop_asked_at", flat=True)
    assert [moment is None for moment in asked] == [True, False]


@pytest.mark.parametrize("leave", [states.stop, states.fail_waiting])
def test_what_leaves_the_queue_gives_back_what_was_reserved(
    world: World, workload: Workload, leave: Callable[..., bool]
) -> None:
    soon = db_now() + timedelta(minutes=1)
    Workload.objects.filter(pk=workload.pk).update(stop_reason=Reason.CAP, stop_by=soon)
    assert leave(platform(), reload(workload), Why(Reason.BY_PERSON))
    assert workload.ended_at is not None
    assert abs(workload.ended_at - db_now()) < timedelta(minutes=1)
    assert open_hold(workload.pk) is None
    assert not Quota.objects.filter(organisation=world.organisation, used__gt=0).exists()
    assert (reload(workload).stop_reason, workload.stop_by) == ("", None)


def test_what_runs_does_not_fail_as_something_that_waits(world: World, workload: Workload) -> None:
    running(world, workload)
    assert not states.fail_waiting(platform(), reload(workload), Why(Reason.REFUSED))
    assert reload(workload).status == Status.RUNNING
    assert open_hold(workload.pk) is not None


@pytest.mark.parametrize("end", ["finish", "requeue"])
def test_an_end_closes_everything_of_its_attempt_at_its_moment_and_nothing_of_others(
    world: World, workload: Workload, other: Workload, end: str
) -> None:
    held = running(world, workload)
    asked_to_give_way(Attempt.objects.get(workload=other))
    untouched = rows_of(other)
    notice, at = asked_to_give_way(held.attempt), db_now() + timedelta(seconds=3)
    if end == "finish":
        assert states.finish(platform(), held, Status.FAILED, Why(Reason.EXIT_CODE), at, exit_code=3)
    else:
        assert states.requeue(platform(), held, Why(Reason.LOST), at, exit_code=3)
    attempt, meter = Attempt.objects.get(pk=held.attempt.pk), MeterSession.objects.get(pk=held.attempt.pk)
    assert (attempt.ended_at, attempt.lease_until, attempt.exit_code, meter.closed_at) == (at, None, 3, at)
    assert not Placement.objects.filter(attempt=attempt, released_at__isnull=True).exists()
    notice.refresh_from_db()
    assert notice.outcome == PreemptionOutcome.FINISHED
    assert notice.ended_at is not None
    assert rows_of(other) == untouched


def test_a_gang_is_placed_metered_and_ended_with_all_its_members_and_none_ends_twice(
    world: World, other: Workload
) -> None:
    with acting(world.actor):
        gang = submit_workload(world, members=2)
    place = {"organisation": world.organisation, "node": world.node}
    elsewhere = Member.objects.create(**place, attempt=Attempt.objects.get(workload=other), rank=0)
    attempt = Attempt(**place, id=unknown_id(), number=1, workload=gang)
    assert states.place(platform(), gang, attempt, [], [Member(**place, attempt=attempt, rank=n) for n in range(2)])
    held, before, at = claim(attempt), db_now() - timedelta(minutes=5), db_now() + timedelta(seconds=3)
    states.start(platform(), held, HANDLE)
    states.run(platform(), held, db_now())
    assert MeterSession.objects.get(pk=attempt.pk).replicas == 2
    attempt.members.filter(rank=1).update(ended_at=before)
    assert states.finish(platform(), held, Status.FAILED, Why(Reason.EXIT_CODE), at)
    assert list(attempt.members.values_list("ended_at", flat=True)) == [at, before]
    elsewhere.refresh_from_db()
    assert elsewhere.ended_at is None


def test_a_claim_on_an_attempt_that_has_ended_writes_nothing_of_the_next_one(world: World, workload: Workload) -> None:
    """The fences count for each attempt, so both claims have the same number."""
    first = running(world, workload)
    assert states.requeue(platform(), first, Why(Reason.LOST), db_now())
    second = claim(put_on_node(world, reload(workload)))
    stale = Claim(first.attempt, second.fence)
    Attempt.objects.filter(pk=first.attempt.pk).update(fence=second.fence)
    assert not states.start(platform(), stale, {"driver": "another"})
    assert states.start(platform(), second, HANDLE)
    untouched = rows_of(workload)
    assert not states.run(platform(), stale, db_now())
    assert not states.requeue(platform(), stale, Why(Reason.LOST), db_now())
    assert not states.finish(platform(), stale, Status.FAILED, Why(Reason.EXIT_CODE), db_now())
    assert rows_of(workload) == untouched


def test_what_was_released_before_keeps_its_moment(world: World, workload: Workload) -> None:
    held, before = running(world, workload), db_now() - timedelta(minutes=5)
    Placement.objects.filter(attempt=held.attempt).update(released_at=before)
    asked_to_give_way(held.attempt)
    Preemption.objects.update(outcome=PreemptionOutcome.CALLED_OFF, ended_at=before)
    assert states.finish(platform(), held, Status.SUCCEEDED, Why(Reason.FINISHED), db_now())
    assert Placement.objects.get(attempt=held.attempt).released_at == before
    assert Preemption.objects.get(outcome=PreemptionOutcome.CALLED_OFF).ended_at == before


def test_an_end_for_good_gives_back_what_was_reserved_where_the_owner_stood(world: World, workload: Workload) -> None:
    held, at = running(world, workload), db_now()
    Workload.objects.filter(pk=workload.pk).update(stop_reason=Reason.CAP, stop_by=at)
    held.attempt.workload.refresh_from_db()
    assert states.finish(platform(), held, Status.SUCCEEDED, Why(Reason.FINISHED), at)
    assert reload(workload).ended_at == at
    assert not Quota.objects.filter(organisation=world.organisation, used__gt=0).exists()
    assert not Holding.objects.filter(organisation=world.organisation).exists()
    hold = open_hold(workload.pk)
    assert hold is None or hold.reason == "settling"
    assert (workload.stop_reason, workload.stop_by) == ("", None)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [(Reason.PREEMPTED, PreemptionOutcome.REQUEUED), (Reason.DRAINED, PreemptionOutcome.FINISHED)],
)
def test_who_is_queued_again_waits_from_now_on(
    world: World, workload: Workload, reason: Reason, outcome: PreemptionOutcome
) -> None:
    held = running(world, workload)
    notice = asked_to_give_way(held.attempt)
    hour_ago = db_now() - timedelta(hours=1)
    Workload.objects.filter(pk=workload.pk).update(queued_at=hour_ago, explanation={"cause": "cpu"})
    assert states.requeue(platform(), held, Why(reason), db_now())
    assert (reload(workload).started_at, workload.explanation, workload.ended_at) == (None, {}, None)
    assert workload.queued_at > hour_ago
    notice.refresh_from_db()
    assert notice.outcome == outcome
    assert open_hold(workload.pk) is not None


def test_what_was_reserved_before_holdings_were_kept_is_given_back_where_its_owner_stood(world: World) -> None:
    department = Department.objects.create(organisation=world.organisation, name="Vision")
    member = make_user("bob")
    add_member(platform(), organisation_id=world.organisation.pk, user=member, department_id=department.pk)
    actor = actor_of(member, world.organisation)
    with acting(actor):
        workload = submit_workload(world, actor)
    Holding.objects.all().delete()
    assert Quota.objects.filter(department=department, used__gt=0).exists()
    assert states.stop(platform(), workload, Why(Reason.BY_PERSON))
    assert not Quota.objects.filter(organisation=world.organisation, used__gt=0).exists()


def test_a_workload_without_a_department_any_more_gives_back_all_the_same(world: World, workload: Workload) -> None:
    """What it holds is found by its holder, wherever that counts by now."""
    gone = Department.objects.create(organisation=world.organisation, name="Gone")
    Workload.objects.filter(pk=workload.pk).update(department_id=gone.pk)
    gone.delete()
    assert states.stop(platform(), reload(workload), Why(Reason.BY_PERSON))
    assert not Quota.objects.filter(organisation=world.organisation, used__gt=0).exists()


def test_a_change_is_logged_with_the_status_before_and_after(world: World, workload: Workload) -> None:
    put_on_node(world, workload)
    assert states.stop(world.actor, reload(workload), Why(Reason.BY_PERSON, {"name": "Alice"}))
    entry = Entry.objects.filter(action="workload.stopping").get()
    assert (entry.before, entry.after) == ({"status": "placed"}, {"status": "stopping", "reason": "by_person"})
    event = Event.objects.filter(workload=workload, status=Status.STOPPING).get()
    assert (event.reason, event.data, event.actor_label) == ("by_person", {"name": "Alice"}, world.actor.label)
