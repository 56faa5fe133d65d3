"""Free capacity of the whole cluster as a structure of arrays, with a log of the nodes that changed.

Rows are nodes in the order given, columns are cards by index (padded with cards that do not exist).
Everything that scores reads these arrays; everything that places goes through `take` and `give_back`.

What nodes report is not trusted: sizes that are no number of things count as 0, of two cards or nodes with one id the
first counts and the other gets no work.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scheduler.amounts import amount
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
    """What most decisions look at, of some rows. cpu, memory, shape: [k]. core, tenants: [k, G]."""

    rows: Ints
    cpu: Ints
    memory: Ints
    shape: Ints
    core: Ints
    tenants: Ints


class Cells:
    """Arrays of what is free. The log lists rows in the order they changed; readers keep their own position in it.

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
        self.total_cpu = np.array([amount(node.cpu_milli) for node in self.nodes], np.int64)
        self.total_memory = np.array([amount(node.memory_mib) for node in self.nodes], np.int64)
        self.open = np.array([self._is_open(row) for row in range(len(self.nodes))], np.bool_)
        shape, self.shapes = self._intern_shapes()
        self._lay_out(shape)
        self._log: list[int] = []
        self._log_start = 0
        self._longest_log = longest_log or max(SHORTEST_LOG, 2 * len(self.nodes))
        self._organisations: dict[str, int] = {}
        self._profiles: dict[tuple[int, int], list[str]] = {}
        self.claims: list[list[Claim]] = [[] for _ in self.nodes]

    def _lay_out(self, shape: Ints) -> None:
        """All arrays side by side in one, so that one copy takes all there is to know of some rows."""
        core = self.numbers(capacity_of)[shape]
        memory = self.numbers(lambda card: amount(card.memory_mib))[shape]
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

    @property
    def position(self) -> int:
        """The end of the log: pass it to `changed` later."""
        return self._log_start + len(self._log)

    def changed(self, since: int) -> Ints | None:
        """Rows that changed after a position, in any order; None when that is too long ago to tell."""
        if since < self._log_start:
            return None
        return np.array(list(set(self._log[since - self._log_start :])), np.int64)

    def _note(self, row: int) -> None:
        """Log a change. A log twice as long as the cluster saves nobody work any more and starts anew."""
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
        self._move(claim, 1)
        self.claims[claim.row].append(claim)
        owner = self.organisation_code(claim.organisation)
        for piece in claim.slices:
            column = self.column_of[claim.row].get(piece.device_id)
            if column is not None:
                self.owner[claim.row, column] = owner
                if piece.mig_start is not None:
                    self._cut(claim.row, column, piece, piece.mig_start)

    def give_back(self, claim: Claim) -> None:
        """Undo `take`: the arrays are as they were, byte for byte."""
        self._move(claim, -1)
        self.claims[claim.row].remove(claim)
        for piece in claim.slices:
            column = self.column_of[claim.row].get(piece.device_id)
            if column is not None:
                if not self.tenants[claim.row, column]:
                    self.owner[claim.row, column] = NO_OWNER
                if piece.mig_start is not None:
                    self._heal(claim.row, column, piece, piece.mig_start)

    def _move(self, claim: Claim, sign: int) -> None:
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
        self._note(row)

    def _cut(self, row: int, column: int, piece: Slice, start: int) -> None:
        profile = profile_named(self.cards[row][column], piece.mig_profile)
        if profile is not None:
            self.mask[row, column] |= span(start, profile.size)
            self._profiles.setdefault((row, column), []).append(profile.name)

    def _heal(self, row: int, column: int, piece: Slice, start: int) -> None:
        profile = profile_named(self.cards[row][column], piece.mig_profile)
        if profile is not None:
            self.mask[row, column] &= ~span(start, profile.size)
            self._profiles[row, column].remove(profile.name)


def capacity_of(card: Device) -> int:
    """Compute of an empty card in milli-cards; shared cards may hand out more than they have."""
    return amount(card.share_milli) if card.mode is Mode.SHARED else WHOLE_MILLI


def _in_order(devices: Iterable[Device]) -> tuple[Device, ...]:
    """By index. A card that is reported twice would be handed out twice, so the first one counts."""
    by_id: dict[str, Device] = {}
    for device in sorted(devices, key=lambda d: (d.index, d.id)):
        by_id.setdefault(device.id, device)
    return tuple(by_id.values())
