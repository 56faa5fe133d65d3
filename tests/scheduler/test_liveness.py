"""Nobody waits beside free room: tasks that were promised room on one node do not keep each other from it."""

from dataclasses import replace
from typing import Any

from scheduler import Cause, CauseCode, Device, Engine, Gang, GpuRequest, Mode, Node, Plan, Running, Task, Wait

HOUR = 3600.0


def node(name: str, cores: int, *modes: Mode, memory_gib: int = 19, topology: tuple[str, ...] = ()) -> Node:
    cards = tuple(Device(f"{name}-{i}", i, "nvidia", "A100", 81920, mode) for i, mode in enumerate(modes))
    return Node(name, "z", "c", cores * 1000, memory_gib * 1024, cards, topology=topology)


def job(name: str, cores: int = 1, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, 0.0, cores * 1000, 2048)
    return replace(base, **fields)


def placed(task: Task, where: Node, *, at: float = 0.0) -> Running:
    return Running(task, task.id, where.id, (), at)


def started(outcome: Plan) -> list[str]:
    return sorted({place.task_id for place in outcome.places})


def test_tasks_with_promises_do_not_wait_for_each_other_on_an_empty_node() -> None:
    small = node("vm", 2)
    waiting = [job(f"a{n}", submitted_at=float(n)) for n in range(3)]
    for promised in (("a0", "a1"), ("a0", "a1", "a2"), ("a1", "a2"), ("a2", "a1", "a0")):
        outcome = Engine((small,)).plan(waiting, 10.0, promised=dict.fromkeys(promised, ("vm",)))
        assert len(outcome.places) == 2, promised


def test_the_core_that_falls_free_goes_to_the_next_one_that_was_promised_it() -> None:
    """One core is taken without an end; of three that wait for the other one, the first starts when it falls free."""
    small = node("vm", 2)
    for estimate in (None, 60.0):
        told = {"estimate_p50_s": estimate, "estimate_p90_s": estimate}
        engine = Engine((small,), [placed(job("endless"), small), placed(job("a1", **told), small)])
        waiting = [job(f"a{n}", submitted_at=float(n), **told) for n in (2, 3, 4)]
        waits = engine.plan(waiting, 10.0).waits
        promised = {wait.task_id: wait.reserved_nodes for wait in waits if wait.reserved_nodes}
        assert "a2" in promised
        engine.end("a1")
        assert started(engine.plan(waiting, 20.0, promised=promised)) == ["a2"]


def test_two_wide_runs_that_were_promised_one_node_start_one_after_the_other() -> None:
    """Whole cards come twice at no cost; the cores beside them do not."""
    wide = node("gpu", 8, *[Mode.WHOLE] * 8)
    waiting = [job(f"w{n}", 3, gpu=GpuRequest(Mode.WHOLE, 4), submitted_at=float(n)) for n in range(2)]
    outcome = Engine((wide,)).plan(waiting, 10.0, promised={"w0": ("gpu",), "w1": ("gpu",)})
    assert started(outcome) == ["w0", "w1"]


def test_a_start_that_is_only_guessed_keeps_nobody_from_free_room() -> None:
    """A notebook without an end holds one core, a run wants both: the free one is not kept for it for ever."""
    small = node("vm", 2)
    engine = Engine((small,), [placed(job("notebook"), small)])
    wide, narrow = job("wide", 2, submitted_at=1.0), job("narrow", submitted_at=2.0)
    outcome = engine.plan([wide, narrow], 10.0, promised={"wide": ("vm",)})
    assert started(outcome) == ["narrow"]
    late = engine.plan([wide, narrow], 7 * HOUR, promised={"wide": ("vm",)})
    assert started(late) == []  # by now it has waited so long that what is free is kept for it


def test_elastic_gangs_that_were_promised_one_node_start_with_what_was_kept_for_them() -> None:
    """Three members of one fit, but then two of the other do not: each would refuse the other for ever."""
    small = node("vm", 4)
    waiting = [job(f"g{n}", gang=Gang(3, 2), submitted_at=float(n)) for n in range(2)]
    outcome = Engine((small,)).plan(waiting, 10.0, promised={"g0": ("vm",), "g1": ("vm",)})
    assert started(outcome) == ["g0", "g1"]


def test_one_that_has_waited_long_does_not_hold_what_was_promised_to_another_before() -> None:
    """Each would keep the other from the empty node: by the older promise, and by holding what is free."""
    small = node("vm", 6)
    first, second = (job(f"g{n}", 2, gang=Gang(3), submitted_at=float(n), estimate_p90_s=100.0) for n in range(2))
    outcome = Engine((small,)).plan([first, second], 7 * HOUR, promised={"g1": ("vm",), "g0": ("vm",)})
    assert started(outcome) == ["g1"]


def test_a_machine_that_is_gone_keeps_room_for_nobody() -> None:
    dead, alive = replace(node("dead", 2), healthy=False), node("alive", 2)
    gang, single = job("gang", 2, gang=Gang(2)), job("single", 2, submitted_at=1.0)
    outcome = Engine((dead, alive)).plan([gang, single], 10.0, promised={"gang": ("dead", "alive")})
    assert started(outcome) == ["single"]


def test_room_that_is_emptied_for_a_task_goes_to_nobody_who_would_be_asked_to_leave_next() -> None:
    """Two that yield would take turns in its place, each asked to leave as soon as it runs, and it never starts."""
    small = node("vm", 4)
    yields = {"preemptible": True, "priority": 1}
    low, other, high = job("low", 2, **yields), job("other", 2, **yields), job("high", 3, priority=5)
    engine = Engine((small,), [placed(low, small)])
    outcome = engine.plan([high, other], 10.0)
    assert [(gone.task_id, gone.for_task_id) for gone in outcome.preempts] == [("low", "high")]
    assert started(outcome) == []
    engine.mark_leaving("low", "high")
    assert started(engine.plan([high, other], 20.0)) == []
    engine.end("low")
    assert started(engine.plan([high, other], 30.0, holds={"high": ("vm",)})) == ["high"]


def test_the_check_on_a_pass_names_those_who_refuse_each_other() -> None:
    """What a pass once said of three runs on an empty node, each kept from it by the promises to the others."""
    small = node("vm", 2)
    engine, waiting = Engine((small,)), [job(f"a{n}", submitted_at=float(n)) for n in range(3)]
    behind = Cause(CauseCode.BEHIND_RESERVATION)
    waits = [Wait(task.id, behind, (), at, None, 10.0, reserved_nodes=("vm",)) for at, task in enumerate(waiting, 1)]
    assert engine.standing_still(waiting, waits, 10.0) == ("a0", "a1", "a2")
    later = [replace(wait, start_p50=500.0) for wait in waits[:1]]
    assert engine.standing_still(waiting, [*later, *waits[1:]], 10.0) == ("a0",)  # the others would delay it
    quota = [replace(wait, cause=Cause(CauseCode.QUOTA), reserved_nodes=()) for wait in waits]
    assert engine.standing_still(waiting, quota, 10.0) == ()
