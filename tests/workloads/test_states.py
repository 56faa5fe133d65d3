"""The status machine: only legal edges, one winner for each, nothing written by a stale claimant."""

from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from apps.billing.models import MeterSession
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Quota
from apps.workloads import states
from apps.workloads.choices import LIVE, TERMINAL, Reason, Status
from apps.workloads.models import Attempt, Event, Placement, Workload
from apps.workloads.reconcile.attempts import claim_due
from apps.workloads.states import TRANSITIONS, Claim, Why
from tests.builders import World, make_world, platform, reload, submit_workload
from tests.searching import run_machine
from tests.workloads.loops import make_due


def put_on_node(world: World, workload: Workload) -> Attempt:
    attempt = Attempt(
        id=uuid4(),
        organisation_id=workload.organisation_id,
        workload=workload,
        number=workload.attempt_number + 1,
        node=world.node,
    )
    piece = Placement(
        organisation_id=workload.organisation_id, attempt=attempt, node=world.node, cpu_milli=1000, memory_mib=512
    )
    assert states.place(platform(), workload, attempt, [piece])
    attempt.refresh_from_db()
    return attempt


def claim(attempt: Attempt) -> Claim:
    make_due()
    Attempt.objects.update(lease_until=None)
    return next(c for c in claim_due(10) if c.attempt.pk == attempt.pk)


@pytest.fixture
def workload(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world)


@pytest.mark.parametrize("leave", [states.stop, states.fail_waiting])
def test_whoever_leaves_the_queue_without_a_start_is_promised_nothing(
    world: World, workload: Workload, leave: Callable[[Actor, Workload, Why], bool]
) -> None:
    Workload.objects.filter(pk=workload.pk).update(promised_nodes=[str(world.node.pk)], promised_at=db_now())
    assert leave(platform(), workload, Why(Reason.BY_PERSON))
    workload.refresh_from_db()
    assert (workload.promised_nodes, workload.promised_at) == ([], None)


def test_a_newer_claim_voids_the_older_one(world: World, workload: Workload) -> None:
    attempt = put_on_node(world, workload)
    older = claim(attempt)
    newer = claim(attempt)
    assert not states.start(platform(), older, {"driver": "local", "node": "n", "ref": "r"})
    assert states.start(platform(), newer, {"driver": "local", "node": "n", "ref": "r"})


def test_an_attempt_under_lease_is_claimed_by_nobody_else(world: World, workload: Workload) -> None:
    put_on_node(world, workload)
    assert len(claim_due(10)) == 1
    make_due()
    assert claim_due(10) == []


def test_a_terminal_status_is_final(world: World, workload: Workload) -> None:
    attempt = put_on_node(world, workload)
    held = claim(attempt)
    assert states.finish(platform(), held, Status.FAILED, Why(Reason.REFUSED), db_now())
    events = Event.objects.count()
    assert not states.finish(platform(), held, Status.STOPPED, Why(Reason.BY_PERSON), db_now())
    assert not states.stop(platform(), workload, Why(Reason.BY_PERSON))
    assert not states.run(platform(), held, db_now())
    assert Event.objects.count() == events


def test_the_database_refuses_a_second_live_attempt(world: World, workload: Workload) -> None:
    attempt = put_on_node(world, workload)
    with pytest.raises(IntegrityError, match="one_live_attempt"), transaction.atomic():
        Attempt.objects.create(organisation_id=attempt.organisation_id, workload=workload, number=9, node=world.node)


def test_a_placement_never_writes_over_an_attempt_that_exists(world: World, workload: Workload) -> None:
    with acting(world.actor):
        other = submit_workload(world)
    taken = put_on_node(world, other)
    again = Attempt(id=taken.pk, organisation_id=taken.organisation_id, workload=workload, number=1, node=world.node)
    with pytest.raises(IntegrityError), transaction.atomic():
        states.place(platform(), workload, again, [])
    assert Attempt.objects.get(pk=taken.pk).workload == other
    assert reload(workload).status == Status.QUEUED


def test_the_database_refuses_to_change_what_was_submitted(world: World, workload: Workload) -> None:
    with pytest.raises(IntegrityError, match="cannot change"), transaction.atomic():
        Workload.objects.filter(pk=workload.pk).update(spec={"argv": ["rm"]})


def test_what_was_lost_queues_again_and_keeps_its_quota(world: World, workload: Workload) -> None:
    attempt = put_on_node(world, workload)
    held = claim(attempt)
    states.start(platform(), held, {"driver": "local", "node": "n", "ref": "r"})
    states.run(platform(), held, db_now())
    assert states.requeue(platform(), held, Why(Reason.LOST), db_now())
    workload.refresh_from_db()
    assert (workload.status, workload.attempt_number) == (Status.QUEUED, 1)
    assert set(Quota.objects.filter(resource="runs").values_list("used", flat=True)) == {1}
    assert put_on_node(world, workload).number == 2


class Life(RuleBasedStateMachine):
    """Every order of events that can reach a workload; claims may be stale, calls may repeat."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = ExitStack()
        self.undo.enter_context(transaction.atomic())
        self.undo.callback(transaction.set_rollback, True)
        self.undo.enter_context(acting(platform()))
        self.world = make_world()
        with acting(self.world.actor):
            self.workload = submit_workload(self.world)
        self.claims: list[Claim] = []
        self.seen = [Status.QUEUED]

    def teardown(self) -> None:
        self.undo.close()

    def status(self) -> Status:
        self.workload.refresh_from_db()
        return Status(self.workload.status)

    @precondition(lambda self: self.status() is Status.QUEUED)
    @rule()
    def place(self) -> None:
        put_on_node(self.world, self.workload)

    @precondition(lambda self: Attempt.objects.filter(workload=self.workload, ended_at__isnull=True).exists())
    @rule()
    def claim(self) -> None:
        self.claims.append(claim(Attempt.objects.get(workload=self.workload, ended_at__isnull=True)))

    @precondition(lambda self: self.claims)
    @rule(
        which=st.integers(min_value=0), verb=st.sampled_from(["start", "run", "finish", "fail", "stopped", "requeue"])
    )
    def report(self, which: int, verb: str) -> None:
        held = self.claims[which % len(self.claims)]
        current = self._is_current(held)
        before, now = self.status(), db_now()
        moved = {
            "start": lambda: states.start(platform(), held, {"driver": "local", "node": "n", "ref": "r"}),
            "run": lambda: states.run(platform(), held, now),
            "finish": lambda: states.finish(platform(), held, Status.SUCCEEDED, Why(Reason.FINISHED), now),
            "fail": lambda: states.finish(platform(), held, Status.FAILED, Why(Reason.EXIT_CODE), now),
            "stopped": lambda: states.finish(platform(), held, Status.STOPPED, Why(Reason.BY_PERSON), now),
            "requeue": lambda: states.requeue(platform(), held, Why(Reason.LOST), now),
        }[verb]()
        assert not moved or current, "a stale claim wrote"
        assert moved == (self.status() != before)

    def _is_current(self, held: Claim) -> bool:
        row = Attempt.objects.get(pk=held.attempt.pk)
        return row.fence == held.fence and row.ended_at is None

    @rule()
    def stop(self) -> None:
        states.stop(platform(), self.workload, Why(Reason.BY_PERSON))

    @invariant()
    def only_legal_edges(self) -> None:
        status = self.status()
        path = list(
            Event.objects.filter(workload=self.workload, kind="status").order_by("pk").values_list("status", flat=True)
        )
        for before, after in pairwise(path):
            assert Status(after) in TRANSITIONS[Status(before)]
        assert path[-1] == status

    @invariant()
    def what_is_held_matches_the_status(self) -> None:
        status = self.status()
        live = Attempt.objects.filter(workload=self.workload, ended_at__isnull=True).count()
        held = Placement.objects.filter(attempt__workload=self.workload, released_at__isnull=True).count()
        assert live == held == (status in LIVE - {Status.QUEUED})
        used = set(
            Quota.objects.filter(organisation=self.world.organisation, resource="runs").values_list("used", flat=True)
        )
        assert used == {int(status not in TERMINAL)}

    @invariant()
    def the_meter_is_open_exactly_while_it_runs(self) -> None:
        open_sessions = MeterSession.objects.filter(workload_id=self.workload.pk, closed_at__isnull=True).count()
        status = self.status()
        if status is Status.RUNNING:
            assert open_sessions == 1
        elif status is not Status.STOPPING:
            assert open_sessions == 0


@pytest.mark.hypothesis
def test_every_order_of_events_keeps_the_promises(db: None) -> None:
    run_machine(Life, count=15, steps=12)


def test_the_transition_table_has_no_way_out_of_an_end() -> None:
    assert {status for status, targets in TRANSITIONS.items() if not targets} == TERMINAL
