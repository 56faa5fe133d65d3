"""Hypothesis strategies: small worlds with every kind of card, request and constraint."""

from hypothesis import settings
from hypothesis import strategies as st

from scheduler import Device, Gang, GpuRequest, Mix, MixEntry, Mode, Node, Snapshot, Task

# No deadline, because these measure correctness; the same examples on every run.
steady = settings(deadline=None, derandomize=True, max_examples=60)

ORGANISATIONS = ("alice-lab", "bob-inc", "charlie-co")
MODELS = {"A100": 81920, "T4": 15360, "910B3": 65536}
PROFILES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")


@st.composite
def devices(draw: st.DrawFn, node_id: str) -> tuple[Device, ...]:
    model = draw(st.sampled_from(sorted(MODELS)))
    modes = st.sampled_from([Mode.WHOLE, Mode.SHARED, Mode.VGPU] + ([Mode.MIG] if model == "A100" else []))
    return tuple(
        Device(f"{node_id}-{i}", i, "any", model, MODELS[model], draw(modes), draw(st.integers(0, 9)) > 0)
        for i in range(draw(st.integers(0, 4)))
    )


@st.composite
def nodes(draw: st.DrawFn, index: int) -> Node:
    node_id = f"node-{index}"
    return Node(
        node_id,
        draw(st.sampled_from(["east", "west"])),
        draw(st.sampled_from(["main", "lab"])),
        draw(st.sampled_from([0, 4000, 16000, 64000])),
        draw(st.sampled_from([1024, 16384, 262144])),
        draw(devices(node_id)),
        schedulable=draw(st.integers(0, 9)) > 0,
        healthy=draw(st.integers(0, 9)) > 0,
        arch=draw(st.sampled_from(["x86_64", "x86_64", "aarch64"])),
    )


@st.composite
def requests(draw: st.DrawFn) -> GpuRequest:
    mode = draw(st.sampled_from(list(Mode)))
    model = draw(st.sampled_from([None, *sorted(MODELS), "H900"]))
    count = draw(st.sampled_from([1, 1, 1, 2, 4]))
    if mode is Mode.MIG:
        return GpuRequest(mode, count, model, profile=draw(st.sampled_from([*PROFILES, "9g.1tb"])))
    return GpuRequest(mode, count, model, draw(st.sampled_from([1, 250, 460, 1000])), draw(st.sampled_from([0, 8192])))


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    """Up to six kinds whose shares are no neat numbers; kinds of several cards among them."""
    kinds = draw(st.lists(st.tuples(st.sampled_from([0, 1000, 8000, 20000]), st.none() | requests()), max_size=6))
    parts = [draw(st.integers(1, 9)) for _ in kinds]
    return Mix(tuple(MixEntry(cpu, gpu, part / sum(parts)) for (cpu, gpu), part in zip(kinds, parts, strict=True)))


@st.composite
def tasks(draw: st.DrawFn, index: int) -> Task:
    size = draw(st.sampled_from([0, 0, 0, 2, 3]))
    return Task(
        f"task-{index}",
        draw(st.sampled_from(ORGANISATIONS)),
        "research",
        draw(st.sampled_from(["u1", "u2"])),
        draw(st.integers(1, 5)),
        float(draw(st.integers(0, 100))),
        draw(st.sampled_from([0, 1000, 8000])),
        draw(st.sampled_from([0, 1024, 32768])),
        gpu=draw(st.none() | requests()),
        zone=draw(st.sampled_from([None, None, None, "east", "mars"])),
        cluster=draw(st.sampled_from([None, None, None, "main"])),
        gang=Gang(size, draw(st.sampled_from([None, 1]))) if size else None,
    )


@st.composite
def snapshots(draw: st.DrawFn, most_nodes: int = 4, most_tasks: int = 12) -> Snapshot:
    return Snapshot(
        tuple(draw(nodes(i)) for i in range(draw(st.integers(0, most_nodes)))),
        waiting=tuple(draw(tasks(i)) for i in range(draw(st.integers(1, most_tasks)))),
    )
