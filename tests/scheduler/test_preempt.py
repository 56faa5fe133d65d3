"""Who gives way, and that nobody gives way for nothing."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler import (
    Amount,
    CauseCode,
    Device,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Plan,
    Queue,
    QueueLevel,
    Rules,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
)
from tests.scheduler.worlds import steady

NOW = 10_000.0


def nodes(count: int, cards: int) -> tuple[Node, ...]:
    return tuple(
        Node(
            f"n{n}",
            "east",
            "main",
            64000,
            655360,
            tuple(Device(f"n{n}-{i}", i, "nvidia", "A100", 81920) for i in range(cards)),
        )
        for n in range(count)
    )


def job(name: str, cards: int = 1, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, cards), preemptible=True)
    return replace(base, **fields)


def running(
    task: Task, node: str, cards: list[int], started_at: float = 0.0, checkpoint: float | None = None
) -> Running:
    slices = tuple(Slice(f"{node}-{card}", 81920, 1000) for card in cards)
    return Running(task, f"{task.id}@{node}", node, slices, started_at, checkpoint)


def test_a_promise_of_its_own_does_not_keep_a_task_from_asking_for_room_later() -> None:
    """At first the victim has not had its minimum run time, so room is promised; once it has, it is asked."""
    low = running(job("low", priority=2, min_runtime_s=600.0, estimate_p50_s=90_000.0), "n0", [0], started_at=NOW)
    urgent = job("urgent", priority=5)
    view = Snapshot(nodes(1, 1), (low,), (urgent,))
    early = plan(view, NOW + 60)
    assert not early.preempts
    promise = early.wait_for("urgent")
    assert promise is not None
    assert promise.reserved_nodes == ("n0",)
    later = plan(replace(view, promised={"urgent": promise.reserved_nodes}), NOW + 660)
    assert [p.task_id for p in later.preempts] == ["low"]


def test_firm_work_goes_back_to_a_guarantee_only_where_the_rules_say_so_and_never_to_its_own_organisation() -> None:
    """Bob holds a card; Alice is promised one and waits, at the lowest priority."""
    promised = Queue(QueueLevel.ORGANISATION, "alice-lab", "alice-lab", guarantee=Amount(gpu_milli={"A100": 1000}))
    firm = running(job("firm", organisation="bob-inc", user="bob", priority=1, preemptible=False), "n0", [0])
    urgent = job("urgent", organisation="bob-inc", user="bob", priority=5)
    view = Snapshot(nodes(1, 1), (firm,), (job("asks", priority=1), urgent), (promised,))
    lent = Rules(firm_over_guarantee=False)
    assert not plan(view, NOW).preempts
    assert victims(plan(view, NOW, lent)) == ["firm"]
    assert not plan(replace(view, waiting=(urgent,)), NOW, lent).preempts
    inside = (promised, replace(promised, id="bob-inc", organisation="bob-inc"))
    assert not plan(replace(view, queues=inside), NOW, lent).preempts


def cards_asked(task: Task) -> int:
    return task.gpu.count if task.gpu else 0


def victims(outcome: Plan) -> list[str]:
    return [decision.task_id for decision in outcome.preempts]


@st.composite
def full_clusters(draw: st.DrawFn) -> Snapshot:
    """Every card is taken by a task of its own; one task waits."""
    world = nodes(draw(st.integers(1, 3)), 4)
    taken = []
    for node in world:
        for card in range(4):
            task = job(
                f"{node.id}-t{card}",
                priority=draw(st.integers(1, 5)),
                organisation=draw(st.sampled_from(["alice-lab", "bob-inc"])),
                preemptible=draw(st.integers(0, 3)) > 0,
                min_runtime_s=draw(st.sampled_from([0.0, 600.0])),
            )
            taken.append(running(task, node.id, [card], draw(st.sampled_from([0.0, 5000.0, 9900.0]))))
    waiting = job("waits", draw(st.integers(1, 4)), priority=draw(st.integers(1, 5)))
    promised = draw(st.sampled_from([0, 2000, 4000]))
    queues = (
        Queue(QueueLevel.ORGANISATION, "alice-lab", "alice-lab", guarantee=Amount(gpu_milli={"A100": promised})),
        Queue(QueueLevel.ORGANISATION, "bob-inc", "bob-inc", guarantee=Amount(gpu_milli={"A100": 2000})),
    )
    return Snapshot(world, tuple(taken), (waiting,), queues)


def allowed(world: Snapshot, chosen: tuple[Running, ...]) -> bool:
    """The rules of pre-emption, written out once more."""
    (waits,) = world.waiting
    promise = {q.organisation: q.guarantee.gpu_milli["A100"] for q in world.queues}
    used = {o: sum(1000 * len(r.slices) for r in world.running if r.task.organisation == o) for o in promise}
    for member in chosen:
        if not member.task.preemptible or NOW - member.started_at < member.task.min_runtime_s:
            return False
        if member.task.organisation == waits.organisation and member.task.priority >= waits.priority:
            return False
    others = [m for m in chosen if m.task.organisation != waits.organisation]
    if not others:
        return True
    gains = used[waits.organisation] + 1000 * cards_asked(waits)
    lost = sum(1000 * len(m.slices) for m in others)
    return gains <= promise[waits.organisation] and used["bob-inc"] - lost >= promise["bob-inc"]


def frees_enough(world: Snapshot, chosen: tuple[Running, ...]) -> bool:
    (waits,) = world.waiting
    per_node: dict[str, int] = {}
    for member in chosen:
        per_node[member.node_id] = per_node.get(member.node_id, 0) + len(member.slices)
    return max(per_node.values(), default=0) >= cards_asked(waits)


def cost(chosen: tuple[Running, ...]) -> tuple[int, float, int]:
    return max(m.task.priority for m in chosen), sum(NOW - m.started_at for m in chosen), len(chosen)


@steady
@given(full_clusters())
def test_victims_are_lawful_needed_and_as_cheap_as_brute_force_finds(world: Snapshot) -> None:
    chosen = tuple(m for m in world.running if m.task.id in victims(plan(world, NOW)))
    count = cards_asked(world.waiting[0])
    sets = [
        c
        for node in world.nodes
        for c in combinations([m for m in world.running if m.node_id == node.id], count)
        if allowed(world, c)
    ]
    assert bool(chosen) == bool(sets)
    if chosen:
        assert allowed(world, chosen)
        assert frees_enough(world, chosen)
        assert not any(frees_enough(world, rest) for rest in combinations(chosen, len(chosen) - 1))
        assert cost(chosen) == min(cost(c) for c in sets)


def potential(world: Snapshot, running: tuple[Running, ...]) -> tuple[int, ...]:
    """What is short of promises, then by priority, the highest first, how much does not run; in milli-cards."""
    held: Counter[str] = Counter()
    ranks: Counter[int] = Counter()
    for member in running:
        held[member.task.organisation] += 1000 * len(member.slices)
        ranks[member.task.priority] += 1000 * len(member.slices)
    short = sum(max(0, q.guarantee.gpu_milli["A100"] - held[q.organisation]) for q in world.queues)
    return short, *(-ranks[priority] for priority in range(5, 0, -1))


@steady
@given(full_clusters())
def test_an_eviction_strictly_lowers_the_potential(world: Snapshot) -> None:
    """So evictions, however many follow each other, come to an end."""
    gone = victims(plan(world, NOW))
    if not gone:
        return
    stay = tuple(member for member in world.running if member.task.id not in gone)
    (waits,) = world.waiting
    came = running(waits, stay[0].node_id if stay else "n0", list(range(cards_asked(waits))))
    assert potential(world, (*stay, came)) < potential(world, world.running)


@steady
@given(full_clusters())
def test_the_winner_is_not_taken_back(world: Snapshot) -> None:
    """Whoever was displaced cannot displace the one it made room for: no swinging back and forth."""
    chosen = victims(plan(world, NOW))
    if not chosen:
        return
    (waits,) = world.waiting
    node = next(m.node_id for m in world.running if m.task.id in chosen)
    gone = [m for m in world.running if m.task.id in chosen]
    cards = [int(piece.device_id.split("-")[1]) for m in gone for piece in m.slices][: cards_asked(waits)]
    stayed = tuple(m for m in world.running if m.task.id not in chosen)
    later = replace(world, running=(*stayed, running(waits, node, cards, NOW)), waiting=tuple(m.task for m in gone))
    assert waits.id not in victims(plan(later, NOW + 3600))


def test_a_gang_is_one_victim() -> None:
    world = nodes(2, 2)
    gang = job("gang", 2, priority=1, gang=Gang(2))
    urgent = job("urgent", 2, priority=5)
    members = (running(gang, "n0", [0, 1]), replace(running(gang, "n1", [0, 1]), member=1))
    outcome = plan(Snapshot(world, members, (urgent,)), NOW)
    assert victims(outcome) == ["gang"]
    assert outcome.waits[0].cause.code is CauseCode.WAITING_FOR_VICTIMS


def test_a_whole_gang_gets_room_across_nodes() -> None:
    world = nodes(3, 2)
    low = [running(job(f"low{n}", 2, priority=1), f"n{n}", [0, 1], started_at=1000.0 * n) for n in range(3)]
    outcome = plan(Snapshot(world, tuple(low), (job("gang", 2, priority=4, gang=Gang(2)),)), NOW)
    assert sorted(victims(outcome)) == ["low1", "low2"]


def test_a_node_that_looks_cheap_by_its_cards_alone_is_not_emptied_for_a_gang() -> None:
    """Its cards are cheapest to free, but its cores are with a task of higher priority that would have to go, too."""
    low = [running(job(f"low{n}", 2, priority=1), f"n{n}", [0, 1], NOW - 10.0 * n) for n in range(1, 4)]
    cores = running(replace(job("cores", priority=2), cpu_milli=60_000, gpu=None), "n1", [])
    gang = job("gang", 2, priority=4, cpu_milli=8_000, gang=Gang(2))
    world = nodes(4, 2)[1:]
    assert sorted(victims(plan(Snapshot(world, (*low, cores), (gang,)), NOW))) == ["low2", "low3"]
    assert sorted(victims(plan(Snapshot(world, tuple(low), (gang,)), NOW))) == ["low1", "low2"]


def test_one_node_is_emptied_for_a_gang_of_one_node() -> None:
    """Two cheap victims on two nodes would make room for two members, but not for two that must be together."""
    cheap = [running(job(f"cheap{n}", 2, priority=1), f"n{n}", [0, 1], NOW - 1.0) for n in range(2)]
    dear = running(job("dear", 4, priority=1), "n2", [0, 1, 2, 3], 0.0)
    world = (*nodes(2, 2), nodes(3, 4)[2])
    gang = job("gang", 2, priority=4, gang=Gang(2, one_node=True))
    outcome = plan(Snapshot(world, (*cheap, dear), (gang,)), NOW)
    assert victims(outcome) == ["dear"]
    assert outcome.waits[0].cause.params["node"] == "n2"
    spread = plan(Snapshot(world, (*cheap, dear), (replace(gang, gang=Gang(2)),)), NOW)
    assert victims(spread) == ["cheap0", "cheap1"]


def test_work_since_the_last_checkpoint_decides_between_equals() -> None:
    world = nodes(1, 2)
    saved = running(job("saved", priority=1), "n0", [0], 0.0, checkpoint=NOW - 60)
    unsaved = running(job("unsaved", priority=1), "n0", [1], 5000.0)
    assert victims(plan(Snapshot(world, (saved, unsaved), (job("urgent", priority=5),)), NOW)) == ["saved"]


def test_room_is_kept_while_victims_leave() -> None:
    world = nodes(1, 1)
    low, urgent = job("low", priority=1), job("urgent", priority=5)
    first = plan(Snapshot(world, (running(low, "n0", [0]),), (urgent,)), NOW)
    assert victims(first) == ["low"]
    leaving = replace(running(low, "n0", [0]), held_for="urgent")
    second = plan(Snapshot(world, (leaving,), (urgent,)), NOW + 1)
    assert victims(second) == []
    assert second.waits[0].cause.code is CauseCode.WAITING_FOR_VICTIMS
    other = job("other", organisation="bob-inc", submitted_at=-5.0)
    third = plan(Snapshot(world, (), (other, urgent), holds={"urgent": ("n0",)}), NOW + 2)
    assert [place.task_id for place in third.places] == ["urgent"]


def test_an_organisation_below_its_guarantee_takes_back_what_others_borrowed() -> None:
    world = nodes(1, 4)
    promise = Amount(gpu_milli={"A100": 2000})
    queues = tuple(Queue(QueueLevel.ORGANISATION, o, o, guarantee=promise) for o in ("alice-lab", "bob-inc"))
    borrowed = tuple(running(job(f"b{i}", organisation="bob-inc", priority=5), "n0", [i]) for i in range(4))
    waiting = tuple(job(f"a{i}", priority=1, submitted_at=float(i)) for i in range(3))
    outcome = plan(Snapshot(world, borrowed, waiting, queues), NOW)
    assert len(victims(outcome)) == 2
    assert {p.why for p in outcome.preempts} == {"guarantee"}


def test_who_is_asked_to_go_is_told_for_what() -> None:
    world = nodes(1, 1)
    outcome = plan(Snapshot(world, (running(job("low", priority=1), "n0", [0]),), (job("urgent", priority=5),)), NOW)
    assert [(p.task_id, p.why) for p in outcome.preempts] == [("low", "higher_priority")]
