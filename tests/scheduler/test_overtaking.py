"""Room that was promised is not taken piece by piece by smaller tasks of others, while what is left of it lies idle."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, Engine, Gang, GpuRequest, Mode, Node, Queue, QueueLevel, Rules, Running, Task
from scheduler.simulate import Arrival, Record, simulate
from tests.scheduler.worlds import ORGANISATIONS, steady

UNITS, CARD_MIB = 2, 8192
# A node of two cores with a card that is cut as asked.
NODE = Node("vm", "z", "c", UNITS * 1000, UNITS * 1024, (Device("vm-0", 0, "nvidia", "A100", CARD_MIB, Mode.VGPU),))


def cores(units: int, organisation: str = "alice-lab", **fields: Any) -> Task:
    base = Task(f"{organisation}-{units}", organisation, "", "u", 3, 0.0, units * 1000, units * 1024)
    return replace(base, **fields)


def part(units: int, organisation: str = "alice-lab", **fields: Any) -> Task:
    asked = GpuRequest(Mode.VGPU, 1, core_milli=1000 * units // UNITS, memory_mib=CARD_MIB * units // UNITS)
    return replace(cores(units, organisation), **{"cpu_milli": 1, "memory_mib": 1, "gpu": asked, **fields})


def who_starts(earlier: Task, promised: Task) -> list[str]:
    """On the free node, where an earlier pass promised room to one and the other's turn comes first."""
    plan = Engine((NODE,)).plan([earlier, promised], 10.0, promised={promised.id: ("vm",)})
    return [place.task_id for place in plan.places]


EARLIER: dict[str, Any] = {"organisation": "bob-inc", "id": "earlier", "submitted_at": -5.0}


@pytest.mark.parametrize(
    ("earlier", "promised"),
    [
        (cores(1, **EARLIER), cores(UNITS)),
        (cores(UNITS, **EARLIER, memory_mib=0), cores(UNITS)),
        (cores(1, **EARLIER), cores(1, gang=Gang(UNITS))),
        (part(1, **EARLIER), part(UNITS)),
        (part(UNITS, **EARLIER), part(UNITS, cpu_milli=UNITS * 1000)),
    ],
    ids=["fewer cores", "less memory", "one member", "less of the card", "fewer cores beside the card"],
)
def test_a_promise_binds_others_that_take_less(earlier: Task, promised: Task) -> None:
    assert who_starts(earlier, promised)[:1] == [promised.id]


@pytest.mark.parametrize("asked", [cores, part])
def test_one_that_takes_as_much_goes_first_at_its_turn(asked: Any) -> None:
    """It would be given the room by the shares of today; nothing of it is left to lie idle."""
    assert who_starts(asked(UNITS, **EARLIER), asked(UNITS)) == ["earlier"]


def idle_beside_waiting(records: list[Record]) -> float:
    """The longest time in seconds in which a unit was free all along while a task of one waited."""

    def units(record: Record) -> int:
        return UNITS if record.task.id.endswith("whole") else 1

    edges = sorted({at for record in records for at in (record.arrived_at, record.started_at, record.ended_at)})
    longest = since = 0.0
    for start, end in pairwise(edges):
        taken = sum(units(record) for record in records if record.started_at <= start < record.ended_at)
        waits = any(record.arrived_at <= start < record.started_at and units(record) == 1 for record in records)
        if taken == UNITS or not waits:
            since = end
        longest = max(longest, end - since)
    return longest


@steady
@given(
    st.sampled_from([cores, part]),
    st.lists(
        st.tuples(st.sampled_from(ORGANISATIONS), st.booleans(), st.sampled_from([3.0, 8.0, 30.0]), st.integers(0, 2)),
        min_size=8,
        max_size=24,
    ),
)
def test_room_lies_idle_beside_waiting_tasks_until_the_next_end_only(
    asked: Any, shapes: list[tuple[str, bool, float, int]]
) -> None:
    """With exact run times: what is kept for a whole-node task is kept until what still runs there has ended."""
    arrivals, at = [], 0.0
    for number, (organisation, whole, run_s, gap) in enumerate(shapes):
        at += gap
        told = {"submitted_at": at, "estimate_p50_s": run_s, "estimate_p90_s": run_s}
        name = f"{number}-{'whole' if whole else 'unit'}"
        arrivals.append(Arrival(asked(UNITS if whole else 1, organisation, id=name, **told), run_s))
    queues = [Queue(QueueLevel.ORGANISATION, name, name) for name in ORGANISATIONS]
    report = simulate((NODE,), arrivals, queues, Rules(explain=False))
    assert len(report.records) == len(arrivals)
    longest = max(run_s for _organisation, _whole, run_s, _gap in shapes)
    assert idle_beside_waiting(list(report.records)) <= longest


@pytest.mark.parametrize(("end", "first"), [(None, "earlier"), (100.0, None)], ids=["nobody knows when", "it is known"])
def test_whoever_is_owed_a_share_waits_for_a_promise_only_if_its_start_is_known(
    end: float | None, first: str | None
) -> None:
    """The organisation that was promised the node holds its share already, and has waited long enough to hold room."""
    now = Rules().hold_after_s + 1.0
    times = {"estimate_p50_s": end, "estimate_p90_s": end}
    busy = Running(cores(1, id="busy", **times), "busy", "vm", (), now)
    queues = [Queue(QueueLevel.ORGANISATION, name, name) for name in ORGANISATIONS[:2]]
    asks = [cores(1, **EARLIER), cores(UNITS)]
    plan = Engine((NODE,), [busy]).plan(asks, now, queues, promised={cores(UNITS).id: ("vm",)})
    assert [place.task_id for place in plan.places] == ([first] if first else [])
