"""Replicas on simulated machines: each by itself, in the right number, charged from its own proof to its own end."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.billing import services as billing
from apps.billing.caps.selectors import spent_fen
from apps.billing.models import Hold, MeterSession
from apps.clusters.choices import DrainAction
from apps.common.clock import db_now
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.workloads.choices import Desired, Fault, Reason, Status
from apps.workloads.hardware import drains, lost, simulation
from apps.workloads.models import Attempt, Placement, ReplicaSet, Workload
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.replicas import replacing
from apps.workloads.replicas import selectors as sets
from apps.workloads.replicas import services as replicas
from tests.builders import World, make_node, platform, reload
from tests.kinds.replicated import all_serve, kill, live, newest, no_pause, serve, summed, until_set
from tests.kinds.toy.kind import LINE

pytestmark = [pytest.mark.programs, pytest.mark.django_db, pytest.mark.usefixtures("serving_toy", "three_machines")]


def test_each_has_its_own_attempt_machine_meter_and_hold(world: World, band: ReplicaSet) -> None:
    rows = live(band)
    assert sorted(rows) == [0, 1, 2]
    assert {row.name for row in rows.values()} == {"band-0", "band-1", "band-2"}
    attempts = [newest(row) for row in rows.values()]
    assert len({attempt.node_id for attempt in attempts}) == 3
    assert len({attempt.pk for attempt in attempts}) == 3
    for attempt in attempts:
        meter = MeterSession.objects.get(pk=attempt.pk)
        assert (meter.replicas, meter.opened_at, meter.set_id) == (1, attempt.started_at, band.pk)
        assert Hold.objects.filter(workload_id=attempt.workload_id, end__isnull=True).count() == 1
    assert summed(band).words == "3 of 3 serve"


def test_they_are_on_different_machines_though_one_has_room_for_all(world: World) -> None:
    make_node(cpu_milli=world.node.cpu_milli, memory_mib=world.node.memory_mib)
    found = serve(world, 2, package=world.package)
    run_pass(platform())
    assert len({newest(row).node_id for row in live(found).values()}) == 2


def test_quota_counts_each(world: World, band: ReplicaSet) -> None:
    used = dict(Quota.objects.filter(organisation=world.organisation, user=None).values_list("resource", "used"))
    assert used[LINE] == 3
    assert used[Resource.GPU_MILLI] == 3000


def test_the_price_is_that_of_each_for_its_own_time(world: World, band: ReplicaSet) -> None:
    rows = list(live(band).values())
    rate = rows[0].price_version.rate_fen_per_hour
    replicas.stop(world.actor, band.pk)
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    sessions = MeterSession.objects.filter(set_id=band.pk)
    assert sessions.count() == 3
    for session in sessions:
        attempt = Attempt.objects.get(pk=session.pk)
        assert (session.opened_at, session.closed_at) == (attempt.started_at, attempt.ended_at)
    billing.rate_organisation(platform(), organisation_id=world.organisation.pk, until=db_now())
    seconds = [Decimal(str((each.proven_until - each.opened_at).total_seconds())) for each in sessions]
    assert abs(spent_fen(band.pk) - rate * sum(seconds, Decimal(0)) / 3600) < Decimal("0.01")


def test_one_that_dies_is_replaced_while_the_others_serve_on(band: ReplicaSet) -> None:
    before = {index: newest(row).pk for index, row in live(band).items()}
    dead = kill(live(band)[1])
    seen = until_set(band, lambda seen: seen.serving == 2)
    assert (seen.waiting, seen.status, seen.words) == (1, Status.RUNNING, "2 of 3 serve")
    waits = sets.replica(band, 1)
    assert waits.restarts == 1
    assert waits.again_at is not None
    assert timedelta(seconds=3) < waits.again_at - db_now() <= replacing.FIRST
    run_pass(platform())
    assert reload(waits.workload).status == Status.QUEUED, "it is started before its pause is over"
    no_pause()
    until_set(band, all_serve(band))
    after = {index: newest(row) for index, row in live(band).items()}
    assert [after[0].pk, after[2].pk] == [before[0], before[2]]
    assert after[1].pk != dead.pk
    assert after[1].number == 2
    dead.refresh_from_db()
    assert MeterSession.objects.get(pk=dead.pk).closed_at == dead.ended_at
    assert not Placement.objects.filter(attempt=dead, released_at__isnull=True).exists()
    assert sets.replica(band, 1).restarts == 1


def test_one_that_ends_well_is_replaced_too(world: World) -> None:
    found = serve(world, 1, argv=("true",))
    until_set(found, lambda seen: seen.waiting == 1 and live(found)[0].attempt_number == 1)
    row = live(found)[0]
    assert (row.reason, row.fault, row.desired) == (Reason.FINISHED, Fault.USER, Desired.RUNNING)
    assert Hold.objects.filter(workload_id=row.pk, end__isnull=True).count() == 1


def test_the_pause_grows_with_each_end_in_a_row(world: World) -> None:
    found = serve(world, 1, argv=("false",))
    pauses = []
    for number in (1, 2, 3):
        until_set(found, lambda seen, number=number: seen.waiting == 1 and live(found)[0].attempt_number == number)
        row = live(found)[0]
        pauses.append(round((row.queued_at - row.status_since).total_seconds()))
        assert row.reason == Reason.EXIT_CODE
        no_pause()
    assert pauses == [10, 20, 40]


@pytest.mark.parametrize(("failures", "seconds"), [(1, 10), (2, 20), (5, 160), (6, 300), (60, 300)])
def test_the_pause_has_an_end(failures: int, seconds: int) -> None:
    assert replacing.pause(failures) == timedelta(seconds=seconds)


def test_who_ran_for_long_starts_again_after_the_shortest_pause(band: ReplicaSet) -> None:
    row = live(band)[0]
    attempt = newest(row)
    Attempt.objects.filter(pk=attempt.pk).update(
        started_at=db_now() - timedelta(hours=1), placed_at=db_now() - timedelta(hours=2)
    )
    kinds_of_end = [(None, 10), (599.0, 20), (600.0, 10)]
    for number, (ran, seconds) in enumerate(kinds_of_end, start=2):
        latest = Attempt(workload=row, number=number, organisation_id=row.organisation_id, node=attempt.node)
        Attempt.objects.filter(pk=attempt.pk).update(exit_reason="exited", exit_code=1, ran_for_s=ran or 700.0)
        assert replacing.pause_after(latest, 1.0) == timedelta(seconds=seconds)
    assert replacing.pause_after(latest, 600.0) == replacing.FIRST


def test_who_fails_by_its_own_fault_is_not_first_in_line(world: World) -> None:
    row = Workload(attempt_number=1, spec=live(serve(world, 1))[0].spec, fault=Fault.USER, queued_at=db_now())
    assert not task_of(row).requeued
    row.fault = Fault.NODE
    assert task_of(row).requeued


def test_a_lost_machine_takes_its_own_replica_only(band: ReplicaSet) -> None:
    rows = live(band)
    node = newest(rows[2]).node
    simulation.switch(platform(), node_id=node.pk, on=False)
    lost.declare(platform(), node_id=node.pk)
    for _turn in range(50):
        lost.advance(platform())
        if reload(rows[2]).status == Status.QUEUED:
            break
    seen = summed(band)
    assert (seen.serving, seen.waiting) == (2, 1)
    assert reload(rows[2]).reason == Reason.LOST
    assert reload(rows[2]).queued_at <= db_now(), "it was not its fault, so it does not pause"


def test_a_drain_that_stops_moves_replicas(band: ReplicaSet) -> None:
    row = live(band)[0]
    node = newest(row).node
    drains.drain(platform(), node_id=node.pk, notice=timedelta(0), action=DrainAction.STOP)
    until_set(band, lambda seen: seen.serving == 2)
    drains.advance(platform())
    until_set(band, lambda seen: seen.waiting == 1)
    assert (reload(row).reason, row.desired) == (Reason.DRAINED, Desired.RUNNING)
