"""Members that ask for RDMA start only where a link is up, a gang of them within one fabric; nobody else notices."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import CauseCode, Device, Engine, Gang, GpuRequest, Mode, Node, Snapshot, Task, Wait, plan
from tests.scheduler.worlds import snapshots, steady

ASKS = Task("asks", "lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, 1, "H100"), rdma=True)
FABRICS = st.sampled_from(["", "InfiniBand", "Ethernet"])


def node(name: str, rdma: str = "", active: bool = True, cards: int = 2, switch: str = "") -> Node:
    made = tuple(Device(f"{name}-{index}", index, "nvidia", "H100", 81_920) for index in range(cards))
    topology = (switch,) if switch else ()
    return Node(name, "east", "main", 64_000, 65_536, made, topology=topology, rdma=rdma, rdma_active=active)


def wait(task: Task, *nodes: Node) -> Wait:
    (found,) = plan(Snapshot(nodes, waiting=(task,)), 0.0).waits
    return found


def places(task: Task, *nodes: Node) -> list[str]:
    return [place.node_id for place in plan(Snapshot(nodes, waiting=(task,)), 0.0).places]


def test_it_goes_where_a_link_is_up() -> None:
    assert places(ASKS, node("bare"), node("dark", "InfiniBand", active=False), node("ib", "InfiniBand")) == ["ib"]
    assert places(replace(ASKS, rdma=False), node("bare")) == ["bare"]


def test_the_cause_is_rdma_and_not_the_card() -> None:
    assert wait(ASKS, node("bare")).cause.code is CauseCode.RDMA
    without_cards = node("ib", "InfiniBand", cards=0)
    assert wait(ASKS, node("bare"), without_cards).cause.code is CauseCode.RDMA
    elsewhere = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 1, "B300"))
    assert wait(elsewhere, node("bare"), without_cards).cause.code is CauseCode.NO_SUCH_MODEL
    obstacle = Engine([node("bare")]).obstacle(ASKS)
    assert obstacle is not None
    assert obstacle.code is CauseCode.RDMA


def test_links_that_are_down_are_no_obstacle_for_ever() -> None:
    found = wait(ASKS, node("bare"), node("dark", "InfiniBand", active=False))
    assert found.cause.code is CauseCode.RDMA_DOWN
    assert {step.name: step.count for step in found.funnel}["rdma"] == 1
    assert Engine([node("dark", "InfiniBand", active=False)]).obstacle(ASKS) is None


def test_who_waits_for_room_is_told_which_nodes_have_it() -> None:
    """Not those of a cluster that is reserved for others."""
    two = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 2, "H100"))
    world = (node("ib", "InfiniBand", cards=2), node("bare"), replace(node("theirs", "InfiniBand"), reserved=True))
    world = (*world[:2], replace(world[2], cluster="lab"))
    done = plan(Snapshot(world, waiting=(replace(two, id="first"), replace(two, id="next", submitted_at=1.0))), 2.0)
    (found,) = done.waits
    assert found.cause.code is CauseCode.DEVICES
    assert (found.cause.params["rdma_nodes"], found.cause.params["rdma_count"]) == ("ib", 1)
    busy = wait(replace(two, rdma=False, gpu=GpuRequest(Mode.WHOLE, 3, "H100")), *world)
    assert "rdma_nodes" not in busy.cause.params


def test_a_gang_stays_within_one_fabric() -> None:
    pair = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 2, "H100"), gang=Gang(2))
    mixed = (node("ib", "InfiniBand"), node("roce", "Ethernet"))
    assert wait(pair, *mixed).cause.code is CauseCode.NEVER_FITS
    assert sorted(places(pair, *mixed, node("ib2", "InfiniBand"))) == ["ib", "ib2"]
    assert sorted(places(replace(pair, rdma=False), *mixed)) == ["ib", "roce"]


def test_a_gang_prefers_one_switch() -> None:
    pair = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 2, "H100"), gang=Gang(2))
    named = [("a", "one"), ("b", "two"), ("c", "three"), ("d", "two")]
    world = tuple(node(name, "InfiniBand", switch=switch) for name, switch in named)
    assert sorted(places(pair, *world)) == ["b", "d"]


@st.composite
def wired(draw: st.DrawFn, world: Snapshot) -> tuple[Node, ...]:
    return tuple(replace(each, rdma=draw(FABRICS), rdma_active=draw(st.booleans())) for each in world.nodes)


@steady
@given(snapshots(), st.data())
def test_who_asks_never_starts_without_an_active_device(world: Snapshot, data: st.DataObject) -> None:
    """Nor is room kept for it elsewhere, and all members of a gang are in one fabric."""
    nodes = data.draw(wired(world))
    waiting = tuple(replace(task, rdma=data.draw(st.booleans())) for task in world.waiting)
    done = plan(replace(world, nodes=nodes, waiting=waiting), 200.0)
    of, asked = {each.id: each for each in nodes}, {task.id: task.rdma for task in waiting}
    assert all(of[p.node_id].rdma and of[p.node_id].rdma_active for p in done.places if asked[p.task_id])
    kept = [(each.task_id, node_id) for each in done.waits for node_id in each.reserved_nodes]
    assert all(of[node_id].rdma and of[node_id].rdma_active for task_id, node_id in kept if asked[task_id])
    for task in waiting:
        assert not task.rdma or len({of[place.node_id].rdma for place in done.places_of(task.id)}) <= 1


@steady
@given(snapshots(), st.data())
def test_who_does_not_ask_is_planned_as_if_there_were_no_such_devices(world: Snapshot, data: st.DataObject) -> None:
    assert plan(replace(world, nodes=data.draw(wired(world))), 200.0) == plan(world, 200.0)


@steady
@given(snapshots(), st.data())
def test_nobody_waits_for_who_asks_for_links_that_are_down(world: Snapshot, data: st.DataObject) -> None:
    """What cannot start holds nothing: all others are placed as if it were not there, whatever its priority."""
    dark = tuple(replace(each, rdma=data.draw(FABRICS), rdma_active=False) for each in world.nodes)
    asks = frozenset(task.id for task in world.waiting if data.draw(st.booleans()))
    waiting = tuple(replace(task, rdma=task.id in asks) for task in world.waiting)
    done = plan(replace(world, nodes=dark, waiting=waiting), 200.0)
    alone = plan(replace(world, waiting=tuple(task for task in world.waiting if task.id not in asks)), 200.0)
    assert done.places == alone.places
    assert done.preempts == alone.preempts
