"""Free capacity of the whole cluster as a structure of arrays, with a log of the nodes that changed.

Rows are nodes in the order given, columns are cards by index (padded with cards that do not exist).
Everything that scores reads these arrays; everything that places goes through `take` and `give_back`.

What nodes report is not trusted: invalid sizes count as 0, and of two cards or nodes with one id only the first gets
work.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scheduler.amounts import clean_size
from scheduler.closeness import Distances, distances_between
from scheduler.demand import Demand
from scheduler.mig import profile_named, span
from scheduler.topology import Domains, domains_of
from scheduler.types import WHOLE_MILLI, Device, Mode, Node, Slice

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Shape = tuple[tuple[object, ...], ...]
NO_OWNER = -1
SHORTEST_LOG = 4096
HEADS = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """What one placed member takes from one node."""

    row: int
    cpu_milli: int
    memory_mib: int
    slices: tuple[Slice, ...]
    organisation: str


@dataclass(slots=True)
class View:
    """A copy of the most used arrays for some rows. cpu, memory, shape: [k]. core, tenants: [k, G]."""

    rows: Ints
    cpu: Ints
    memory: Ints
    shape: Ints
    core: Ints
    tenants: Ints


class Cells:
    """Arrays of free capacity. The log lists rows in the order they changed; readers keep their own position in it.

    cpu, memory: [N]. core, card_memory, full_memory, tenants, mask, owner: [N, G]. shape: [N], an index into
    `shapes`: nodes of one shape have the same cards in the same modes and health, so static checks are per shape.
    total_cpu, total_memory: [N], of the empty node. `longest_log` bounds the log; by default twice the nodes.
    """

    def __init__(self, nodes: Sequence[Node], longest_log: int | None = None) -> None:
        self.nodes = tuple(nodes)
        self.row_of: dict[str, int] = {}
        for row, node in enumerate(self.nodes):
            self.row_of.setdefault(node.id, row)
        self.cards = [_in_order(node.devices) for node in self.nodes]
        self.column_of = [{card.id: column for column, card in enumerate(cards)} for cards in self.cards]
        self.width = max(1, max((len(cards) for cards in self.cards), default=0))
        self.total_cpu = np.array([clean_size(node.cpu_milli) for node in self.nodes], np.int64)
        self.total_memory = np.array([clean_size(node.memory_mib) for node in self.nodes], np.int64)
        self.open = np.array([self._is_open(row) for row in range(len(self.nodes))], np.bool_)
        self.rdma_active = np.array([bool(node.rdma) and node.rdma_active for node in self.nodes], np.bool_)
        self.reserved_clusters = tuple(sorted({node.cluster for node in self.nodes if node.reserved}))
        shape, self.shapes = self._intern_shapes()
        self._lay_out(shape)
        self._log: list[int] = []
        self._log_start = 0
        self._longest_log = longest_log or max(SHORTEST_LOG, 2 * len(self.nodes))
        self._organisations: dict[str, int] = {}
        self._profiles: dict[tuple[int, int], list[str]] = {}
        self.claims: list[list[Claim]] = [[] for _ in self.nodes]

    def _lay_out(self, shape: Ints) -> None:
        """Store all arrays as columns of one, so that a single copy reads everything about some rows."""
        core = self.numbers(capacity_of)[shape]
        memory = self.numbers(lambda card: clean_size(card.memory_mib))[shape]
        nothing = np.zeros_like(core)
        heads = np.stack([self.total_cpu, self.total_memory, shape], axis=1)
        state = np.concatenate([heads, core, nothing, memory, nothing, nothing + NO_OWNER], axis=1)
        self.full_memory: Ints = memory
        self.cpu, self.memory, self.shape = state[:, 0], state[:, 1], state[:, 2]
        parts = [state[:, HEADS + self.width * part : HEADS + self.width * (part + 1)] for part in range(5)]
        self.core, self.tenants, self.card_memory, self.mask, self.owner = parts
        self._front = state[:, : HEADS + 2 * self.width]

    def view(self, rows: Ints) -> View:
        """A copy of what is free on these rows."""
        seen, cards = self._front[rows], HEADS + self.width
        return View(rows, seen[:, 0], seen[:, 1], seen[:, 2], seen[:, HEADS:cards], seen[:, cards:])

    def __len__(self) -> int:
        return len(self.nodes)

    def _is_open(self, row: int) -> bool:
        node = self.nodes[row]
        return node.schedulable and node.healthy and self.row_of[node.id] == row

    @cached_property
    def domains(self) -> Domains:
        """Topology domains by row."""
        return domains_of(self.nodes)

    @cached_property
    def fabrics(self) -> Domains:
        """The same for gangs that ask for RDMA, which reaches no further than one fabric."""
        return domains_of(self.nodes, rdma=True)

    def domains_for(self, demand: Demand) -> Domains:
        """Within which domains members of this request reach each other."""
        return self.fabrics if demand.rdma else self.domains

    @cached_property
    def distances(self) -> list[Distances | None]:
        """How far the cards of each row are from each other; None where nobody knows."""
        return [distances_between(cards) for cards in self.cards]

    @property
    def position(self) -> int:
        """The end of the log, to be passed to `changed_rows` later."""
        return self._log_start + len(self._log)

    def changed_rows(self, since: int) -> Ints | None:
        """Rows that changed after a position, in any order; None if the log no longer reaches back so far."""
        if since < self._log_start:
            return None
        return np.array(list(set(self._log[since - self._log_start :])), np.int64)

    def _log_change(self, row: int) -> None:
        """Log a change. A log twice as long as the cluster saves no reader any work, so it is cleared."""
        if len(self._log) >= self._longest_log:
            self._log_start += len(self._log)
            self._log = []
        self._log.append(row)

    def _intern_shapes(self) -> tuple[Ints, list[tuple[Device, ...]]]:
        known: dict[Shape, int] = {}
        shapes: list[tuple[Device, ...]] = []
        index = np.zeros(len(self.nodes), np.int64)
        for row, cards in enumerate(self.cards):
            key = tuple(
                (c.vendor, c.model, c.mode, c.healthy, c.memory_mib, c.share_milli, c.mig_profiles) for c in cards
            )
            if key not in known:
                known[key] = len(shapes)
                shapes.append(cards)
            index[row] = known[key]
        return index, shapes

    def numbers(self, value: Callable[[Device], int]) -> Ints:
        """[S, G]: a number per card of each shape, 0 where there is no card."""
        out = np.zeros((max(1, len(self.shapes)), self.width), np.int64)
        for index, cards in enumerate(self.shapes):
            out[index, : len(cards)] = [value(card) for card in cards]
        return out

    def flags(self, holds: Callable[[Device], bool]) -> Bools:
        """[S, G]: whether it holds for each card of each shape, False where there is no card."""
        return self.numbers(lambda card: int(holds(card))).astype(np.bool_)

    def organisation_code(self, organisation: str) -> int:
        return self._organisations.setdefault(organisation, len(self._organisations))

    @property
    def organisations(self) -> list[str]:
        """Names by code."""
        return list(self._organisations)

    def profiles_on(self, row: int, column: int) -> Sequence[str]:
        """Names of the partitions that are in use on a card."""
        return self._profiles.get((row, column), ())

    def take(self, claim: Claim) -> None:
        self._apply(claim, 1)
        self.claims[claim.row].append(claim)
        owner = self.organisation_code(claim.organisation)
        for piece in claim.slices:
            column = self.column_of[claim.row].get(piece.device_id)
            if column is not None:
                self.owner[claim.row, column] = owner
                if piece.mig_start is not None:
                    self._mark_partition(claim.row, column, piece, piece.mig_start)

    def give_back(self, claim: Claim) -> None:
        """Undo `take`: the arrays are as they were, byte for byte."""
        self._apply(claim, -1)
        self.claims[claim.row].remove(claim)
        for piece in claim.slices:
            column = self.column_of[claim.row].get(piece.device_id)
            if column is not None:
                if self.owner[claim.row, column] == self.organisation_code(claim.organisation):
                    self.owner[claim.row, column] = self._newest_owner(claim.row, piece.device_id)
                if piece.mig_start is not None:
                    self._clear_partition(claim.row, column, piece, piece.mig_start)

    def _newest_owner(self, row: int, device_id: str) -> int:
        """The organisation that took a piece of this card last, of those that still hold one: several may share MIG."""
        for claim in reversed(self.claims[row]):
            if any(piece.device_id == device_id for piece in claim.slices):
                return self.organisation_code(claim.organisation)
        return NO_OWNER

    def _apply(self, claim: Claim, sign: int) -> None:
        row = claim.row
        self.cpu[row] -= sign * claim.cpu_milli
        self.memory[row] -= sign * claim.memory_mib
        columns = self.column_of[row]
        for piece in claim.slices:
            column = columns.get(piece.device_id)
            if column is not None:
                self.core[row, column] -= sign * piece.core_milli
                self.card_memory[row, column] -= sign * piece.memory_mib
                self.tenants[row, column] += sign
        self._log_change(row)

    def _mark_partition(self, row: int, column: int, piece: Slice, start: int) -> None:
        profile = profile_named(self.cards[row][column], piece.mig_profile)
        if profile is not None:
            self.mask[row, column] |= span(start, profile.size)
            self._profiles.setdefault((row, column), []).append(profile.name)

    def _clear_partition(self, row: int, column: int, piece: Slice, start: int) -> None:
        profile = profile_named(self.cards[row][column], piece.mig_profile)
        if profile is not None:
            self.mask[row, column] &= ~span(start, profile.size)
            self._profiles[row, column].remove(profile.name)


def capacity_of(card: Device) -> int:
    """Compute of an empty card in milli-cards; shared cards may be oversubscribed."""
    return clean_size(card.share_milli) if card.mode is Mode.SHARED else WHOLE_MILLI


def _in_order(devices: Iterable[Device]) -> tuple[Device, ...]:
    """By index. Only the first of two cards with one id counts: otherwise the card would be allocated twice."""
    by_id: dict[str, Device] = {}
    for device in sorted(devices, key=lambda d: (d.index, d.id)):
        by_id.setdefault(device.id, device)
    return tuple(by_id.values())
