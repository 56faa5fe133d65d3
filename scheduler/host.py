"""One node as plain numbers, to try changes on: what would fit after some tasks leave or another one starts.

The arrays in `cells` cover all nodes now; a `Host` covers one node over time. Both must agree on what fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat

from scheduler.allocator import partition_slice
from scheduler.cells import NO_OWNER, Cells, Claim
from scheduler.closeness import Distances, closest
from scheduler.demand import Demand, piece_size, serves
from scheduler.mig import profile_named, profiles_of, span
from scheduler.partitions import NOWHERE, best_starts, uniform_weights
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mode, Slice


@dataclass(slots=True)
class Host:
    """A copy of one row's free capacity, detached from the cells. Lists have one item per card."""

    row: int
    cards: tuple[Device, ...]
    column_of: dict[str, int]
    cpu: int
    memory: int
    core: list[int]
    card_memory: list[int]
    tenants: list[int]
    mask: list[int]
    owner: list[str]
    profiles: list[list[str]]
    distances: Distances | None = None

    def give_back(self, claim: Claim) -> None:
        self._apply(claim, 1)

    def take(self, claim: Claim) -> None:
        self._apply(claim, -1)

    def _apply(self, claim: Claim, sign: int) -> None:
        self.cpu += sign * claim.cpu_milli
        self.memory += sign * claim.memory_mib
        for piece in claim.slices:
            column = self.column_of.get(piece.device_id)
            if column is not None:
                self._apply_piece(column, piece, sign, claim.organisation)

    def _apply_piece(self, column: int, piece: Slice, sign: int, organisation: str) -> None:
        self.core[column] += sign * piece.core_milli
        self.card_memory[column] += sign * piece.memory_mib
        self.tenants[column] -= sign
        self.owner[column] = organisation if self.tenants[column] else ""
        if piece.mig_start is None:
            return
        profile = profile_named(self.cards[column], piece.mig_profile)
        if profile is None:
            return
        if sign > 0:
            self.mask[column] &= ~span(piece.mig_start, profile.size)
            self.profiles[column].remove(profile.name)
        else:
            self.mask[column] |= span(piece.mig_start, profile.size)
            self.profiles[column].append(profile.name)

    def fits(self, demand: Demand) -> Claim | None:
        """The claim of one member, or None if it does not fit. The caller checks zone, cluster and architecture."""
        if self.cpu < demand.cpu_milli or self.memory < demand.memory_mib:
            return None
        slices: tuple[Slice, ...] = ()
        if demand.gpu is not None:
            if sum(map(self._may_take, range(len(self.cards)), repeat(demand.gpu))) < demand.gpu.count:
                return None  # the common case, and much cheaper than building the pieces
            slices = tuple(islice(self.pieces(demand), demand.gpu.count))
            if len(slices) < demand.gpu.count:
                return None
        return Claim(self.row, demand.cpu_milli, demand.memory_mib, slices, demand.organisation)

    def pieces(self, demand: Demand) -> Iterator[Slice]:
        """One piece per card that fits: the nearest whole cards, others on the fullest cards first."""
        gpu = demand.gpu
        if gpu is None:
            return
        columns = [column for column in range(len(self.cards)) if self._may_take(column, gpu)]
        if gpu.mode is not Mode.WHOLE:
            columns.sort(key=lambda column: (self.core[column], column))
        elif self.distances is not None and gpu.count > 1:
            fit = tuple(column for column in columns if self._piece(column, gpu, demand.organisation) is not None)
            columns = list(closest(self.distances, fit, gpu.count)) if len(fit) >= gpu.count else []
        for column in columns:
            piece = self._piece(column, gpu, demand.organisation)
            if piece is not None:
                yield piece

    def _may_take(self, column: int, gpu: GpuRequest) -> bool:
        """The cheap half of the check: a whole card must be idle, and a share needs compute left."""
        if gpu.mode is Mode.WHOLE:
            return not self.tenants[column] and self.core[column] == WHOLE_MILLI
        return gpu.mode is Mode.MIG or self.core[column] >= 0

    def _piece(self, column: int, gpu: GpuRequest, organisation: str) -> Slice | None:
        card = self.cards[column]
        if not card.healthy or not serves(card, gpu):
            return None
        if gpu.mode is Mode.MIG:
            return self._partition(column, gpu.profile or "")
        core, memory = piece_size(card, gpu)
        if gpu.mode is Mode.WHOLE:
            return Slice(card.id, memory, core)
        if gpu.mode is Mode.SHARED and self.owner[column] not in ("", organisation):
            return None
        fits = self.core[column] >= core and self.card_memory[column] >= memory
        return Slice(card.id, memory, core) if fits else None

    def _partition(self, column: int, name: str) -> Slice | None:
        card = self.cards[column]
        profile, geometry = profile_named(card, name), profiles_of(card)
        if profile is None or self.profiles[column].count(name) >= profile.maximum:
            return None
        start = best_starts(geometry, name, uniform_weights(geometry))[0][self.mask[column]]
        return None if start == NOWHERE else partition_slice(card, name, start)


def host_of(cells: Cells, row: int) -> Host:
    """A copy of the row as it is now."""
    cards = cells.cards[row]
    width = len(cards)
    names = cells.organisations
    return Host(
        row,
        cards,
        cells.column_of[row],
        int(cells.cpu[row]),
        int(cells.memory[row]),
        cells.core[row, :width].tolist(),
        cells.card_memory[row, :width].tolist(),
        cells.tenants[row, :width].tolist(),
        cells.mask[row, :width].tolist(),
        [names[code] if code != NO_OWNER else "" for code in cells.owner[row, :width].tolist()],
        [list(cells.profiles_on(row, column)) for column in range(width)],
        cells.distances[row],
    )
