"""Work goes only to machines of an architecture that its image is for, and says so where there is none."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import CauseCode, Device, Engine, GpuRequest, Mode, Node, Snapshot, Task, plan
from tests.scheduler.worlds import snapshots, steady

X86, ARM = "x86_64", "aarch64"
ASKS = Task("asks", "lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, 1, "H100"), archs=(ARM,))


def node(name: str, model: str, cards: int, arch: str = X86) -> Node:
    made = tuple(Device(f"{name}-{index}", index, "nvidia", model, 81_920) for index in range(cards))
    return Node(name, "east", "main", 64_000, 65_536, made, arch=arch)


def test_it_goes_to_the_machine_of_its_architecture() -> None:
    world = (node("big", "H100", 8), node("arm", "H100", 1, arch=ARM))
    (place,) = plan(Snapshot(world, waiting=(ASKS,)), 0.0).places
    assert place.node_id == "arm"
    either = replace(ASKS, archs=(ARM, X86), gpu=GpuRequest(Mode.WHOLE, 2, "H100"))
    (place,) = plan(Snapshot(world, waiting=(either,)), 0.0).places
    assert place.node_id == "big"


def test_the_cause_is_the_architecture_and_not_the_card() -> None:
    """The only ARM machine has no card: "no machine has an H100" would be wrong, as the other one has eight."""
    world = (node("big", "H100", 8), node("arm", "T4", 1, arch=ARM))
    (wait,) = plan(Snapshot(world, waiting=(ASKS,)), 0.0).waits
    assert (wait.cause.code, wait.cause.params["arch"]) == (CauseCode.ARCH, ARM)
    cause = Engine(world).obstacle(ASKS)
    assert cause is not None
    assert cause.code is CauseCode.ARCH
    elsewhere = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 1, "B300"))
    (wait,) = plan(Snapshot(world, waiting=(elsewhere,)), 0.0).waits
    assert wait.cause.code is CauseCode.NO_SUCH_MODEL


@steady
@given(snapshots(), st.sampled_from([(X86,), (ARM,), (ARM, X86), ("riscv64",)]))
def test_nothing_starts_on_another_architecture(world: Snapshot, archs: tuple[str, ...]) -> None:
    asks = replace(world, waiting=tuple(replace(task, archs=archs) for task in world.waiting))
    of = {each.id: each.arch for each in world.nodes}
    assert all(of[place.node_id] in archs for place in plan(asks, 200.0).places)
