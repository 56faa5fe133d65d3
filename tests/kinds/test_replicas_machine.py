"""Replicas in every order of scaling, dying, stopping and loops that are killed on the way: what must always hold."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.db.models import F
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.billing.holds.services import open_hold
from apps.billing.models import MeterSession
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.tenants.models import Quota
from apps.workloads import nodes
from apps.workloads import services as workloads
from apps.workloads.choices import LIVE, Desired, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.replicas import converge
from apps.workloads.replicas import selectors as sets
from apps.workloads.replicas import services as replicas
from tests.builders import World, make_world, platform
from tests.kinds.replicated import serve, simulated_machines
from tests.kinds.toy.kind import LINE
from tests.searching import run_machine
from tests.workloads.loops import make_due

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("serving_toy")]

CARDS = 3
LOOPS: tuple[Callable[[], object], ...] = (
    lambda: run_pass(platform()),
    lambda: (make_due(), reconcile_due(platform())),
    lambda: converge.sweep(platform()),
)
# Where a process may be killed. What a loop has committed before stays.
POINTS = (
    "apps.workloads.states.stop",
    "apps.workloads.states.replace",
    "apps.workloads.states.place",
    "apps.workloads.states._end_attempt",
    "apps.workloads.replicas.states.want",
    "apps.workloads.replicas.states.end",
    "apps.workloads.replicas.states.ended",
    "apps.workloads.replicas.converge.stop",
    "apps.billing.services.close_meter",
    "apps.billing.services.release_hold",
)


def _dies(*_anything: object, **_more: object) -> object:
    raise OSError("killed here")


class Band(RuleBasedStateMachine):
    """One set on three cards. The simulated driver's stubs run on a clock that only moves when a rule says so."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = ExitStack()
        self.undo.enter_context(transaction.atomic())
        self.undo.callback(transaction.set_rollback, True)
        self.undo.enter_context(acting(platform()))
        self.patch = self.undo.enter_context(pytest.MonkeyPatch.context())
        self.world: World = make_world(balance_fen=10_000_000)
        simulated_machines(CARDS)
        self.seconds = 0.0
        self.grants = Grants(nodes.data_root() / f"simulated-{self.world.organisation.pk}")
        driver = SimulatedDriver(nodes.local_driver(), self.grants, processes=0, clock=lambda: self.seconds)
        self.patch.setitem(nodes._DRIVERS, "simulated", lambda: driver)
        self.band = serve(self.world, 2)

    def teardown(self) -> None:
        try:
            self.converges()
            self.ends()
        finally:
            self.undo.close()

    def live(self) -> list[Workload]:
        return list(Workload.objects.filter(replica_set=self.band, status__in=LIVE).order_by("replica_index", "pk"))

    @rule(wanted=st.integers(1, 5))
    def scale(self, wanted: int) -> None:
        try:
            found = replicas.scale(self.world.actor, self.band.pk, wanted)
            assert found.wanted == wanted == converge.wanted_replicas(found).count()
        except Conflict:
            self.band.refresh_from_db()
            gone = not converge.wanted_replicas(self.band).exists()
            assert self.band.desired == Desired.STOPPED or gone

    @rule(which=st.integers(0, 9), how=st.sampled_from(["signal", "record"]))
    def kill(self, which: int, how: str) -> None:
        """Its program ends, or its machine forgets it."""
        rows = Attempt.objects.filter(workload__replica_set=self.band, ended_at__isnull=True, handle__isnull=False)
        attempts = list(rows.order_by("pk"))
        if not attempts:
            return
        handle = Handle.from_dict(attempts[which % len(attempts)].handle or {})
        if how == "signal":
            nodes.driver_named("simulated").stop(handle, 0.0)
        else:
            self.grants.forget(handle.ref)

    @rule(which=st.integers(0, 9))
    def stop_one(self, which: int) -> None:
        if rows := [row for row in self.live() if row.desired == Desired.RUNNING]:
            workloads.stop(self.world.actor, rows[which % len(rows)])

    @rule(seconds=st.sampled_from([1.0, 5.0, 130.0]))
    def pass_time(self, seconds: float) -> None:
        """For the programs, which end well after two minutes, and for those that pause."""
        self.seconds += seconds
        Workload.objects.filter(replica_set=self.band, status=Status.QUEUED).update(
            queued_at=F("queued_at") - timedelta(seconds=seconds)
        )

    @rule(turns=st.integers(1, 3))
    def turn(self, turns: int) -> None:
        for _turn in range(turns):
            for loop in LOOPS:
                loop()

    @rule(which=st.integers(0, len(LOOPS) - 1), point=st.sampled_from(POINTS))
    def killed(self, which: int, point: str) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(point, _dies)
            self._attempted(LOOPS[which])
        Attempt.objects.filter(ended_at__isnull=True).update(lease_until=None)

    @rule(point=st.sampled_from(POINTS), wanted=st.integers(1, 5))
    def killed_while_scaling(self, point: str, wanted: int) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(point, _dies)
            self._attempted(partial(self.scale, wanted))

    @staticmethod
    def _attempted(act: Callable[[], object]) -> None:
        """What a process does until it is killed: its open transaction is rolled back."""
        try:
            with transaction.atomic():
                act()
        except OSError:
            pass

    @rule()
    def stop(self) -> None:
        if sets.summary(self.band).leaving % 2:  # rarely, since everything is over then
            try:
                replicas.stop(self.world.actor, self.band.pk)
            except Conflict:
                self.band.refresh_from_db()
                assert self.band.ended_at is not None

    @invariant()
    def no_more_than_wanted_and_one_of_each_number(self) -> None:
        self.band.refresh_from_db()
        rows = self.live()
        assert sum(row.desired == Desired.RUNNING for row in rows) <= self.band.wanted
        assert max(Counter(row.replica_index for row in rows).values(), default=0) <= 1
        assert not (self.band.ended_at and rows)

    @invariant()
    def each_is_charged_from_its_own_proof_to_its_own_end(self) -> None:
        attempts = {each.pk: each for each in Attempt.objects.filter(workload__replica_set=self.band)}
        sessions = MeterSession.objects.in_bulk(list(attempts))
        for pk, attempt in attempts.items():
            session = sessions.get(pk)
            assert (session is None) == (attempt.started_at is None)
            if session is not None:
                assert (session.replicas, session.opened_at) == (1, attempt.started_at)
                assert session.closed_at == attempt.ended_at

    @invariant()
    def what_is_held_is_that_of_the_living(self) -> None:
        rows = self.live()
        assert all(open_hold(row.pk) is not None for row in rows)
        of_all = Quota.objects.filter(organisation=self.world.organisation, resource=LINE, user=None, department=None)
        assert of_all.values_list("used", flat=True).first() == len(rows)
        held = Placement.objects.filter(attempt__workload__replica_set=self.band, released_at__isnull=True)
        ended = held.filter(attempt__ended_at__isnull=False)
        assert not ended.exists()
        assert held.count() == sum(row.status != Status.QUEUED for row in rows)

    def converges(self) -> None:
        """Left alone, as many serve as are wanted, or as there are cards."""
        for _turn in range(40):
            self.pass_time(4.0)
            self.turn(1)
            seen = sets.summary(self.band)
            self.band.refresh_from_db()
            if self.band.ended_at is not None or (not seen.leaving and seen.serving == min(seen.wanted, CARDS)):
                break
        else:
            raise AssertionError(f"does not converge: {sets.summary(self.band)}")
        if self.band.ended_at is None:
            assert converge.wanted_replicas(self.band).count() == self.band.wanted
            on = [row.node for row in sets.replicas(self.band) if row.node]
            assert len(on) == len(set(on))

    def ends(self) -> None:
        """Once it was asked to end, nothing is left."""
        if self.band.desired == Desired.RUNNING:
            replicas.stop(self.world.actor, self.band.pk)
        for _turn in range(10):
            self.pass_time(1.0)
            self.turn(1)
            self.band.refresh_from_db()
            if self.band.ended_at is not None:
                break
        assert self.band.ended_at is not None
        self.no_more_than_wanted_and_one_of_each_number()
        self.each_is_charged_from_its_own_proof_to_its_own_end()
        self.what_is_held_is_that_of_the_living()
        attempts = Attempt.objects.filter(workload__replica_set=self.band)
        assert not attempts.filter(ended_at__isnull=True).exists()
        driver = nodes.driver_named("simulated")
        for attempt in attempts.filter(handle__isnull=False):
            assert driver.observe(Handle.from_dict(attempt.handle or {})).phase.is_final


@pytest.mark.hypothesis
def test_whatever_happens_to_replicas_the_promises_hold(db: None, settings: LazySettings) -> None:
    run_machine(Band, count=40, steps=20)
