"""Free capacity of the whole cluster as a structure of arrays, with a log of the nodes that changed.

Rows are nodes in the order given, columns are cards by index (padded with cards that do not exist).
Everything that scores reads these arrays; everything that places goes through `take` and `give_back`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler.mig import profile_named, span
from scheduler.types import WHOLE_MILLI, Device, Mode, Node, Slice

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Shape = tuple[tuple[object, ...], ...]
NO_OWNER = -1


@dataclass(frozen=True, slots=True)
class Claim:
    """What one placed member takes from one node."""

    row: int
    cpu_milli: int
    memory_mib: int
    slices: tuple[Slice, ...]
    organisation: str


class Cells:
    """Arrays of what is free. `log` lists rows in the order they changed; readers keep their own position in it.

    cpu, memory: [N]. core, card_memory, full_memory, tenants, mask, owner: [N, G]. shape: [N], an index into
    `shapes`: nodes of one shape have the same cards in the same modes and health, so static checks are per shape.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        self.row_of = {node.id: row for row, node in enumerate(self.nodes)}
        self.cards = [tuple(sorted(node.devices, key=lambda d: (d.index, d.id))) for node in self.nodes]
        self.column_of = [{card.id: column for column, card in enumerate(cards)} for cards in self.cards]
        self.width = max((len(cards) for cards in self.cards), default=0)
        self.cpu = np.array([max(0, node.cpu_milli) for node in self.nodes], np.int64)
        self.memory = np.array([max(0, node.memory_mib) for node in self.nodes], np.int64)
        self.open = np.array([node.schedulable and node.healthy for node in self.nodes], np.bool_)
        self.shape, self.shapes = self._intern_shapes()
        self.core: Ints = self.numbers(capacity_of)[self.shape]
        self.full_memory: Ints = self.numbers(lambda card: max(0, card.memory_mib))[self.shape]
        self.card_memory = self.full_memory.copy()
        self.tenants = np.zeros_like(self.core)
        self.mask = np.zeros_like(self.core)
        self.owner = np.full_like(self.core, NO_OWNER)
        self.log: list[int] = []
        self._organisations: dict[str, int] = {}
        self._profiles: dict[tuple[int, int], list[str]] = {}
        self.claims: list[list[Claim]] = [[] for _ in self.nodes]

    def __len__(self) -> int:
        return len(self.nodes)

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
        self.log.append(row)

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
    return card.share_milli if card.mode is Mode.SHARED else WHOLE_MILLI
