"""An independent count of what a plan hands out, written without the scheduler's own state."""

from collections import defaultdict

from scheduler import Device, Mode, Plan, Running, Slice, Snapshot, Task
from scheduler.mig import profile_named, span


def as_running(snapshot: Snapshot, outcome: Plan, now: float) -> tuple[Running, ...]:
    """What runs once the plan has been carried out."""
    by_id = {task.id: task for task in snapshot.waiting}
    started = tuple(
        Running(by_id[p.task_id], f"{p.task_id}-{p.member}", p.node_id, p.slices, now, member=p.member)
        for p in outcome.places
    )
    return snapshot.running + started


def check_capacity(snapshot: Snapshot, running: tuple[Running, ...]) -> None:
    """No node, card or memory slice is handed out twice, and each card serves its own mode only."""
    nodes = {node.id: node for node in snapshot.nodes}
    cpu: defaultdict[str, int] = defaultdict(int)
    memory: defaultdict[str, int] = defaultdict(int)
    pieces: defaultdict[Device, list[tuple[Task, Slice]]] = defaultdict(list)
    for member in running:
        cpu[member.node_id] += member.task.cpu_milli
        memory[member.node_id] += member.task.memory_mib
        on_node = {device.id: device for device in nodes[member.node_id].devices}
        assert len({piece.device_id for piece in member.slices}) == len(member.slices)
        assert len(member.slices) == (member.task.gpu.count if member.task.gpu else 0)
        for piece in member.slices:
            pieces[on_node[piece.device_id]].append((member.task, piece))
    assert all(cpu[node.id] <= node.cpu_milli and memory[node.id] <= node.memory_mib for node in snapshot.nodes)
    for device, used in pieces.items():
        _check_card(device, used)


def _check_card(device: Device, used: list[tuple[Task, Slice]]) -> None:
    assert sum(piece.memory_mib for _, piece in used) <= device.memory_mib
    requests = [task.gpu for task, _ in used if task.gpu is not None]
    modes = {request.mode for request in requests}
    assert len(requests) == len(used)
    assert all(request.model in (None, device.model) for request in requests)
    if device.mode is Mode.MIG:
        _check_partitions(device, used)
    else:
        assert sum(piece.core_milli for _, piece in used) <= device.share_milli
    if Mode.WHOLE in modes:
        assert len(used) == 1
        assert device.mode in (Mode.WHOLE, Mode.VGPU)
    else:
        assert modes == {device.mode}
    if device.mode is Mode.SHARED:
        assert len({task.organisation for task, _ in used}) == 1


def _check_partitions(device: Device, used: list[tuple[Task, Slice]]) -> None:
    mask = compute = 0
    for task, piece in used:
        profile = profile_named(device, piece.mig_profile)
        assert profile is not None
        assert task.gpu is not None
        assert profile.name == task.gpu.profile
        assert piece.mig_start in profile.starts
        here = span(piece.mig_start, profile.size)
        assert not mask & here
        mask |= here
        compute += profile.compute
    assert compute <= (
        7 if device.mig_profiles is None else max(p.compute * len(p.starts) for p in device.mig_profiles)
    )
