"""Free capacity while a pass goes on: one mutable record per node and per card, rebuilt from each snapshot."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduler.mig import profile_named, span
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mode, Node, Running, Slice, Snapshot, Task


@dataclass(slots=True)
class Card:
    """What is left of one card and who is on it."""

    device: Device
    core_milli: int
    memory_mib: int
    mask: int = 0
    tenants: list[str] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)

    @property
    def idle(self) -> bool:
        return not self.tenants

    def take(self, piece: Slice, organisation: str) -> None:
        self.core_milli -= piece.core_milli
        self.memory_mib -= piece.memory_mib
        self.tenants.append(organisation)
        profile = profile_named(self.device, piece.mig_profile)
        if profile is not None and piece.mig_start is not None:
            self.mask |= span(piece.mig_start, profile.size)
            self.profiles.append(profile.name)

    def give_back(self, piece: Slice, organisation: str) -> None:
        self.core_milli += piece.core_milli
        self.memory_mib += piece.memory_mib
        self.tenants.remove(organisation)
        profile = profile_named(self.device, piece.mig_profile)
        if profile is not None and piece.mig_start is not None:
            self.mask &= ~span(piece.mig_start, profile.size)
            self.profiles.remove(profile.name)


@dataclass(slots=True)
class Host:
    """What is left of one node."""

    node: Node
    cpu_milli: int
    memory_mib: int
    cards: list[Card]

    def take(self, task: Task, slices: Iterable[Slice]) -> None:
        self.cpu_milli -= task.cpu_milli
        self.memory_mib -= task.memory_mib
        for card, piece in self._on_cards(slices):
            card.take(piece, task.organisation)

    def give_back(self, task: Task, slices: Iterable[Slice]) -> None:
        """Undo `take`."""
        self.cpu_milli += task.cpu_milli
        self.memory_mib += task.memory_mib
        for card, piece in self._on_cards(slices):
            card.give_back(piece, task.organisation)

    def _on_cards(self, slices: Iterable[Slice]) -> list[tuple[Card, Slice]]:
        by_id = {card.device.id: card for card in self.cards}
        return [(by_id[piece.device_id], piece) for piece in slices if piece.device_id in by_id]


def empty_host(node: Node) -> Host:
    """The node with nothing on it. Nonsense (negative capacity) counts as none."""
    cards = [Card(d, _capacity(d), max(0, d.memory_mib)) for d in sorted(node.devices, key=lambda d: d.index)]
    return Host(node, max(0, node.cpu_milli), max(0, node.memory_mib), cards)


def _capacity(device: Device) -> int:
    return device.share_milli if device.mode is Mode.SHARED else WHOLE_MILLI


def load(snapshot: Snapshot) -> dict[str, Host]:
    """Free capacity per node id. Members on nodes that are not in the snapshot are left out."""
    hosts = {node.id: empty_host(node) for node in snapshot.nodes}
    for member in snapshot.running:
        _occupy(hosts, member)
    return hosts


def _occupy(hosts: dict[str, Host], member: Running) -> None:
    host = hosts.get(member.node_id)
    if host is not None:
        host.take(member.task, member.slices)


def matches(card: Card, gpu: GpuRequest) -> bool:
    """Whether the card is of the model and mode that is asked for. An idle vGPU card can be given whole."""
    model_ok = gpu.model is None or gpu.model == card.device.model
    mode_ok = card.device.mode is gpu.mode or (gpu.mode is Mode.WHOLE and card.device.mode is Mode.VGPU)
    return model_ok and mode_ok


def piece_on(card: Card, gpu: GpuRequest, organisation: str) -> Slice | None:
    """The piece of this card that the request would get, or None when it does not fit now."""
    if not card.device.healthy or not matches(card, gpu):
        return None
    if gpu.mode is Mode.MIG:
        return _partition(card, gpu)
    if gpu.mode is Mode.WHOLE:
        return Slice(card.device.id, card.memory_mib, WHOLE_MILLI) if card.idle else None
    if gpu.mode is Mode.SHARED and any(tenant != organisation for tenant in card.tenants):
        return None
    if card.core_milli < gpu.core_milli or card.memory_mib < gpu.memory_mib:
        return None
    return Slice(card.device.id, gpu.memory_mib, gpu.core_milli)


def _partition(card: Card, gpu: GpuRequest) -> Slice | None:
    profile = profile_named(card.device, gpu.profile)
    if profile is None or card.profiles.count(profile.name) >= profile.maximum:
        return None
    used = sum(p.compute for name in card.profiles if (p := profile_named(card.device, name)))
    total = 4 if "A30" in card.device.model.upper() else 7
    if used + profile.compute > total:
        return None
    start = next((s for s in profile.starts if not card.mask & span(s, profile.size)), None)
    core = profile.compute * WHOLE_MILLI // total
    return None if start is None else Slice(card.device.id, profile.memory_mib, core, start, profile.name)


def pieces_on(host: Host, task: Task) -> tuple[Slice, ...] | None:
    """The pieces one member would get on this node, fullest cards first, or None when it does not fit now."""
    if host.cpu_milli < task.cpu_milli or host.memory_mib < task.memory_mib:
        return None
    if task.gpu is None:
        return ()
    cards = sorted(host.cards, key=lambda card: (card.core_milli, card.device.index))
    found = [piece for card in cards if (piece := piece_on(card, task.gpu, task.organisation))]
    return tuple(found[: task.gpu.count]) if len(found) >= task.gpu.count else None
