"""A reserved cluster takes only work that is entitled to it, and whoever is kept out learns that this is why."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import CauseCode, Device, Engine, GpuRequest, Mode, Node, Snapshot, Task, plan
from tests.scheduler.worlds import snapshots, steady

ASKS = Task("asks", "lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, 1, "H100"))


def node(name: str, cluster: str, model: str = "H100", reserved: bool = True) -> Node:
    cards = tuple(Device(f"{name}-{index}", index, "nvidia", model, 81_920) for index in range(2))
    return Node(name, "east", cluster, 64_000, 65_536, cards, reserved=reserved)


def cause(task: Task, *nodes: Node) -> CauseCode:
    (wait,) = plan(Snapshot(nodes, waiting=(task,)), 0.0).waits
    return wait.cause.code


def test_only_the_entitled_start_there() -> None:
    assert cause(ASKS, node("n", "theirs")) is CauseCode.RESERVED
    assert cause(replace(ASKS, entitled=("other",)), node("n", "theirs")) is CauseCode.RESERVED
    (place,) = plan(Snapshot((node("n", "theirs"),), waiting=(replace(ASKS, entitled=("theirs",)),)), 0.0).places
    assert place.node_id == "n"


def test_an_entitled_task_may_use_open_nodes_as_well() -> None:
    world = (node("open", "main", reserved=False), node("n", "theirs", model="T4"))
    (place,) = plan(Snapshot(world, waiting=(replace(ASKS, entitled=("theirs",)),)), 0.0).places
    assert place.node_id == "open"


def test_the_cause_is_the_reservation_and_not_the_card() -> None:
    """Open nodes have another card: "no machine has an H100" would be wrong."""
    world = (node("open", "main", model="T4", reserved=False), node("n", "theirs"))
    assert cause(ASKS, *world) is CauseCode.RESERVED
    assert cause(replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 1, "B300")), *world) is CauseCode.NO_SUCH_MODEL
    assert cause(replace(ASKS, cluster="theirs"), *world) is CauseCode.RESERVED
    obstacle = Engine(world).obstacle(ASKS)
    assert obstacle is not None
    assert obstacle.code is CauseCode.RESERVED
    assert Engine(world).obstacle(replace(ASKS, entitled=("theirs",))) is None


def test_full_open_nodes_are_told_as_such() -> None:
    world = (node("open", "main", reserved=False), node("n", "theirs"))
    asks = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 2, "H100"))
    done = plan(Snapshot(world, waiting=(replace(asks, id="first"), replace(asks, id="second", submitted_at=1.0))), 2.0)
    assert [place.node_id for place in done.places] == ["open"]
    assert [wait.cause.code for wait in done.waits] == [CauseCode.DEVICES]
    assert {step.name: step.count for step in done.waits[0].funnel}["reserved"] == 1


@steady
@given(snapshots(), st.data())
def test_nothing_starts_where_it_is_not_entitled(world: Snapshot, data: st.DataObject) -> None:
    """Whatever runs, waits and gives way: work keeps out of what is reserved, and nobody is asked to leave for it."""
    names = sorted({each.cluster for each in world.nodes}) or ["none"]
    reserved = data.draw(st.sets(st.sampled_from(names)))
    rights = st.sets(st.sampled_from(names)).map(lambda found: tuple(sorted(found)))
    nodes = tuple(replace(each, reserved=each.cluster in reserved) for each in world.nodes)
    waiting = tuple(replace(task, entitled=data.draw(rights)) for task in world.waiting)
    done = plan(replace(world, nodes=nodes, waiting=waiting), 200.0)
    of, asked = {each.id: each for each in nodes}, {task.id: task for task in waiting}

    def is_open(node_id: str, task_id: str) -> bool:
        return not of[node_id].reserved or of[node_id].cluster in asked[task_id].entitled

    assert all(is_open(place.node_id, place.task_id) for place in done.places)
    leaving = {member.task.id: member.node_id for member in world.running}
    assert all(is_open(leaving[each.task_id], each.for_task_id) for each in done.preempts if each.task_id in leaving)
    assert all(is_open(node_id, wait.task_id) for wait in done.waits for node_id in wait.reserved_nodes)
