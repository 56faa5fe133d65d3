"""What is free on each machine, counted from rows anew: the soak's own small test of what fits, not the scheduler's.

Slow and plain on purpose. It shares nothing with `scheduler` but the table of MIG geometry, which is data.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from apps.clusters import geometry
from apps.clusters.choices import NodeStatus
from apps.clusters.models import Accelerator, Node
from apps.workloads.models import Placement, Workload
from apps.workloads.spec import Gpu

# A machine that has said nothing for this long takes no work.
SILENCE = timedelta(seconds=120)
WHOLE = 1000


@dataclass(slots=True)
class Card:
    """One card and what is open on it: placements with the organisation that has each."""

    row: Accelerator
    open: list[Placement] = field(default_factory=list)

    @property
    def core_milli(self) -> int:
        return sum(piece.core_milli for piece in self.open)

    @property
    def memory_mib(self) -> int:
        return sum(piece.device_memory_mib for piece in self.open)

    def takes(self, gpu: Gpu, organisation: UUID) -> bool:
        """Whether one more slice as asked for has room on this card."""
        right_one = gpu.model in (None, self.row.model) and (not gpu.any_of or self.row.model in gpu.any_of)
        if not right_one or self.row.mode != gpu.mode or not self.row.healthy or not self.row.keeps_its_limits:
            return False
        if gpu.mode == "whole":
            return not self.open
        if gpu.mode == "mig":
            return bool(self._starts(gpu.profile or ""))
        if gpu.mode == "shared" and any(piece.organisation_id != organisation for piece in self.open):
            return False
        core = self.core_milli + gpu.core_milli <= self.row.share_milli
        return core and self.memory_mib + gpu.memory_mib <= self.row.memory_mib

    def _starts(self, name: str) -> list[int]:
        known = {profile.name: profile for profile in geometry.profiles(self.row)}
        wanted = known.get(name)
        if wanted is None or sum(piece.mig_profile == name for piece in self.open) >= wanted.maximum:
            return []
        taken = self.mig_slices()
        return [at for at in wanted.starts if not taken.keys() & set(range(at, at + wanted.size))]

    def put(self, gpu: Gpu, organisation: UUID) -> None:
        """One more slice as asked for."""
        piece = Placement(organisation_id=organisation, core_milli=gpu.core_milli, device_memory_mib=gpu.memory_mib)
        if gpu.mode == "mig":
            piece.mig_profile = gpu.profile or ""
            piece.mig_start = self._starts(piece.mig_profile)[0]
        self.open.append(piece)

    def mig_slices(self) -> dict[int, int]:
        """By memory slice, how many open partitions have it."""
        known = {profile.name: profile for profile in geometry.profiles(self.row)}
        taken: defaultdict[int, int] = defaultdict(int)
        for piece in self.open:
            if piece.mig_start is not None and piece.mig_profile in known:
                for at in range(piece.mig_start, piece.mig_start + known[piece.mig_profile].size):
                    taken[at] += 1
        return taken


@dataclass(slots=True)
class Machine:
    """One node, what is open on it, and whether it takes work."""

    node: Node
    takes_work: bool
    cards: dict[UUID, Card]
    open: list[Placement] = field(default_factory=list)

    @property
    def cpu_free(self) -> int:
        return self.node.allocatable_cpu_milli - sum(piece.cpu_milli for piece in self.open)

    @property
    def memory_free(self) -> int:
        return self.node.allocatable_memory_mib - sum(piece.memory_mib for piece in self.open)

    @property
    def kind(self) -> tuple[object, ...]:
        """Zone, logical cluster and models of card: a gang is only on machines that are alike in them."""
        models = frozenset(card.row.model for card in self.cards.values())
        return self.node.cluster.zone_id, self.node.cluster_id, models

    def has_room_for(self, workload: Workload) -> bool:
        """Whether it, or a member of it, could start here at this moment, if nobody else were there to be asked."""
        spec = workload.frozen_spec
        here = spec.zone in (None, str(self.node.cluster.zone_id)) and spec.cluster in (None, str(self.node.cluster_id))
        if not here or not self.takes_work or self.cpu_free < spec.cpu_milli or self.memory_free < spec.memory_mib:
            return False
        if spec.gpu is None:
            return True
        gpu, organisation = spec.gpu, workload.organisation_id
        return sum(card.takes(gpu, organisation) for card in self.cards.values()) >= gpu.count

    def could_ever_hold(self, workload: Workload) -> bool:
        """Whether it, or a member of it, could start here if the machine were empty and took work."""
        return self.empty().has_room_for(workload)

    def empty(self) -> "Machine":
        """The machine if nothing were on it and it took work."""
        return Machine(self.node, True, {pk: Card(card.row) for pk, card in self.cards.items()})

    def members_that_fit(self, workload: Workload) -> int:
        """How many members of it have room here together, tried one after the other."""
        tried = replace(self, cards={pk: replace(card, open=[*card.open]) for pk, card in self.cards.items()})
        tried.open, count = [*self.open], 0
        while count < workload.member_count and tried.has_room_for(workload):
            tried.put(workload)
            count += 1
        return count

    def put(self, workload: Workload) -> None:
        """One more member, on the first cards that take it."""
        spec, gpu, organisation = workload.frozen_spec, workload.frozen_spec.gpu, workload.organisation_id
        self.open.append(Placement(cpu_milli=spec.cpu_milli, memory_mib=spec.memory_mib))
        if gpu is not None:
            for card in [card for card in self.cards.values() if card.takes(gpu, organisation)][: gpu.count]:
                card.put(gpu, organisation)

    def free_words(self) -> str:
        """For messages."""
        idle = sum(not card.open for card in self.cards.values())
        return f"{self.node.name} ({self.cpu_free} milli-cores, {self.memory_free} MiB, {idle} idle cards free)"


def machines_now(now: datetime) -> list[Machine]:
    """All machines that there are, with what live attempts hold."""
    machines = {
        node.pk: Machine(node, node.status == NodeStatus.READY and now - node.last_seen_at < SILENCE, {})
        for node in Node.objects.select_related("cluster__zone").order_by("name")
    }
    for card in Accelerator.objects.filter(node__in=machines).order_by("node", "index"):
        machines[card.node_id].cards[card.pk] = Card(card)
    for piece in Placement.objects.filter(released_at__isnull=True).order_by("pk"):
        machine = machines.get(piece.node_id)
        if machine is not None:
            machine.open.append(piece)
            if piece.accelerator_id is not None:
                machine.cards[piece.accelerator_id].open.append(piece)
    return list(machines.values())


def has_room_for_all(machines: Iterable[Machine], workload: Workload) -> bool:
    """Whether it could start on these at this moment: every member, or the fewest that it will do with, together."""
    return any(_hold_all(group, workload) for group in _groups(machines, workload))


def could_ever_hold_all(machines: Iterable[Machine], workload: Workload) -> bool:
    """The same if the machines were empty and took work."""
    return has_room_for_all([machine.empty() for machine in machines], workload)


def fewest_members(workload: Workload) -> int:
    """With how many it starts at least: all, where it is not elastic."""
    return workload.frozen_spec.least_members or workload.member_count


def _hold_all(machines: Iterable[Machine], workload: Workload) -> bool:
    return sum(machine.members_that_fit(workload) for machine in machines) >= fewest_members(workload)


def _groups(machines: Iterable[Machine], workload: Workload) -> Iterable[list[Machine]]:
    """Machines of the same zone, logical cluster and models of card; one program needs a machine of its own."""
    groups: defaultdict[tuple[object, ...], list[Machine]] = defaultdict(list)
    for machine in machines:
        groups[machine.kind if workload.member_count > 1 else (machine.node.pk,)].append(machine)
    return groups.values()
