"""Hypothesis strategies: small worlds with every kind of card, request and constraint."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st

from scheduler import Device, Gang, GpuRequest, MigProfile, Mix, MixEntry, Mode, Node, Snapshot, Task
from scheduler.mig import profiles_of
from tests.searching import examples

# No deadline, because these measure correctness; the same examples on every run.
steady = settings(deadline=None, derandomize=True, max_examples=examples(60))

ORGANISATIONS = ("alice-lab", "bob-inc", "charlie-co")
MODELS = {"A100": 81920, "T4": 15360, "910B3": 65536}
PROFILES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")


@st.composite
def devices(draw: st.DrawFn, node_id: str) -> tuple[Device, ...]:
    model = draw(st.sampled_from(sorted(MODELS)))
    modes = st.sampled_from([Mode.WHOLE, Mode.SHARED, Mode.VGPU] + ([Mode.MIG] if model == "A100" else []))
    mate = draw(st.sampled_from([0, 1, 2, 3]))  # cards whose numbers differ by these bits are near; 0: nobody knows
    return tuple(
        Device(
            f"{node_id}-{i}", i, "any", model, MODELS[model], draw(modes), draw(st.integers(0, 9)) > 0,
            near=((f"{node_id}-{i ^ mate}", 2),) if mate else (),
        )
        for i in range(draw(st.integers(0, 4)))
    )  # fmt: skip


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
        gang=Gang(size, draw(st.sampled_from([None, 1])), draw(st.booleans())) if size else None,
        spread=None if size else draw(st.sampled_from([None, None, "api"])),
    )


@st.composite
def snapshots(draw: st.DrawFn, most_nodes: int = 4, most_tasks: int = 12) -> Snapshot:
    return Snapshot(
        tuple(draw(nodes(i)) for i in range(draw(st.integers(0, most_nodes)))),
        waiting=tuple(draw(tasks(i)) for i in range(draw(st.integers(1, most_tasks)))),
    )


ODD = (MigProfile("half", (0, 4), 4, 3, 40960, 2), MigProfile("bit", (1, 3, 5, 7), 1, 1, 10240, 3))
MIG_CARDS = {
    "A100": Device("", 0, "nvidia", "A100", 81920, Mode.MIG),
    "H200": Device("", 0, "nvidia", "H200", 144384, Mode.MIG),
    "A30": Device("", 0, "nvidia", "A30", 24576, Mode.MIG),
    "odd": Device("", 0, "nvidia", "A100", 81920, Mode.MIG, mig_profiles=ODD),
}


@st.composite
def mig_worlds(draw: st.DrawFn) -> Snapshot:
    """One node of up to four cards in MIG mode and tasks that ask for profiles of theirs."""
    kinds = draw(st.lists(st.sampled_from(sorted(MIG_CARDS)), min_size=1, max_size=4))
    cards = tuple(replace(MIG_CARDS[kind], id=f"c{i}", index=i) for i, kind in enumerate(kinds))
    names = sorted({profile.name for card in cards for profile in profiles_of(card)})
    waiting = tuple(
        replace(draw(tasks(i)), gang=None, zone=None, cluster=None, gpu=GpuRequest(Mode.MIG, count, profile=name))
        for i, (name, count) in enumerate(
            draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from([1, 1, 1, 2])), min_size=1, max_size=8))
        )
    )
    return Snapshot((Node("n", "east", "main", 640000, 2621440, cards),), waiting=waiting)
