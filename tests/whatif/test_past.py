"""The platform's own past becomes arrivals, each end of a run treated as it was; and goes out and in as a trace."""

import io
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.whatif import services
from apps.whatif.choices import Hardware, Source
from apps.whatif.editing import read_all
from apps.whatif.replaying import past, traces
from apps.whatif.replaying.applying import side_b
from apps.whatif.replaying.gather import side_a
from apps.whatif.scenario_scope import ScenarioScope
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from scheduler.types import ANY_MODEL, Gang, Mode
from tests.builders import World, platform, submit_workload

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = 3600.0


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def ran(world: World, submitted: float, *stays: tuple[float, float | None, float | None], ended: float | None) -> str:
    """A workload submitted at this hour, with (placed, started, ended) stays on cards, in hours; its id."""
    with acting(world.actor):
        workload = submit_workload(world)
    status = Status.SUCCEEDED if ended is not None else Status.RUNNING if stays else Status.QUEUED
    Workload.objects.filter(pk=workload.pk).update(
        created_at=at(submitted),
        queued_at=at(submitted),
        status=status,
        started_at=at(stays[0][1]) if stays and stays[0][1] is not None else None,
        ended_at=None if ended is None else at(ended),
    )
    for number, (placed, started, left) in enumerate(stays, 1):
        Attempt.objects.create(
            organisation=world.organisation,
            workload=workload,
            number=number,
            node=world.node,
            placed_at=at(placed),
            started_at=None if started is None else at(started),
            ended_at=None if left is None else at(left),
        )
    return str(workload.pk)


@pytest.fixture
def history(world: World) -> dict[str, str]:
    with acting(platform()):
        for run in range(12):  # enough to know how long such work takes
            ran(world, -20 - run, (-19 - run, -19 - run, -17 - run), ended=-17 - run)
        return {
            "over": ran(world, -3, (-2, -2, -1), ended=-1),
            "whole": ran(world, 1, (1.5, 1.75, 4.75), ended=4.75),
            "carried": ran(world, -2, (-1, -0.5, 2), ended=2),
            "twice": ran(world, 1, (2, 2, 3), (5, 5, 7), ended=7),
            "endless": ran(world, 3, (4, 4, None), ended=None),
            "cancelled": ran(world, 5, ended=6),
            "waiting": ran(world, 6, ended=None),
            "failed": ran(world, 6, (6.5, None, 7), ended=7),
            "later": ran(world, 30, (31, 31, 32), ended=32),
        }


def test_each_task_arrives_as_it_did(world: World, history: dict[str, str]) -> None:
    with acting(platform()):
        found = past.past_between(START, at(24), simulated=False)
    seen: dict[str, Any] = {arrival.task.id: arrival for arrival in found.arrivals}
    by_name = {name: seen.get(pk) for name, pk in history.items()}
    assert by_name["over"] is None
    assert by_name["later"] is None
    told = {
        name: (a.run_s / HOUR, a.startup_s / HOUR, a.gives_up_s, a.carried, a.task.requeued)
        for name, a in by_name.items()
        if a is not None
    }
    assert told == {
        "whole": (3.0, 0.25, None, False, False),
        "carried": (2.0, 0.0, None, True, False),
        "twice": (3.0, 0.0, None, False, False),
        "endless": (math.inf, 0.0, None, False, False),
        "cancelled": (2.0, 0.0, HOUR, False, False),
        "waiting": (2.0, 0.0, None, False, False),
        "failed": (0.0, 0.5, None, False, False),
    }
    assert (found.guessed, found.left_out, len(found.past)) == (2, 0, 13)
    assert set(found.rates.values()) == {Decimal(360)}
    assert found.organisations == {str(world.organisation.pk): world.organisation.name}


def test_a_span_is_left_as_it_was_found(world: World, history: dict[str, str], root: Actor) -> None:
    with acting(platform()):
        before = list(Workload.objects.order_by("pk").values())
        ground = ScenarioScope(root, Source.HISTORY, Hardware.REAL)
        name = world.organisation.name
        rows = [{"kind": "weight", "organisation": name, "weight": 2}, {"kind": "min_runtime", "minutes": 1}]
        scenario = services.create(root, services.ScenarioSpec("Past", ground, START, at(24), read_all(rows, ground)))
        a = side_a(scenario)
        b = side_b(a, read_all(rows, ground))
        assert list(Workload.objects.order_by("pk").values()) == before
    assert (len(a.arrivals), [node.id for node in a.nodes]) == (7, [str(world.node.pk)])
    key = str(world.organisation.pk)
    assert {q.weight for q in b.queues if q.id == key} == {2.0}
    assert (a.times.min_runtime_s, b.times.min_runtime_s) == (600.0, 60.0)
    assert a.arrivals == b.arrivals


def test_the_past_goes_out_as_a_trace_and_comes_in_the_same(world: World, history: dict[str, str]) -> None:
    with acting(platform()):
        gangs = {"elastic": (3, 2), "whole": (3, None)}
        for name, (members, least) in gangs.items():
            gang = submit_workload(world, key=name, members=members, least_members=least)
            Workload.objects.filter(pk=gang.pk).update(created_at=at(2), queued_at=at(2))
        found = past.past_between(START, at(24), simulated=False)
    assert {arrival.task.gang for arrival in found.arrivals} == {None, Gang(3, 2), Gang(3)}
    lines = [traces.Line(arrival, found.rates[arrival.task.id]) for arrival in found.arrivals]
    text = io.StringIO()
    traces.write_csv(text, lines, found.organisations, found.users)
    back = {line.arrival.task.id: line for line in traces.read(io.StringIO(text.getvalue()))}
    assert len(back) == len(lines)
    for line in lines:
        one, other = line.arrival, back[line.arrival.task.id].arrival
        assert (one.run_s, one.startup_s, one.gives_up_s, one.carried) == (
            other.run_s,
            other.startup_s,
            other.gives_up_s,
            other.carried,
        )
        assert back[one.task.id].rate == line.rate
        assert (one.task.cpu_milli, one.task.gpu, one.task.gang, one.task.priority) == (
            other.task.cpu_milli,
            other.task.gpu,
            other.task.gang,
            other.task.priority,
        )
        assert other.task.organisation == world.organisation.name


def test_side_b_has_the_changes_and_nothing_else(root: Actor) -> None:
    ground = ScenarioScope(root, Source.SAMPLE, Hardware.SIMULATED)
    rows: list[dict[str, object]] = [
        {"kind": "guarantee", "organisation": "Speech group", "gpu_model": "H100", "cards": "1.5"},
        {"kind": "guarantee", "organisation": "Speech group", "cards": "2"},
        {"kind": "priority", "user": "speech-1", "priority": 5},
        {"kind": "mode", "node": "sim-a100", "which": "0-1, 4", "mode": "mig", "layout": "3g.40gb, 1g.10gb×4"},
        {"kind": "node_add", "node": "sim-h100", "count": 2},
        {"kind": "node_remove", "node": "sim-a30"},
    ]
    with acting(root):
        changes = read_all(rows, ground)
        start = datetime(2026, 11, 2, tzinfo=UTC)
        wanted = services.ScenarioSpec("All", ground, start, start + timedelta(days=1), changes)
        a = side_a(services.create(root, wanted))
        b = side_b(a, changes)
    queue = next(q for q in b.queues if q.id == "Speech group")
    assert queue.guarantee.gpu_milli == {"H100": 1500, ANY_MODEL: 2000}
    assert {x.task.priority for x in b.arrivals if x.task.user == "speech-1"} == {5}
    assert len(b.nodes) == len(a.nodes) + 2 - 1
    cut = {card.index: card for node in b.nodes if node.id == "sim-a100" for card in node.devices}
    assert [index for index, card in cut.items() if card.mig_profiles is not None] == [0, 1, 4]
    assert cut[0].mode is Mode.MIG
    assert [(p.name, p.maximum) for p in cut[0].mig_profiles or ()] == [("3g.40gb", 1), ("1g.10gb", 4)]
    twins = [node for node in b.nodes if node.id.startswith("sim-h100")]
    assert len({card.id for node in twins for card in node.devices}) == 24
