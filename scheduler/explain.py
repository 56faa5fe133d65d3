"""Why a task waits: a funnel over the nodes, one dominant cause, and the node that comes closest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scheduler.decisions import Cause, CauseCode, FunnelStep, NearestMiss
from scheduler.state import Host, empty_host, matches, piece_on, pieces_on
from scheduler.types import Device, GpuRequest, Mode, Node, Task

Check = Callable[[Host, Task], bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """The dominant cause, how the nodes thin out, and the nearest miss where one exists."""

    cause: Cause
    funnel: tuple[FunnelStep, ...] = ()
    nearest: NearestMiss | None = None


def _has_model(host: Host, task: Task) -> bool:
    return task.gpu is None or any(task.gpu.model in (None, card.device.model) for card in host.cards)


def _has_mode(host: Host, task: Task) -> bool:
    return task.gpu is None or any(matches(card, task.gpu) for card in host.cards)


def could_ever(node: Node, task: Task) -> bool:
    """Whether one member fits on the node when it is empty and all its cards are healthy."""
    devices = tuple(_healed(device) for device in node.devices)
    return pieces_on(empty_host(replace(node, devices=devices)), task) is not None


def _healed(device: Device) -> Device:
    return replace(device, healthy=True)


STANDING: tuple[tuple[CauseCode, Check], ...] = (
    (CauseCode.ZONE, lambda host, task: task.zone in (None, host.node.zone)),
    (CauseCode.CLUSTER, lambda host, task: task.cluster in (None, host.node.cluster)),
    (CauseCode.ARCH, lambda host, task: task.arch in (None, host.node.arch)),
    (CauseCode.NO_SUCH_MODEL, _has_model),
    (CauseCode.NO_SUCH_MODE, _has_mode),
    (CauseCode.NEVER_FITS, lambda host, task: could_ever(host.node, task)),
    (CauseCode.NODE_UNSCHEDULABLE, lambda host, task: host.node.schedulable),
    (CauseCode.NODE_UNHEALTHY, lambda host, task: host.node.healthy),
)


def why_not(hosts: Sequence[Host], task: Task) -> Finding:
    """The cause for a task that does not fit now on any of the nodes."""
    if not hosts:
        return Finding(Cause(CauseCode.NO_NODES))
    left, funnel = list(hosts), [FunnelStep("nodes", len(hosts))]
    for code, check in STANDING:
        left = [host for host in left if check(host, task)]
        funnel.append(FunnelStep(code.value, len(left)))
        if not left:
            return Finding(_standing_cause(code, task), tuple(funnel))
    return _capacity_finding(left, task, funnel)


def _standing_cause(code: CauseCode, task: Task) -> Cause:
    asked = {
        CauseCode.ZONE: {"zone": task.zone or ""},
        CauseCode.CLUSTER: {"cluster": task.cluster or ""},
        CauseCode.ARCH: {"arch": task.arch or ""},
    }
    return Cause(code, asked.get(code) or _request_params(task))


def _request_params(task: Task) -> dict[str, int | float | str]:
    params: dict[str, int | float | str] = {"cpu_milli": task.cpu_milli, "memory_mib": task.memory_mib}
    if task.gpu is not None:
        params |= {"model": task.gpu.model or "", "mode": task.gpu.mode.value, "devices": task.gpu.count}
    return params


def _capacity_finding(left: list[Host], task: Task, funnel: list[FunnelStep]) -> Finding:
    shorts = [shortfall(host, task) for host in left]
    enough = shorts
    for code, has_enough in _CAPACITY:
        enough = [short for short in enough if has_enough(short)]
        funnel.append(FunnelStep(code.value, len(enough)))
    if enough:
        return _gang_finding(len(enough), task, funnel)
    best = min(shorts, key=_distance)
    alike = sum(_distance(s)[:-1] == _distance(best)[:-1] for s in shorts)
    nearest = replace(best, nodes=alike)
    return Finding(Cause(_dominant(nearest, task.gpu), _miss_params(nearest)), tuple(funnel), nearest)


_CAPACITY: tuple[tuple[CauseCode, Callable[[NearestMiss], bool]], ...] = (
    (CauseCode.CPU, lambda miss: miss.cpu_milli == 0),
    (CauseCode.MEMORY, lambda miss: miss.memory_mib == 0),
    (CauseCode.DEVICES, lambda miss: miss.devices == 0),
)


def _gang_finding(nodes: int, task: Task, funnel: list[FunnelStep]) -> Finding:
    size = task.gang.size if task.gang else 1
    return Finding(Cause(CauseCode.GANG, {"members": size, "nodes_with_room": nodes}), tuple(funnel))


def _distance(miss: NearestMiss) -> tuple[int, int, int, int, int, int]:
    kinds = (miss.cpu_milli > 0) + (miss.memory_mib > 0) + (miss.devices > 0)
    return kinds, miss.devices, miss.core_milli, miss.device_memory_mib, miss.cpu_milli, miss.memory_mib


def _dominant(miss: NearestMiss, gpu: GpuRequest | None) -> CauseCode:
    if miss.devices and gpu is not None:
        return CauseCode.DEVICES if gpu.mode is Mode.WHOLE else CauseCode.SLICES
    return CauseCode.MEMORY if miss.memory_mib else CauseCode.CPU


def _miss_params(miss: NearestMiss) -> dict[str, int | float | str]:
    return {
        "node": miss.node_id,
        "nodes": miss.nodes,
        "cpu_short_milli": miss.cpu_milli,
        "memory_short_mib": miss.memory_mib,
        "devices_short": miss.devices,
        "core_short_milli": miss.core_milli,
        "device_memory_short_mib": miss.device_memory_mib,
    }


def shortfall(host: Host, task: Task) -> NearestMiss:
    """All that the node is short of for one member; all zero when it fits."""
    cpu = max(0, task.cpu_milli - host.cpu_milli)
    memory = max(0, task.memory_mib - host.memory_mib)
    if task.gpu is None:
        return NearestMiss(host.node.id, 1, cpu, memory)
    fitting = sum(piece_on(card, task.gpu, task.organisation) is not None for card in host.cards)
    missing = max(0, task.gpu.count - fitting)
    core, device_memory = _card_shortfall(host, task.gpu) if missing else (0, 0)
    return NearestMiss(host.node.id, 1, cpu, memory, missing, core, device_memory)


def _card_shortfall(host: Host, gpu: GpuRequest) -> tuple[int, int]:
    """What the best card that does not fit is short of, in compute and memory."""
    if gpu.mode not in (Mode.VGPU, Mode.SHARED):
        return 0, 0
    cards = [card for card in host.cards if card.device.healthy and matches(card, gpu)]
    gaps = [(max(0, gpu.core_milli - c.core_milli), max(0, gpu.memory_mib - c.memory_mib)) for c in cards]
    return min((gap for gap in gaps if gap != (0, 0)), default=(0, 0))
