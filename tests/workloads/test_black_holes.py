"""A node that loses whatever it is given: a few tries, and it is given no more; no work fails because of it."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.clusters import services
from apps.clusters.choices import Quarantine
from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.workloads import nodes
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Exit, ExitReason, Handle, Observation, Phase
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants
from apps.workloads.hardware import black_holes
from apps.workloads.hardware.black_holes import MOST_LOSSES
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_node, make_staff, platform, reload, signed_in, submit_workload
from tests.searching import examples
from tests.workloads.loops import tick

SHIM_KILLED = Said(Code.SHIM_KILLED)


class Fates(SimulatedDriver):
    """Simulated machines without processes. On `bad` ones everything is lost before it begins, as `said`."""

    def __init__(self) -> None:
        self.at_s = 0.0
        self.bad: dict[str, Said] = {}
        self.swallows: Callable[[Handle], bool] = lambda _handle: True
        self.lost_while_open: list[str] = []
        grants = Grants(nodes.data_root().parent / "simulated")
        super().__init__(nodes.local_driver(), grants, 0, clock=lambda: self.at_s)

    def observe(self, handle: Handle) -> Observation:
        if handle.node not in self.bad or not self.swallows(handle):
            return super().observe(handle)
        if not Node.objects.get(name=handle.node).quarantine:
            self.lost_while_open.append(handle.ref)
        return Observation(Phase.LOST, exit=Exit(None, None, ExitReason.LOST, self.bad[handle.node]))


@pytest.fixture
def fates(world: World, monkeypatch: pytest.MonkeyPatch) -> Fates:
    Node.objects.filter(pk=world.node.pk).update(status="cordoned")
    made = Fates()
    monkeypatch.setitem(nodes._DRIVERS, "simulated", lambda: made)
    return made


def simulated(*names: str, cpu_milli: int = 4000) -> list[Node]:
    made = [make_node(name=name, cpu_milli=cpu_milli) for name in names]
    Node.objects.filter(pk__in=[node.pk for node in made]).update(driver="simulated")
    return made


def turn(fates: Fates, times: int = 1) -> None:
    for _time in range(times):
        fates.at_s += 4.0
        tick()


def statuses(workloads: Sequence[Workload]) -> set[str]:
    return {reload(workload).status for workload in workloads}


def why(name: str) -> str:
    return Node.objects.get(name=name).quarantine


@pytest.mark.hypothesis
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(1, 12),
    place=st.integers(0, 3),
    burst=st.integers(1, 12),
    sizes=st.lists(st.sampled_from([4000, 6000, 8000]), min_size=4, max_size=4),
)
def test_a_bad_node_among_good_ones_loses_a_few_tries_and_fails_no_work(
    world: World, fates: Fates, count: int, place: int, burst: int, sizes: list[int]
) -> None:
    """However many wait, however they come, wherever the bad node is in the order of nodes."""
    Node.objects.filter(driver="simulated").update(status="cordoned")
    prefix = f"n{Node.objects.count()}"
    made = [simulated(f"{prefix}-{rank}", cpu_milli=size)[0] for rank, size in enumerate(sizes)]
    bad = made[place].name
    fates.bad, fates.lost_while_open = {bad: SHIM_KILLED}, []
    workloads: list[Workload] = []
    at_closing = None
    for _turn in range(40):
        workloads += [submit_workload(world) for _new in range(min(burst, count - len(workloads)))]
        turn(fates)
        if at_closing is None and why(bad):
            at_closing = Attempt.objects.filter(node__name=bad).count()
        if len(workloads) == count and statuses(workloads) == {Status.RUNNING}:
            break
    assert statuses(workloads) == {Status.RUNNING}
    assert len(fates.lost_while_open) <= MOST_LOSSES
    if at_closing is not None:
        assert Attempt.objects.filter(node__name=bad).count() == at_closing, "given more after it was closed"
    assert {each.name for each in made if why(each.name)} <= {bad}
    fates.at_s += 1000.0  # what runs comes to its end, and makes room for the next example
    turn(fates)
    assert statuses(workloads) == {Status.SUCCEEDED}


class TestClosing:
    def test_operators_are_told_once_and_the_page_says_why(self, world: World, fates: Fates) -> None:
        staff = make_staff()
        simulated("bad", "good")
        fates.bad = {"bad": SHIM_KILLED, "good": SHIM_KILLED}
        for _new in range(4):
            submit_workload(world)
        turn(fates, 6)
        assert (why("bad"), why("good")) == (Quarantine.LOSES_WORK, Quarantine.LOSES_WORK)
        assert set(Workload.objects.values_list("status", flat=True)) == {Status.QUEUED}, "they wait, and do not fail"
        told = [words(each) for each in Notice.objects.filter(kind="node.loses_work", user=staff)]
        assert sorted(each.title for each in told) == [
            "bad loses work and takes no more",
            "good loses work and takes no more",
        ]
        found = Node.objects.get(name="bad")
        client = signed_in(staff)
        page = client.get(f"/console/nodes/{found.pk}/").content.decode()
        assert "3 tries of work in a row were lost on bad" in page
        assert "Let it take work" in page

    def test_a_person_opens_it_and_what_was_is_forgotten(self, world: World, fates: Fates) -> None:
        simulated("bad", "good")
        fates.bad = {"bad": SHIM_KILLED, "good": SHIM_KILLED}
        workloads = [submit_workload(world) for _new in range(4)]
        turn(fates, 6)
        fates.bad = {}
        found, client = Node.objects.get(name="bad"), signed_in(make_staff())
        assert client.post(f"/api/v1/console/nodes/{found.pk}/trust/").json()["quarantine"] is None
        assert client.post(f"/api/v1/console/nodes/{found.pk}/trust/").status_code == 409
        assert Entry.objects.filter(action="node.trusted").count() == 1
        turn(fates, 2)
        assert statuses(workloads) == {Status.RUNNING}

    def test_work_that_began_there_proves_the_node(self, world: World, fates: Fates) -> None:
        """Some of what it is given begins and some is lost: that is no black hole."""
        [node] = simulated("sometimes")
        make_node(name="other", cpu_milli=0)
        fates.bad = {"sometimes": SHIM_KILLED}
        for _time in range(MOST_LOSSES):
            lost, runs = submit_workload(world), submit_workload(world)
            refs = Attempt.objects.filter(workload=runs)
            fates.swallows = lambda handle, refs=refs: not refs.filter(pk=handle.ref).exists()  # type: ignore[misc]
            turn(fates, 1)
            Workload.objects.filter(pk=lost.pk).update(status=Status.STOPPED)
            Attempt.objects.filter(workload=runs).update(started_at=db_now() + timedelta(seconds=1))
        assert why(node.name) == ""

    def test_one_event_that_ends_all_of_a_machine_is_none(self, world: World, fates: Fates) -> None:
        simulated("restarted", "good")
        fates.bad = {"restarted": Said(Code.MACHINE_RESTARTED), "good": Said(Code.MACHINE_RESTARTED)}
        for _new in range(6):
            submit_workload(world)
        turn(fates, 3)
        assert (why("restarted"), why("good")) == ("", "")


class TestOneWorkload:
    def test_that_is_lost_wherever_it_goes_closes_one_node_at_most_and_fails(self, world: World, fates: Fates) -> None:
        names = ("a", "b", "c", "d")
        simulated(*names)
        fates.bad = dict.fromkeys(names, SHIM_KILLED)
        workload = submit_workload(world)
        turn(fates, 12)
        assert reload(workload).status == Status.FAILED
        assert [why(name) for name in names].count("") == 3

    def test_alone_on_the_only_node_fails_and_the_node_goes_on(self, world: World, fates: Fates) -> None:
        simulated("only")
        fates.bad = {"only": SHIM_KILLED}
        workload = submit_workload(world)
        turn(fates, 6)
        assert reload(workload).status == Status.FAILED
        assert why("only") == ""


class TestTryingAgain:
    """Where no person looks, a node that was closed is tried again, which fails nobody's work."""

    @staticmethod
    def closed_for(name: str, minutes: int, why: Quarantine = Quarantine.LOSES_WORK) -> None:
        Node.objects.filter(name=name).update(
            quarantine=why, quarantine_changed_at=db_now() - timedelta(minutes=minutes)
        )

    @pytest.mark.parametrize(("minutes", "open_again"), [(29, False), (31, True)])
    def test_after_half_an_hour(self, world: World, fates: Fates, minutes: int, open_again: bool) -> None:
        simulated("only")
        self.closed_for("only", minutes)
        workload = submit_workload(world)
        turn(fates)
        assert reload(workload).status == Status.QUEUED
        assert black_holes.try_again(platform()) == open_again
        turn(fates, 3)
        assert (reload(workload).status == Status.RUNNING) is open_again

    def test_not_one_that_a_check_up_has_to_prove(self, world: World, fates: Fates) -> None:
        simulated("only")
        self.closed_for("only", 600, Quarantine.UNPROVED)
        assert black_holes.try_again(platform()) == 0
        assert why("only") == Quarantine.UNPROVED

    def test_one_that_is_still_bad_is_closed_again_and_fails_no_work(self, world: World, fates: Fates) -> None:
        simulated("only")
        fates.bad = {"only": SHIM_KILLED}
        workloads = [submit_workload(world) for _new in range(3)]
        turn(fates, 4)
        for _time in range(3):
            assert why("only") == Quarantine.LOSES_WORK
            self.closed_for("only", 31)
            assert black_holes.try_again(platform()) == 1
            turn(fates, 4)
        assert statuses(workloads) == {Status.QUEUED}
        fates.bad = {}
        self.closed_for("only", 31)
        black_holes.try_again(platform())
        turn(fates, 4)
        assert Status.FAILED not in statuses(workloads)
        assert Status.RUNNING in statuses(workloads)


def test_a_try_is_counted_once_however_often_its_end_is_seen(world: World, fates: Fates) -> None:
    simulated("bad", "good")
    fates.bad = {"bad": SHIM_KILLED, "good": SHIM_KILLED}
    submit_workload(world)
    turn(fates)
    attempt = Attempt.objects.select_related("workload").get()
    for _time in range(MOST_LOSSES):
        assert not black_holes.record_loss(platform(), attempt, db_now())
    assert len(Node.objects.get(pk=attempt.node_id).losses) == 1


def test_what_ran_or_ended_by_itself_is_not_the_nodes_doing(world: World, fates: Fates) -> None:
    simulated("good")
    submit_workload(world)
    turn(fates)
    attempt = Attempt.objects.select_related("workload").get()
    attempt.started_at = None
    lost = Exit(None, None, ExitReason.LOST, SHIM_KILLED)
    assert black_holes.is_swallowed(attempt, lost, None)
    assert not black_holes.is_swallowed(attempt, lost, 5.0)
    assert not black_holes.is_swallowed(attempt, Exit(1, None, ExitReason.EXITED), None)
    assert not black_holes.is_swallowed(attempt, Exit(None, None, ExitReason.IMAGE_FAILED), None)


def test_a_node_that_waits_for_its_proof_is_not_opened_by_hand(world: World) -> None:
    services.quarantine(platform(), node_id=world.node.pk, why=Quarantine.FILES)
    with pytest.raises(Conflict):
        services.trust(platform(), node_id=world.node.pk)
